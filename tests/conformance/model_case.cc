#include "tests/conformance/model_case.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "penstock/client/coordinator.h"
#include "penstock/client/queue_runner.h"
#include "penstock/client/saved_model.h"
#include "penstock/client/session.h"
#include "penstock/graph/meta_graph.h"
#include "penstock/graph/queue_runner_def.h"
#include "penstock/graph/tensor_proto.h"
#include "penstock/io/saved_model.h"
#include "penstock/proto/meta_graph.pb.h"
#include "tests/conformance/compare.h"

namespace penstock::conformance {
namespace {

constexpr int64_t kElementsShown = 12;
constexpr std::chrono::seconds kStepLimit(60);

Outcome Failed(std::string reason) { return {Verdict::kFailed, std::move(reason)}; }
Outcome NotImplemented(std::string reason) { return {Verdict::kNotImplemented, std::move(reason)}; }
Outcome FromStatus(const Status& status) {
  const bool missing = status.code() == Code::kNotFound || status.code() == Code::kUnimplemented;
  return missing ? NotImplemented(status.ToString()) : Failed(status.ToString());
}

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return DataLoss("{} cannot be read", path);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// "x" of "x:0", "^x" and "x".
std::string NodeOf(std::string_view input) {
  if (input.starts_with('^')) input.remove_prefix(1);
  return std::string(input.substr(0, input.find(':')));
}

// Drops the nodes that nobody in `wanted` needs: a training graph holds savers and summaries.
void KeepNeeded(const std::set<std::string>& wanted, tf::GraphDef* graph) {
  std::unordered_map<std::string, const tf::NodeDef*> nodes;
  for (const tf::NodeDef& node : graph->node()) nodes[node.name()] = &node;
  std::set<std::string> needed;
  std::vector<std::string> stack(wanted.begin(), wanted.end());
  while (!stack.empty()) {
    const std::string name = std::move(stack.back());
    stack.pop_back();
    const auto found = nodes.find(name);
    if (found == nodes.end() || !needed.insert(name).second) continue;
    for (const std::string& input : found->second->input()) stack.push_back(NodeOf(input));
  }
  tf::GraphDef kept = *graph;
  kept.clear_node();
  for (const tf::NodeDef& node : graph->node()) {
    if (needed.contains(node.name())) *kept.add_node() = node;
  }
  *graph = std::move(kept);
}

class Run {
 public:
  Run(const golden::ModelCase& recorded, const std::string& root)
      : recorded_(recorded),
        root_(root),
        runners_(recorded.note().find("queue runners") != std::string::npos) {}

  Outcome Do() {
    tf::MetaGraphDef proto;
    if (const Status status = Read(&proto); !status.ok()) return Failed(status.ToString());
    for (const std::string& op : recorded_.ops()) {
      // Of a function only its body counts, whose ops are in the list too.
      if (StandardOps().Find(op) == nullptr && !IsFunction(op, proto.graph_def()))
        return NotImplemented(Format("op {} is not registered", op));
    }
    Result<MetaGraph> loaded = Load(std::move(proto));
    if (!loaded.ok()) return FromStatus(loaded.status());
    MetaGraph& meta = *loaded;
    try {
      if (runners_) AddQueueRunners(meta);
      Session session(meta.graph);
      session.options().timeout = kStepLimit;
      Coordinator coordinator;  // after the session: its threads run steps
      if (Outcome outcome = Restore(meta, session); outcome.verdict != Verdict::kPassed)
        return outcome;
      return RunSteps(meta.graph, session, coordinator);
    } catch (const Error& error) {
      return FromStatus(error.status());
    }
  }

 private:
  static bool IsFunction(const std::string& op, const tf::GraphDef& graph) {
    const auto& functions = graph.library().function();
    return std::any_of(functions.begin(), functions.end(), [&](const tf::FunctionDef& function) {
      return function.signature().name() == op;
    });
  }

