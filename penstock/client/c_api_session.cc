#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "penstock/client/c_api_handles.h"

// The part of the C API that runs graphs.

using penstock::InvalidArgument;
using penstock::NodeId;
using penstock::OkStatus;
using penstock::OutputRef;
using penstock::Result;
using penstock::Status;
using penstock::Tensor;
using penstock::c_api::Guard;
using penstock::c_api::NotNull;

namespace {

Result<std::string> NameAt(const char* const* names, int i) {
  TRY(NotNull(names, "an array of names"));
  TRY(NotNull(names[i], "a name"));
  return std::string(names[i]);
}

Result<std::vector<OutputRef>> FindOutputs(const PS_Session& session, const char* const* names,
                                           int count) {
  std::vector<OutputRef> refs;
  for (int i = 0; i < count; ++i) {
    TRY_ASSIGN(const std::string name, NameAt(names, i));
    TRY_ASSIGN(const OutputRef ref, session.graph->FindOutput(name));
    refs.push_back(ref);
  }
  return refs;
}

Result<std::vector<NodeId>> FindNodes(const PS_Session& session, const char* const* names,
                                      int count) {
  std::vector<NodeId> nodes;
  for (int i = 0; i < count; ++i) {
    TRY_ASSIGN(const std::string name, NameAt(names, i));
    const NodeId id = session.graph->FindNode(name);
    if (id == penstock::kNoNode)
      return penstock::NotFound("no node named \"{}\" to run", penstock::Printable(name));
    nodes.push_back(id);
  }
  return nodes;
}

Result<std::vector<Tensor>> FedValues(PS_Tensor* const* feeds, int count) {
  std::vector<Tensor> values;
  for (int i = 0; i < count; ++i) {
    TRY(NotNull(feeds, "feeds"));
    TRY(NotNull(feeds[i], "a fed tensor"));
    values.push_back(feeds[i]->tensor);
  }
  return values;
}

Status CheckCounts(int num_feeds, int num_fetches, int num_targets) {
  if (num_feeds >= 0 && num_fetches >= 0 && num_targets >= 0) return OkStatus();
  return InvalidArgument("a count is negative");
}

Result<penstock::RunOptions> OptionsOf(int64_t timeout_ms) {
  if (timeout_ms < 0) return InvalidArgument("timeout_ms must not be negative, got {}", timeout_ms);
  penstock::RunOptions options;
  options.timeout = std::chrono::milliseconds(timeout_ms);
  return options;
}

void ClearFetched(PS_Tensor** fetched, int num_fetches) {
  if (fetched == nullptr) return;
  for (int i = 0; i < num_fetches; ++i) fetched[i] = nullptr;
}

// All or none: a failure in the middle leaves nothing behind.
void GiveFetched(std::vector<Tensor> results, PS_Tensor** fetched) {
  std::vector<std::unique_ptr<PS_Tensor>> made;
  for (Tensor& result : results)
    made.push_back(std::make_unique<PS_Tensor>(PS_Tensor{std::move(result)}));
  for (size_t i = 0; i < made.size(); ++i) fetched[i] = made[i].release();
}

Status ReadOptions(const PS_SessionOptions& options, penstock::LocalSessionOptions* local) {
  constexpr size_t kFirstSize = offsetof(PS_SessionOptions, stall_report_ms);
  if (options.struct_size != sizeof(PS_SessionOptions) && options.struct_size != kFirstSize) {
    return InvalidArgument("struct_size must be {}, got {}", sizeof(PS_SessionOptions),
                           options.struct_size);
  }
  const int64_t stall_report_ms = options.struct_size > kFirstSize ? options.stall_report_ms : 0;
  if (options.threads < 0 || options.memory_limit < 0 || stall_report_ms < 0)
    return InvalidArgument("options must not be negative");
  local->threads = options.threads;
  local->memory_limit = options.memory_limit;
  local->stall_report_after = std::chrono::milliseconds(stall_report_ms);
  return OkStatus();
}

}  // namespace

