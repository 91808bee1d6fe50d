#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "penstock/compile/passes.h"
#include "penstock/compile/rewrite.h"
#include "penstock/compile/shape_classes.h"
#include "penstock/graph/node_check.h"

// Note [regions]: nodes get levels that never fall along an edge and rise along every edge that
// cannot lie within a region. A region is what such edges connect on one level: a path that leaves
// it has risen and does not come back, so that making one node of it closes no cycle.

namespace penstock {
namespace {

// Smaller values stay in the cache anyway, and a node of its own is dispatched faster than a
// program.
constexpr int64_t kMinElements = 1024;
constexpr int kMaxMembers = 128;
// A kernel can take over the memory of an input only when it is one of the first 64.
constexpr int kMaxInputs = 60;
constexpr int kMaxArity = 3;

// Says what the op _Fused can be made of, by asking it.
class FusibleOps {
 public:
  explicit FusibleOps(const OpInfo& fused) : fused_(fused) {}

  bool Contains(const Graph& graph, const Node& node) {
    if (!node.op->traits.pure || node.outputs.size() != 1 || node.inputs.empty() ||
        node.inputs.size() > kMaxArity || !HasDefaultsOnly(node)) {
      return false;
    }
    uint32_t types = static_cast<uint32_t>(node.outputs[0].dtype);
    for (const OutputRef& input : node.inputs) {
      types = types << 8 | static_cast<uint32_t>(graph.output(input).dtype);
    }
    const auto [it, is_new] = known_[node.op].emplace(types, false);
    if (is_new) it->second = Ask(graph, node);
    return it->second;
  }

 private:
  // An instruction is an op and its types.
  static bool HasDefaultsOnly(const Node& node) {
    return std::all_of(
        node.op->def.attrs.begin(), node.op->def.attrs.end(), [&](const AttrDef& def) {
          const AttrValue* value = def.kind == "type" ? nullptr : FindAttr(node.attrs, def.name);
          return value == nullptr || (def.default_value && *value == *def.default_value);
        });
  }

  bool Ask(const Graph& graph, const Node& node) const {
    std::vector<DType> types;
    std::vector<int64_t> args(kMaxArity, -1);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      types.push_back(graph.output(node.inputs[i]).dtype);
      args[i] = static_cast<int64_t>(i);
    }
    const std::vector<DType> result{node.outputs[0].dtype};
    const AttrMap attrs{{"Tin", types},
                        {"Tout", result},
                        {"ops", std::vector<std::string>{node.op_name()}},
                        {"args", args},
                        {"types", result},
                        {"results", std::vector<int64_t>{static_cast<int64_t>(types.size())}}};
    const Result<NodeTypes> expanded = ExpandTypes(fused_.def, attrs);
    return expanded.ok() && fused_.decode(attrs, *expanded).ok();
  }

  const OpInfo& fused_;
  std::unordered_map<const OpInfo*, std::map<uint32_t, bool>> known_;  // by op and types
};

// Finds regions; see Note [regions].
class Regions {
 public:
  Regions(const Graph& graph, std::vector<NodeId> order, FusibleOps& ops)
      : graph_(graph),
        order_(std::move(order)),
        classes_(graph, order_,
                 [&](const Node& node) {
                   return node.op->traits.elementwise || ops.Contains(graph, node);
                 }),
        position_(static_cast<size_t>(graph.num_nodes()), -1),
        eligible_(position_.size(), 0),
        level_(position_.size(), 0),
        group_(position_.size()) {
    for (size_t at = 0; at < order_.size(); ++at) {
      position_[order_[at]] = static_cast<int32_t>(at);
      eligible_[order_[at]] = IsEligible(order_[at], ops);
      if (const Node& node = graph.node(order_[at]); IsControlFlow(node) || node.op->traits.async) {
        has_hidden_edges_ = true;
      }
    }
    std::iota(group_.begin(), group_.end(), 0);
  }

  // The members of each region in topological order, at least two.
  std::vector<std::vector<NodeId>> Find() {
    FindReaders();
    FindLevels();
    RaiseLevels();
    Connect();
    return Gather();
  }

  struct Reader {
    NodeId node;
    bool is_data;  // else it only waits
  };
  // Who reads an output of `id`, once for each input, and who waits for it.
  std::span<const Reader> readers(NodeId id) const {
    const auto count = static_cast<size_t>(first_reader_[id + 1] - first_reader_[id]);
    return std::span(readers_).subspan(static_cast<size_t>(first_reader_[id]), count);
  }

