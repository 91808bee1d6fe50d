#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "penstock/compile/arena.h"
#include "penstock/compile/passes.h"
#include "penstock/core/checked.h"
#include "penstock/graph/settled.h"

namespace penstock {
namespace {

// From this size on, what comes out of a step is worth computing in place.
constexpr int64_t kLargeBytes = 1 << 20;

// Bytes of a value, when they are known and a kernel could fill them.
std::optional<int64_t> BytesOf(const OutputInfo& info) {
  if (!IsPlain(info.dtype) || info.is_ref) return std::nullopt;
  const auto count = info.shape.CheckedNumElements();
  if (!count) return std::nullopt;
  return CheckedMul(*count, static_cast<int64_t>(SizeOf(info.dtype)));
}

// Ops that move a variable along a gradient: they only read it.
bool IsUpdate(std::string_view op) {
  constexpr std::string_view kUpdates[] = {
      "ResourceApply",      "_ResourceApply",    "ResourceSparseApply", "ResourceScatterAdd",
      "ResourceScatterSub", "AssignAddVariable", "AssignSubVariable"};
  return std::any_of(std::begin(kUpdates), std::end(kUpdates),
                     [&](std::string_view name) { return op.starts_with(name); });
}

// Whether a reader may hold on to input `i`, or pass it on in a way that its traits do not tell.
bool LetsEscape(const Node& reader, const OutputInfo& input) {
  const OpTraits& traits = reader.op->traits;
  if (reader.op_name() == "_Retval" || traits.keeps_inputs || traits.async) return true;
  if (traits.placeable || traits.aliases_input || IsUpdate(reader.op_name())) return false;
  if (!traits.pure) return true;
  // A kernel that makes its outputs itself may return an input of that type.
  return std::any_of(reader.outputs.begin(), reader.outputs.end(),
                     [&](const OutputInfo& output) { return output.dtype == input.dtype; });
}

// The memory behind one or several values: an output, and the outputs of Identity and its like
// that show the same bytes.
struct Storage {
  int64_t size = 0;      // what it takes up; 0: it is not ours to place
  int64_t bytes = 0;     // what is used of that
  int64_t offset = -1;   // while it is alive
  int32_t last_use = 0;  // the position of its last reader
};

class Planner {
 public:
  Planner(const Graph& graph, Schedule& schedule) : graph_(graph), schedule_(schedule) {}

  void Run() {
    FindStorage();
    LeaveOutWhatBecomesResults();
    schedule_.places.assign(static_cast<size_t>(graph_.num_nodes()), {});
    bool fits = true;
    for (size_t at = 0; fits && at < schedule_.order.size(); ++at) {
      fits = PlaceOutputs(schedule_.order[at], static_cast<int32_t>(at));
    }
    schedule_.arena_bytes = arena_.bytes();
    if (fits && arena_.bytes() > 0) return;
    schedule_.places.clear();
    schedule_.arena_bytes = 0;
  }

 private:
  Storage& storage(OutputRef ref) { return storages_[storage_of_[first_[ref.node] + ref.port]]; }

  // Tells which values share memory, how long it is read, and whether it may lie in the arena.
  void FindStorage() {
    first_.assign(static_cast<size_t>(graph_.num_nodes()), 0);
    for (size_t at = 0; at < schedule_.order.size(); ++at) {
      const NodeId id = schedule_.order[at];
      const Node& node = graph_.node(id);
      for (const OutputRef& input : node.inputs) {
        Storage& read = storage(input);
        read.last_use = static_cast<int32_t>(at);
        if (LetsEscape(node, graph_.output(input))) read.size = 0;
      }
      first_[id] = static_cast<int32_t>(storage_of_.size());
      const bool aliases = node.op->traits.aliases_input && !node.inputs.empty();
      const bool placeable = !aliases && node.op->traits.placeable && !node.op->traits.async &&
                             HasSettledShapes(graph_, node);
      for (const OutputInfo& output : node.outputs) {
        if (aliases) {
          const OutputRef input = node.inputs[0];
          storage_of_.push_back(storage_of_[first_[input.node] + input.port]);
          continue;
        }
        storage_of_.push_back(static_cast<int32_t>(storages_.size()));
        Storage& made = storages_.emplace_back();
        made.last_use = static_cast<int32_t>(at);
        const std::optional<int64_t> bytes = placeable ? BytesOf(output) : std::nullopt;
        if (!bytes) continue;
        made.bytes = *bytes;
        // More than any machine has: the kernel will be refused the memory, and its node named.
        made.size = ArenaLayout::Rounded(*bytes).value_or(0);
      }
    }
  }

