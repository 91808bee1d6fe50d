#include <algorithm>
#include <queue>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "penstock/compile/passes.h"
#include "penstock/compile/rewrite.h"
#include "penstock/core/checked.h"

namespace penstock {
namespace {

// Below this a better order gains nothing that anybody would notice.
constexpr int64_t kWorthwhileBytes = 1 << 20;

int64_t BytesOf(const OutputInfo& info) {
  if (!IsPlain(info.dtype) || info.is_ref) return 0;
  const auto count = info.shape.CheckedNumElements();
  if (!count) return 0;
  return CheckedMul(*count, static_cast<int64_t>(SizeOf(info.dtype))).value_or(0);
}

// Draws numbers from a state of its own: it may run at any time.
bool IsRandom(const Node& node) {
  const std::string_view op = node.op_name();
  return op.starts_with("Random") || op == "TruncatedNormal" ||
         op == "ParameterizedTruncatedNormal" || op == "Multinomial";
}

// Whether the node's outputs take memory of the step: constants, arguments and the values of
// variables are there anyway.
bool Allocates(const Node& node) {
  if (node.op->traits.aliases_input && !node.inputs.empty()) return false;
  if (node.op->traits.pure) return node.op_name() != "Const" && node.op_name() != "_Arg";
  return IsRandom(node);
}

// The memory behind one value, or several that show the same bytes.
struct Storage {
  int64_t bytes = 0;
  bool stays = false;           // it outlives the step
  std::vector<NodeId> readers;  // each once
};

// What a graph's nodes read and make.
class MemoryModel {
 public:
  MemoryModel(const Graph& graph, const std::vector<NodeId>& order)
      : reads_(static_cast<size_t>(graph.num_nodes())), makes_(reads_.size()) {
    std::vector<std::vector<int32_t>> storage_of(reads_.size());
    for (const NodeId id : order) {
      const Node& node = graph.node(id);
      for (const OutputRef& input : node.inputs) {
        const int32_t storage = storage_of[input.node][static_cast<size_t>(input.port)];
        if (std::find(reads_[id].begin(), reads_[id].end(), storage) != reads_[id].end()) continue;
        reads_[id].push_back(storage);
        storages_[storage].readers.push_back(id);
        if (node.op_name() == "_Retval" || node.op->traits.keeps_inputs)
          storages_[storage].stays = true;
      }
      const bool aliases = node.op->traits.aliases_input && !node.inputs.empty();
      for (const OutputInfo& output : node.outputs) {
        if (aliases) {
          storage_of[id].push_back(reads_[id][0]);
          continue;
        }
        storage_of[id].push_back(static_cast<int32_t>(storages_.size()));
        makes_[id].push_back(static_cast<int32_t>(storages_.size()));
        storages_.push_back({Allocates(node) ? BytesOf(output) : 0, false, {}});
      }
    }
  }

  const std::vector<int32_t>& reads(NodeId id) const { return reads_[id]; }
  const std::vector<Storage>& storages() const { return storages_; }
  int64_t BytesMade(NodeId id) const {
    int64_t bytes = 0;
    for (const int32_t made : makes_[id]) bytes += storages_[made].bytes;
    return bytes;
  }

  // The most bytes that are alive at once in that order.
  int64_t Peak(const Graph& graph, const std::vector<NodeId>& order) const {
    std::vector<size_t> left = ReaderCounts();
    int64_t alive = 0, peak = 0;
    for (const NodeId id : order) {
      int64_t dying = 0, largest = 0;
      for (const int32_t storage : reads_[id]) {
        if (--left[storage] > 0 || storages_[storage].stays) continue;
        dying += storages_[storage].bytes;
        largest = std::max(largest, storages_[storage].bytes);
      }
      const int64_t made = BytesMade(id);
      // What is written over an input needs no memory of its own.
      const bool in_place = graph.node(id).op->traits.in_place && largest == made;
      peak = std::max(peak, alive + (in_place ? 0 : made));
      alive += made - dying;
      for (const int32_t storage : makes_[id]) {
        if (storages_[storage].readers.empty()) alive -= storages_[storage].bytes;
      }
    }
    return peak;
  }

  std::vector<size_t> ReaderCounts() const {
    std::vector<size_t> counts;
    for (const Storage& storage : storages_) counts.push_back(storage.readers.size());
    return counts;
  }