 private:
  bool IsEligible(NodeId id, FusibleOps& ops) const {
    const Node& node = graph_.node(id);
    if (!ops.Contains(graph_, node) || ReadsVariable(graph_, node)) return false;
    const Shape& shape = node.outputs[0].shape;
    const auto count = shape.CheckedNumElements();
    if (shape.IsFullyKnown() && (!count || *count < kMinElements)) return false;
    // Every operand must be known to have the shape of the result or be broadcast to it.
    return std::all_of(node.inputs.begin(), node.inputs.end(), [&](const OutputRef& input) {
      return classes_[input] == classes_[{id, 0}] || Absorbs(shape, graph_.output(input).shape);
    });
  }

  bool IsFusible(NodeId from, NodeId to) const {
    return eligible_[from] && eligible_[to] && classes_[{from, 0}] == classes_[{to, 0}] &&
           graph_.node(from).device == graph_.node(to).device;
  }

  // Calls f(source, is_data) for what the node reads and waits for, back edges of loops left out.
  template <class F>
  void ForEachSource(NodeId id, F f) const {
    const Node& node = graph_.node(id);
    for (const OutputRef& input : node.inputs) {
      if (position_[input.node] < position_[id]) f(input.node, true);
    }
    for (const NodeId control : node.control_inputs) f(control, false);
  }

  void FindReaders() {
    first_reader_.assign(position_.size() + 1, 0);
    for (const NodeId id : order_) {
      ForEachSource(id, [&](NodeId from, bool) { ++first_reader_[from + 1]; });
    }
    std::partial_sum(first_reader_.begin(), first_reader_.end(), first_reader_.begin());
    readers_.resize(static_cast<size_t>(first_reader_.back()));
    std::vector<int32_t> fill(first_reader_.begin(), first_reader_.end() - 1);
    for (const NodeId id : order_) {
      ForEachSource(id, [&](NodeId from, bool is_data) { readers_[fill[from]++] = {id, is_data}; });
    }
  }

  // As low as they can be.
  void FindLevels() {
    for (const NodeId id : order_) {
      ForEachSource(id, [&](NodeId from, bool is_data) {
        const bool stays = is_data && IsFusible(from, id);
        level_[id] = std::max(level_[id], level_[from] + (stays ? 0 : 1));
      });
    }
  }

  // Moves a node up to its readers' level where that connects it to no fewer neighbours.
  void RaiseLevels() {
    for (size_t at = order_.size(); at-- > 0;) {
      const NodeId id = order_[at];
      if (!eligible_[id] || readers(id).empty()) continue;
      int32_t highest = INT32_MAX;
      for (const Reader& reader : readers(id)) {
        highest = std::min(highest, level_[reader.node] - (IsFusible(id, reader) ? 0 : 1));
      }
      if (highest <= level_[id]) continue;
      int64_t gained = 0;
      for (const Reader& reader : readers(id)) {
        gained += level_[reader.node] == highest && IsFusible(id, reader);
      }
      int64_t lost = 0;
      ForEachSource(id, [&](NodeId from, bool is_data) {
        lost += is_data && level_[from] == level_[id] && IsFusible(from, id);
      });
      if (gained > 0 && gained >= lost) level_[id] = highest;
    }
  }

  void Connect() {
    for (const NodeId id : order_) {
      ForEachSource(id, [&](NodeId from, bool is_data) {
        if (!is_data || level_[from] != level_[id] || !IsFusible(from, id)) return;
        group_[GroupOf(from)] = GroupOf(id);
      });
    }
  }
  NodeId GroupOf(NodeId id) {
    while (group_[id] != id) id = group_[id] = group_[group_[id]];
    return id;
  }

  // Branches and loops have dead values, and a value that is sent away may come back by another
  // node: there a region must wait for nothing that its only output does not wait for anyway.
  void SplitToSingleOutputs() {
    std::vector<NodeId> whole(group_.size());
    for (const NodeId id : order_) whole[id] = GroupOf(id);
    for (size_t at = order_.size(); at-- > 0;) {
      const NodeId id = order_[at];
      const auto all = readers(id);
      const NodeId joined = all.empty() ? id : group_[all[0].node];
      const bool joins = std::all_of(all.begin(), all.end(), [&](const Reader& reader) {
        return reader.is_data && whole[reader.node] == whole[id] && group_[reader.node] == joined;
      });
      group_[id] = eligible_[id] && joins ? joined : id;
    }
  }