  // A kernel can write a large result over an input that dies there, if that has memory of its own:
  // such inputs, and what they in turn are written over, stay out of the arena.
  void LeaveOutWhatBecomesResults() {
    for (size_t at = schedule_.order.size(); at-- > 0;) {
      const NodeId id = schedule_.order[at];
      const Node& node = graph_.node(id);
      if (!node.op->traits.in_place || node.op->traits.aliases_input) continue;
      const Storage& made = storage({id, 0});
      if (made.size > 0 || made.bytes < kLargeBytes) continue;
      for (const OutputRef& input : node.inputs) {
        Storage& dying = storage(input);
        if (dying.size == 0 || dying.last_use != static_cast<int32_t>(at)) continue;
        if (!MatchesAlone(node, input)) continue;
        dying.size = 0;
        break;
      }
    }
  }

  bool PlaceOutputs(NodeId id, int32_t at) {
    const Node& node = graph_.node(id);
    std::vector<int64_t>& places = schedule_.places[id];
    if (!node.op->traits.aliases_input || node.inputs.empty()) {
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        Storage& made = storage({id, static_cast<int32_t>(i)});
        if (made.size == 0) continue;
        if (i > 0 || !TakeOver(node, at, made)) {
          const std::optional<int64_t> offset = arena_.Take(made.size);
          if (!offset) return false;
          made.offset = *offset;
        }
        places.resize(node.outputs.size(), -1);
        places[i] = made.offset;
      }
    }
    for (const OutputRef& input : node.inputs) Release(storage(input), at);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Release(storage({id, static_cast<int32_t>(i)}), at);
    }
    return true;
  }

  // Gives output 0 the memory of an input that is read here for the last time.
  bool TakeOver(const Node& node, int32_t at, Storage& made) {
    if (!node.op->traits.in_place) return false;
    for (const OutputRef& input : node.inputs) {
      Storage& dying = storage(input);
      if (dying.offset < 0 || dying.last_use != at || dying.bytes != made.bytes) continue;
      if (!MayOverwrite(node, input)) continue;
      made.offset = dying.offset;
      dying.offset = -1;
      return true;
    }
    return false;
  }

  bool MayOverwrite(const Node& node, OutputRef input) {
    const OutputInfo& from = graph_.output(input);
    const OutputInfo& to = node.outputs[0];
    // An element is read before it is written, and where the number of elements is the output's,
    // nothing is broadcast.
    if (node.op->traits.elementwise) return SizeOf(from.dtype) == SizeOf(to.dtype);
    return MatchesAlone(node, input);
  }

  // True when the input is like output 0 and the node reads its memory only once.
  bool MatchesAlone(const Node& node, OutputRef input) {
    const OutputInfo& from = graph_.output(input);
    const OutputInfo& to = node.outputs[0];
    if (from.dtype != to.dtype || !(from.shape == to.shape)) return false;
    const auto reads =
        std::count_if(node.inputs.begin(), node.inputs.end(),
                      [&](const OutputRef& other) { return &storage(other) == &storage(input); });
    return reads == 1;
  }

  void Release(Storage& storage, int32_t at) {
    if (storage.offset < 0 || storage.last_use != at) return;
    arena_.Give(storage.offset, storage.size);
    storage.offset = -1;
  }

  const Graph& graph_;
  Schedule& schedule_;
  ArenaLayout arena_;
  std::vector<int32_t> first_;       // by node: where its outputs begin in storage_of_
  std::vector<int32_t> storage_of_;  // by output: its storage
  std::vector<Storage> storages_;
};

}  // namespace

Status PlanMemory(const Graph& graph, Schedule& schedule) {
  if (schedule.sequential) Planner(graph, schedule).Run();
  return OkStatus();
}

}  // namespace penstock
