#include "penstock/client/session.h"

namespace penstock {

Session::Session(const Graph& graph, const SessionOptions& options) : graph_(&graph) {
  LocalSessionOptions local;
  local.threads = options.threads;
  local.memory_limit = options.memory_limit;
  local.disabled_passes = options.disabled_passes;
  local.stall_report_after = options.stall_report_after;
  backend_ = MakeLocalSession(graph, local);
}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;

std::vector<Tensor> Session::RunRefs(Feeds feeds, std::vector<OutputRef> fetches,
                                     std::vector<NodeId> targets) {
  CallableSpec spec;
  spec.fetches = std::move(fetches);
  spec.targets = std::move(targets);
  std::vector<Tensor> values;
  for (const Feed& feed : feeds) {
    spec.feeds.push_back(feed.output());
    values.push_back(feed.value());
  }
  return OrThrow(backend_->Run(spec, values, options_, nullptr));
}

std::vector<Tensor> Session::Run(const std::vector<std::pair<std::string, Tensor>>& feeds,
                                 const std::vector<std::string>& fetches,
                                 const std::vector<std::string>& targets, const RunOptions& options,
                                 RunMetadata* metadata) {
  CallableSpec spec;
  std::vector<Tensor> values;
  for (const auto& [name, value] : feeds) {
    spec.feeds.push_back(OrThrow(graph_->FindOutput(name)));
    values.push_back(value);
  }
  for (const std::string& name : fetches) spec.fetches.push_back(OrThrow(graph_->FindOutput(name)));
  for (const std::string& name : targets) {
    const NodeId node = graph_->FindNode(name);
    if (node == kNoNode) throw Error(NotFound("no node named \"{}\" to run", Printable(name)));
    spec.targets.push_back(node);
  }
  return OrThrow(backend_->Run(spec, values, options, metadata));
}

PartialStep Session::StartPartial(const std::vector<OutputRef>& feeds,
                                  const std::vector<OutputRef>& fetches,
                                  const std::vector<Operation>& targets) {
  CallableSpec spec{feeds, fetches, {}};
  for (const Operation& target : targets) spec.targets.push_back(target.node());
  return PartialStep(backend_.get(), OrThrow(backend_->PartialRunSetup(spec)), options_);
}

std::vector<Tensor> PartialStep::RunRefs(Feeds feeds, const std::vector<OutputRef>& fetches) {
  if (backend_ == nullptr) throw Error(FailedPrecondition("the partial step was abandoned"));
  std::vector<std::pair<OutputRef, Tensor>> given;
  for (const Feed& feed : feeds) given.emplace_back(feed.output(), feed.value());
  return OrThrow(backend_->PartialRun(handle_, given, fetches, options_));
}

void PartialStep::Abandon() {
  // Unknown when everything was used or the step has failed: there is nothing left to cancel.
  if (backend_ != nullptr) (void)backend_->PartialRunAbandon(handle_);
  backend_ = nullptr;
}

}  // namespace penstock