  bool IsSavedModel() const { return recorded_.kind() == "saved_model"; }
  std::string Path(const std::string& name) const { return std::filesystem::path(root_) / name; }

  Result<MetaGraph> Load(tf::MetaGraphDef proto) const {
    std::set<std::string> wanted;
    for (const std::string& target : recorded_.init_targets()) wanted.insert(NodeOf(target));
    for (const golden::Run& run : recorded_.runs()) {
      for (const auto& feed : run.feeds()) wanted.insert(NodeOf(feed.name()));
      for (const auto& fetch : run.fetches()) wanted.insert(NodeOf(fetch.name()));
      for (const std::string& target : run.targets()) wanted.insert(NodeOf(target));
    }
    if (runners_) TRY(AddRunnerNodes(proto, &wanted));
    if (IsSavedModel() || !recorded_.checkpoint().empty()) TRY(AddStartNodes(proto, &wanted));
    KeepNeeded(wanted, proto.mutable_graph_def());
    return MetaGraphFromProto(proto, StandardOps());
  }

  Status Read(tf::MetaGraphDef* proto) const {
    if (recorded_.path().empty()) {
      *proto->mutable_graph_def() = recorded_.graph_def();
      return OkStatus();
    }
    const std::string path = Path(recorded_.path());
    if (IsSavedModel()) {
      const std::vector<std::string> tags(recorded_.tags().begin(), recorded_.tags().end());
      TRY_ASSIGN(const std::unique_ptr<tf::MetaGraphDef> read, io::ReadSavedModel(path, tags));
      *proto = std::move(*read);
      return OkStatus();
    }
    TRY_ASSIGN(const std::string bytes, ReadFile(path));
    bool parsed = false;
    if (recorded_.kind() == "meta_graph") {
      parsed = proto->ParseFromString(bytes);
    } else if (path.ends_with("txt")) {
      parsed = google::protobuf::TextFormat::ParseFromString(bytes, proto->mutable_graph_def());
    } else {
      parsed = proto->mutable_graph_def()->ParseFromString(bytes);
    }
    return parsed ? OkStatus() : DataLoss("{} does not parse", path);
  }

  Outcome Restore(const MetaGraph& meta, Session& session) const {
    try {
      if (IsSavedModel()) {
        StartSavedModel(meta, session, Path(recorded_.path()));
      } else if (!recorded_.checkpoint().empty()) {
        RestoreCheckpoint(meta, session, Path(recorded_.checkpoint()));
      }
    } catch (const Error& error) {
      // A file or a tensor that is not found is a failure, an op is not.
      const std::string reason = Format("restoring: {}", error.status().ToString());
      const bool missing = error.code() == Code::kUnimplemented ||
                           reason.find("is not registered") != std::string::npos;
      return missing ? NotImplemented(reason) : Failed(reason);
    }
    return {};
  }

  // The nodes that restore and initialize.
  Status AddStartNodes(const tf::MetaGraphDef& proto, std::set<std::string>* wanted) const {
    tf::MetaGraphDef rest = proto;
    rest.clear_graph_def();
    TRY_ASSIGN(const io::ModelStart start, io::ParseModelStart(rest.SerializeAsString()));
    wanted->insert({NodeOf(start.filename_tensor), NodeOf(start.restore_op)});
    for (const std::string& op : start.init_ops) wanted->insert(NodeOf(op));
    for (const auto& asset : start.assets) wanted->insert(NodeOf(asset.first));
    for (const auto& variable : start.variables) wanted->insert(variable.second);
    return OkStatus();
  }

  static Status AddRunnerNodes(const tf::MetaGraphDef& proto, std::set<std::string>* wanted) {
    MetaGraph without_graph;
    tf::MetaGraphDef rest = proto;
    rest.clear_graph_def();
    without_graph.rest = rest.SerializeAsString();
    TRY_ASSIGN(const std::vector<QueueRunnerDef> defs, QueueRunnerDefs(without_graph));
    for (const QueueRunnerDef& def : defs) {
      wanted->insert({def.queue, def.close_op, def.cancel_op});
      wanted->insert(def.enqueue_ops.begin(), def.enqueue_ops.end());
    }
    return OkStatus();
  }