 private:
  std::vector<std::vector<int32_t>> reads_;  // by node: storages, each once
  std::vector<std::vector<int32_t>> makes_;
  std::vector<Storage> storages_;
};

// Chooses one ready node after the other. First those that free no less than they take, the most
// first. Of the others the one from which the way to the end is longest: what is ready early and
// needed late waits.
class Chooser {
 public:
  Chooser(const Graph& graph, const std::vector<NodeId>& order, const MemoryModel& model)
      : model_(model), left_(model.ReaderCounts()), order_(order) {
    const auto n = static_cast<size_t>(graph.num_nodes());
    waits_.assign(n, 0);
    position_.assign(n, 0);
    height_.assign(n, 0);
    consumers_.assign(n, {});
    done_.assign(n, 0);
    FindEdges(graph);
    for (size_t i = order.size(); i-- > 0;) {
      for (const NodeId consumer : consumers_[order[i]])
        height_[order[i]] = std::max(height_[order[i]], height_[consumer] + 1);
    }
  }

  std::vector<NodeId> Run() {
    for (const NodeId id : order_) {
      if (waits_[id] == 0) Push(id);
    }
    std::vector<NodeId> chosen;
    while (!ready_.empty()) {
      const NodeId id = std::get<3>(ready_.top());
      ready_.pop();
      if (std::exchange(done_[id], 1)) continue;
      chosen.push_back(id);
      for (const int32_t storage : model_.reads(id)) {
        if (--left_[storage] == 1) PushLastReader(storage);
      }
      for (const NodeId consumer : consumers_[id]) {
        if (--waits_[consumer] == 0) Push(consumer);
      }
    }
    return chosen;
  }

 private:
  // What orders ready nodes, the best last; the node itself.
  using Entry = std::tuple<bool, int64_t, int64_t, NodeId>;

  // Nodes that have effects or see those of others keep the order they had.
  void FindEdges(const Graph& graph) {
    NodeId last_effect = kNoNode;
    for (size_t at = 0; at < order_.size(); ++at) {
      const NodeId id = order_[at];
      const Node& node = graph.node(id);
      position_[id] = static_cast<int64_t>(at);
      std::vector<NodeId> sources = node.control_inputs;
      for (const OutputRef& input : node.inputs) sources.push_back(input.node);
      if ((!node.op->traits.pure && !IsRandom(node)) || ReadsVariable(graph, node)) {
        if (last_effect != kNoNode) sources.push_back(last_effect);
        last_effect = id;
      }
      std::sort(sources.begin(), sources.end());
      sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
      waits_[id] = static_cast<int32_t>(sources.size());
      for (const NodeId source : sources) consumers_[source].push_back(id);
    }
  }

  void Push(NodeId id) {
    int64_t gain = -model_.BytesMade(id);
    for (const int32_t storage : model_.reads(id)) {
      const Storage& read = model_.storages()[storage];
      if (left_[storage] == 1 && !read.stays) gain += read.bytes;
    }
    const bool frees = gain >= 0;
    ready_.emplace(frees, frees ? gain : height_[id], -position_[id], id);
  }

  // A reader that is the only one left now frees the memory. Its older entry is skipped later.
  void PushLastReader(int32_t storage) {
    for (const NodeId reader : model_.storages()[storage].readers) {
      if (!done_[reader] && waits_[reader] == 0) Push(reader);
    }
  }

  const MemoryModel& model_;
  std::vector<size_t> left_;  // by storage: readers still to run
  const std::vector<NodeId>& order_;
  std::vector<int32_t> waits_;
  std::vector<int64_t> position_, height_;
  std::vector<std::vector<NodeId>> consumers_;
  std::vector<char> done_;
  std::priority_queue<Entry> ready_;
};

}  // namespace

Status OrderForMemory(const Graph& graph, Schedule& schedule) {
  if (!schedule.sequential) return OkStatus();
  const MemoryModel model(graph, schedule.order);
  const int64_t present = model.Peak(graph, schedule.order);
  if (present < kWorthwhileBytes) return OkStatus();
  std::vector<NodeId> order = Chooser(graph, schedule.order, model).Run();
  if (order.size() != schedule.order.size()) return Internal("a memory order lost a node");
  // The order as it came walks through caches no worse than another: it is left for a gain only.
  if (model.Peak(graph, order) < present - present / 20) schedule.order = std::move(order);
  return OkStatus();
}

}  // namespace penstock