  // A region under way. One that grows too large is cut: each part is read by later parts alone.
  struct Part {
    int32_t number = 0;
    int num_inputs = 0;
    std::vector<NodeId> members = {};
  };

  std::vector<std::vector<NodeId>> Gather() {
    if (has_hidden_edges_) SplitToSingleOutputs();
    std::vector<std::vector<NodeId>> regions;
    std::unordered_map<NodeId, Part> open;  // by group
    std::vector<int32_t> part_of(position_.size(), 0);
    std::vector<int32_t> last_part_to_read(classes_.num_outputs(), 0);
    int32_t num_parts = 0;
    auto close = [&](Part& part) {
      if (part.members.size() > 1) regions.push_back(std::move(part.members));
      part = {.number = ++num_parts};
    };
    for (const NodeId id : order_) {
      if (!eligible_[id]) continue;
      Part& part = open[GroupOf(id)];
      if (part.number == 0) part.number = ++num_parts;
      if (part.members.size() >= kMaxMembers || part.num_inputs + kMaxArity > kMaxInputs) {
        close(part);
      }
      part.members.push_back(id);
      part_of[id] = part.number;
      for (const OutputRef& input : graph_.node(id).inputs) {
        if (part_of[input.node] == part.number) continue;
        int32_t& last = last_part_to_read[classes_.Index(input)];
        part.num_inputs += std::exchange(last, part.number) != part.number;
      }
    }
    for (auto& [group, part] : open) close(part);
    return regions;
  }

  bool IsFusible(NodeId from, const Reader& reader) const {
    return reader.is_data && IsFusible(from, reader.node);
  }

  const Graph& graph_;
  const std::vector<NodeId> order_;
  const ShapeClasses classes_;
  std::vector<int32_t> position_;
  std::vector<uint8_t> eligible_;
  std::vector<int32_t> level_;
  std::vector<NodeId> group_;  // union-find
  std::vector<int32_t> first_reader_;
  std::vector<Reader> readers_;
  bool has_hidden_edges_ = false;
};

// Puts a _Fused node in the place of each region.
class Fuser {
 public:
  Fuser(Graph& graph, const OpInfo& fused) : graph_(graph), fused_(fused) {}

  Status Run() {
    FusibleOps ops(fused_);
    TRY_ASSIGN(std::vector<NodeId> order, graph_.TopologicalOrder());
    Regions regions(graph_, std::move(order), ops);
    const std::vector<std::vector<NodeId>> found = regions.Find();
    if (found.empty()) return OkStatus();
    place_.assign(static_cast<size_t>(graph_.num_nodes()), {});
    value_.assign(place_.size(), -1);
    for (const std::vector<NodeId>& members : found) TRY(Fuse(members, regions));
    Rewire();
    return OkStatus();
  }

 private:
  struct Program {
    std::vector<OutputRef> inputs;
    std::vector<DType> input_types;
    std::vector<std::string> ops;
    std::vector<int64_t> args;
    std::vector<DType> types;
    std::vector<int64_t> results;
    std::vector<DType> result_types;
    std::vector<OutputInfo> outputs;
  };

  // The last member becomes the region's node: its output is the first one.
  Status Fuse(const std::vector<NodeId>& members, const Regions& regions) {
    Program program;
    if (!ReadMembers(members, &program)) return OkStatus();
    std::vector<NodeId> places;
    for (size_t i = members.size(); i-- > 0;) {
      const auto readers = regions.readers(members[i]);
      const bool is_read = std::any_of(readers.begin(), readers.end(), [&](const auto& reader) {
        return reader.is_data && value_[reader.node] < 0;
      });
      if (i + 1 < members.size() && !is_read) continue;
      places.push_back(members[i]);
      program.results.push_back(value_[members[i]]);
      program.outputs.push_back(graph_.node(members[i]).outputs[0]);
      program.result_types.push_back(program.outputs.back().dtype);
    }
    for (const NodeId id : members) value_[id] = -1;
    TRY(Become(members, std::move(program)));
    for (const NodeId id : members) place_[id] = {members.back(), 0};
    for (size_t k = 0; k < places.size(); ++k) place_[places[k]].port = static_cast<int32_t>(k);
    return OkStatus();
  }