  Outcome RunSteps(const Graph& graph, Session& session, Coordinator& coordinator) {
    for (const std::string& target : recorded_.init_targets()) {
      golden::Run init;
      init.add_targets(target);
      if (Outcome outcome = RunStep(graph, session, init); outcome.verdict != Verdict::kPassed) {
        outcome.reason = Format("initializer {}: {}", target, outcome.reason);
        return outcome;
      }
    }
    if (runners_) StartQueueRunners(graph, session, coordinator);
    for (int i = 0; i < recorded_.runs_size(); ++i) {
      Outcome outcome = RunStep(graph, session, recorded_.runs(i));
      if (outcome.verdict == Verdict::kPassed) continue;
      outcome.reason = Format("step {}: {}", i, outcome.reason);
      return outcome;
    }
    coordinator.RequestStop();
    coordinator.Join(kStepLimit);
    return {};
  }

  Outcome RunStep(const Graph& graph, Session& session, const golden::Run& run) {
    CallableSpec spec;
    std::vector<Tensor> feeds;
    if (const Status status = ReadStep(graph, run, &spec, &feeds); !status.ok())
      return Failed(status.ToString());
    const Result<CallableHandle> handle = session.backend().MakeCallable(spec);
    if (!handle.ok()) return FromStatus(handle.status());
    RunOptions options;
    options.timeout = kStepLimit;
    const Result<std::vector<Tensor>> got =
        session.backend().RunCallable(*handle, feeds, options, nullptr);
    if (!got.ok()) {
      return got.status().code() == Code::kUnimplemented ? NotImplemented(got.status().ToString())
                                                         : Failed(got.status().ToString());
    }
    for (size_t i = 0; i < got->size(); ++i) {
      if (Outcome outcome = Compare(run.fetches(static_cast<int>(i)), (*got)[i]);
          outcome.verdict != Verdict::kPassed)
        return outcome;
    }
    return {};
  }

  static Status ReadStep(const Graph& graph, const golden::Run& run, CallableSpec* spec,
                         std::vector<Tensor>* feeds) {
    for (const auto& feed : run.feeds()) {
      TRY_ASSIGN(const OutputRef ref, graph.FindOutput(feed.name()));
      TRY_ASSIGN(Tensor value, TensorFromProto(feed.tensor()));
      spec->feeds.push_back(ref);
      feeds->push_back(std::move(value));
    }
    for (const auto& fetch : run.fetches()) {
      TRY_ASSIGN(const OutputRef ref, graph.FindOutput(fetch.name()));
      spec->fetches.push_back(ref);
    }
    for (const std::string& target : run.targets()) {
      const NodeId node = graph.FindNode(NodeOf(target));
      if (node == kNoNode) return InvalidArgument("there is no node {} to run", target);
      spec->targets.push_back(node);
    }
    return OkStatus();
  }

  Outcome Compare(const golden::NamedTensor& expected, const Tensor& got) const {
    const Result<Tensor> want = TensorFromProto(expected.tensor());
    if (!want.ok()) return Failed(want.status().ToString());
    const std::string what = Difference(*want, got, {recorded_.rtol(), recorded_.atol()});
    if (what.empty()) return {};
    std::string reason = Format("fetch {}: {}", expected.name(), what);
    if (got.initialized()) {
      reason += Format("\n      expected {}\n      got      {}", want->ToString(kElementsShown),
                       got.ToString(kElementsShown));
    }
    return Failed(reason);
  }

  const golden::ModelCase& recorded_;
  const std::string& root_;
  const bool runners_;  // the case wants its queue runners started
};

}  // namespace

Outcome RunModelCase(const golden::ModelCase& recorded, const std::string& root) {
  return Run(recorded, root).Do();
}

}  // namespace penstock::conformance