extern "C" {

PS_Session* PS_NewSession(PS_Graph* graph, const PS_SessionOptions* options, PS_Status* status) {
  PS_Session* out = nullptr;
  Guard(status, [&]() -> Status {
    TRY(NotNull(graph, "graph"));
    penstock::LocalSessionOptions local;
    if (options != nullptr) TRY(ReadOptions(*options, &local));
    auto session = std::make_unique<PS_Session>();
    session->graph = &graph->graph;
    session->backend = penstock::MakeLocalSession(graph->graph, local);
    out = session.release();
    return OkStatus();
  });
  return out;
}

void PS_DeleteSession(PS_Session* session) { delete session; }

void PS_SessionRun(PS_Session* session, const char* const* feed_names, PS_Tensor* const* feeds,
                   int num_feeds, const char* const* fetch_names, PS_Tensor** fetched,
                   int num_fetches, const char* const* target_names, int num_targets,
                   int64_t timeout_ms, PS_Status* status) {
  ClearFetched(fetched, num_fetches);
  Guard(status, [&]() -> Status {
    TRY(NotNull(session, "session"));
    TRY(CheckCounts(num_feeds, num_fetches, num_targets));
    TRY_ASSIGN(const penstock::RunOptions options, OptionsOf(timeout_ms));
    if (num_fetches > 0) TRY(NotNull(fetched, "fetched"));
    penstock::CallableSpec spec;
    TRY_ASSIGN(spec.feeds, FindOutputs(*session, feed_names, num_feeds));
    TRY_ASSIGN(spec.fetches, FindOutputs(*session, fetch_names, num_fetches));
    TRY_ASSIGN(spec.targets, FindNodes(*session, target_names, num_targets));
    TRY_ASSIGN(const std::vector<Tensor> values, FedValues(feeds, num_feeds));
    TRY_ASSIGN(std::vector<Tensor> results, session->backend->Run(spec, values, options, nullptr));
    GiveFetched(std::move(results), fetched);
    return OkStatus();
  });
}

int64_t PS_SessionPartialRunSetup(PS_Session* session, const char* const* feed_names, int num_feeds,
                                  const char* const* fetch_names, int num_fetches,
                                  const char* const* target_names, int num_targets,
                                  PS_Status* status) {
  int64_t handle = 0;
  Guard(status, [&]() -> Status {
    TRY(NotNull(session, "session"));
    TRY(CheckCounts(num_feeds, num_fetches, num_targets));
    penstock::CallableSpec spec;
    TRY_ASSIGN(spec.feeds, FindOutputs(*session, feed_names, num_feeds));
    TRY_ASSIGN(spec.fetches, FindOutputs(*session, fetch_names, num_fetches));
    TRY_ASSIGN(spec.targets, FindNodes(*session, target_names, num_targets));
    TRY_ASSIGN(handle, session->backend->PartialRunSetup(spec));
    return OkStatus();
  });
  return handle;
}

void PS_SessionPartialRun(PS_Session* session, int64_t handle, const char* const* feed_names,
                          PS_Tensor* const* feeds, int num_feeds, const char* const* fetch_names,
                          PS_Tensor** fetched, int num_fetches, int64_t timeout_ms,
                          PS_Status* status) {
  ClearFetched(fetched, num_fetches);
  Guard(status, [&]() -> Status {
    TRY(NotNull(session, "session"));
    TRY(CheckCounts(num_feeds, num_fetches, 0));
    TRY_ASSIGN(const penstock::RunOptions options, OptionsOf(timeout_ms));
    if (num_fetches > 0) TRY(NotNull(fetched, "fetched"));
    TRY_ASSIGN(const std::vector<OutputRef> feed_refs,
               FindOutputs(*session, feed_names, num_feeds));
    TRY_ASSIGN(const std::vector<OutputRef> fetches,
               FindOutputs(*session, fetch_names, num_fetches));
    TRY_ASSIGN(std::vector<Tensor> values, FedValues(feeds, num_feeds));
    std::vector<std::pair<OutputRef, Tensor>> given;
    for (int i = 0; i < num_feeds; ++i) given.emplace_back(feed_refs[i], std::move(values[i]));
    TRY_ASSIGN(std::vector<Tensor> results,
               session->backend->PartialRun(handle, given, fetches, options));
    GiveFetched(std::move(results), fetched);
    return OkStatus();
  });
}

void PS_SessionPartialRunAbandon(PS_Session* session, int64_t handle, PS_Status* status) {
  Guard(status, [&]() -> Status {
    TRY(NotNull(session, "session"));
    return session->backend->PartialRunAbandon(handle);
  });
}

char* PS_SessionDebugString(PS_Session* session, PS_Status* status) {
  char* out = nullptr;
  Guard(status, [&]() -> Status {
    TRY(NotNull(session, "session"));
    const std::string text = session->backend->DebugString();
    out = static_cast<char*>(std::malloc(text.size() + 1));
    if (out == nullptr) return penstock::ResourceExhausted("out of memory");
    std::memcpy(out, text.c_str(), text.size() + 1);
    return OkStatus();
  });
  return out;
}

}  // extern "C"