  // False when no member reads another: then there is nothing to gain. Leaves value_ set when true.
  bool ReadMembers(const std::vector<NodeId>& members, Program* program) {
    for (const NodeId id : members) value_[id] = 0;
    bool is_connected = false;
    for (const NodeId id : members) {
      for (OutputRef input : graph_.node(id).inputs) {
        if (value_[input.node] >= 0) {
          is_connected = true;
          continue;
        }
        input = Placed(input);
        std::vector<OutputRef>& inputs = program->inputs;
        if (std::find(inputs.begin(), inputs.end(), input) != inputs.end()) continue;
        inputs.push_back(input);
        program->input_types.push_back(graph_.output(input).dtype);
      }
    }
    if (!is_connected) {
      for (const NodeId id : members) value_[id] = -1;
      return false;
    }
    const auto num_inputs = static_cast<int64_t>(program->inputs.size());
    for (size_t i = 0; i < members.size(); ++i) {
      const Node& node = graph_.node(members[i]);
      value_[members[i]] = num_inputs + static_cast<int64_t>(i);
      program->ops.push_back(node.op_name());
      program->types.push_back(node.outputs[0].dtype);
      for (size_t k = 0; k < kMaxArity; ++k) {
        program->args.push_back(k < node.inputs.size() ? ValueOf(*program, node.inputs[k]) : -1);
      }
    }
    return true;
  }

  int64_t ValueOf(const Program& program, OutputRef ref) const {
    if (value_[ref.node] >= 0) return value_[ref.node];
    const auto& inputs = program.inputs;
    return std::find(inputs.begin(), inputs.end(), Placed(ref)) - inputs.begin();
  }

  Status Become(const std::vector<NodeId>& members, Program program) {
    AttrMap attrs{
        {"Tin", std::move(program.input_types)}, {"Tout", std::move(program.result_types)},
        {"ops", std::move(program.ops)},         {"args", std::move(program.args)},
        {"types", std::move(program.types)},     {"results", std::move(program.results)}};
    TRY_ASSIGN(const NodeTypes types, ExpandTypes(fused_.def, attrs));
    TRY_ASSIGN(DecodedOp decoded, fused_.decode(attrs, types));
    std::vector<NodeId> controls;
    for (const NodeId id : members) {
      const std::vector<NodeId>& waits = graph_.node(id).control_inputs;
      controls.insert(controls.end(), waits.begin(), waits.end());
      if (id != members.back()) graph_.RemoveNode(id);
    }
    Node& node = graph_.node(members.back());
    node.op = &fused_;
    node.inputs = std::move(program.inputs);
    node.control_inputs = std::move(controls);
    node.attrs = std::move(attrs);
    node.outputs = std::move(program.outputs);
    node.decoded = std::move(decoded);
    node.extra = nullptr;
    return OkStatus();
  }

  void Rewire() {
    std::vector<NodeId> last_waiter(place_.size(), kNoNode);
    for (NodeId id = 0; id < graph_.num_nodes(); ++id) {
      if (!graph_.IsLive(id)) continue;
      Node& node = graph_.node(id);
      for (OutputRef& input : node.inputs) input = Placed(input);
      for (NodeId& control : node.control_inputs) {
        if (place_[control].node != kNoNode) control = place_[control].node;
      }
      std::erase_if(node.control_inputs, [&](NodeId control) {
        return control == id || std::exchange(last_waiter[control], id) == id;
      });
    }
  }

  // Where an output is now. A region's own node keeps its first output where it was.
  OutputRef Placed(OutputRef ref) const {
    const bool is_old = ref.port == 0 && place_[ref.node].node != kNoNode;
    return is_old ? place_[ref.node] : ref;
  }

  Graph& graph_;
  const OpInfo& fused_;
  std::vector<OutputRef> place_;  // by node: where a member's value is now
  std::vector<int64_t> value_;    // by node: its number in the program under way, or -1
};

}  // namespace

Status FuseElementwise(Graph& graph) {
  const OpInfo* fused = graph.registry().Find("_Fused");
  return fused == nullptr ? OkStatus() : Fuser(graph, *fused).Run();
}

}  // namespace penstock
