#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "penstock/compile/passes.h"
#include "penstock/compile/rewrite.h"

namespace penstock {
namespace {

// Larger constants are not compared.
constexpr size_t kMaxComparedBytes = 64 << 10;

// Mixes 64-bit words; equal sequences give equal hashes.
class Hasher {
 public:
  void Add(uint64_t word) { hash_ = std::rotl((hash_ ^ word) * 0x9E3779B97F4A7C15ull, 29); }
  void AddBytes(const void* bytes, size_t n) {
    const char* from = static_cast<const char*>(bytes);
    for (; n >= sizeof(uint64_t); n -= sizeof(uint64_t), from += sizeof(uint64_t)) {
      uint64_t word;
      std::memcpy(&word, from, sizeof word);
      Add(word);
    }
    uint64_t rest = n;
    std::memcpy(&rest, from, n);
    Add(rest ^ n << 56);
  }
  uint64_t hash() const { return hash_ ^ hash_ >> 32; }

 private:
  uint64_t hash_ = 0x243F6A8885A308D3ull;
};

// What is equal has the same hash; kinds that seldom tell nodes apart count as equal here.
void HashAttr(const AttrValue& attr, Hasher& hasher) {
  hasher.Add(attr.value().index());
  std::visit(
      [&]<class V>(const V& value) {
        if constexpr (std::is_same_v<V, std::string>) {
          hasher.AddBytes(value.data(), value.size());
        } else if constexpr (std::is_arithmetic_v<V>) {
          hasher.AddBytes(&value, sizeof value);
        } else if constexpr (std::is_same_v<V, DType>) {
          hasher.Add(static_cast<uint64_t>(value));
        } else if constexpr (std::is_same_v<V, std::vector<int64_t>>) {
          hasher.AddBytes(value.data(), value.size() * sizeof(int64_t));
        } else if constexpr (std::is_same_v<V, Tensor>) {
          hasher.Add(static_cast<uint64_t>(value.dtype()));
          if (IsPlain(value.dtype())) hasher.AddBytes(value.raw(), value.bytes());
        }
      },
      attr.value());
}

bool SameAttrs(const AttrMap& a, const AttrMap& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const AttrValue* other = a[i].first == b[i].first ? &b[i].second : FindAttr(b, a[i].first);
    if (other == nullptr || !(a[i].second == *other)) return false;
  }
  return true;
}

// Whether the order of the inputs is of no account: not to a NaN's bits, but to all others. Of two
// zeros Maximum and Minimum take the first or the second, and complex products round differently.
bool IsCommutative(const Graph& graph, const Node& node) {
  if (!node.op->def.is_commutative || node.inputs.size() != 2) return false;
  const DType dtype = graph.output(node.inputs[0]).dtype;
  if (!IsFloating(dtype)) return !IsComplex(dtype);
  for (const std::string_view op : {"AddV2", "Mul", "SquaredDifference", "Equal", "NotEqual"}) {
    if (node.op_name() == op) return true;
  }
  return false;
}

// The nodes seen so far, by what they compute: an open hash table, filled at most half.
class SeenNodes {
 public:
  explicit SeenNodes(const Graph& graph)
      : graph_(graph),
        hashes_(static_cast<size_t>(graph.num_nodes())),
        slots_(std::bit_ceil(2 * hashes_.size() + 1), kNoNode) {}

  // A node that computes the same, or `id`, which from now on stands for its like.
  NodeId FindOrAdd(NodeId id) {
    const uint64_t hash = hashes_[id] = HashNode(graph_.node(id));
    size_t at = hash & (slots_.size() - 1);
    for (; slots_[at] != kNoNode; at = (at + 1) & (slots_.size() - 1)) {
      const NodeId other = slots_[at];
      if (hashes_[other] == hash && Same(graph_.node(other), graph_.node(id))) return other;
    }
    slots_[at] = id;
    return id;
  }

 private:
  uint64_t HashNode(const Node& node) const {
    Hasher hasher;
    hasher.Add(reinterpret_cast<uintptr_t>(node.op));
    hasher.AddBytes(node.device.data(), node.device.size());
    for (const OutputRef& input : Inputs(node)) {
      hasher.Add(static_cast<uint64_t>(input.node) << 32 | static_cast<uint32_t>(input.port));
    }
    // Sums, where the order is of no account.
    uint64_t controls = 0;
    for (const NodeId control : node.control_inputs) controls += static_cast<uint64_t>(control) + 1;
    hasher.Add(controls);
    uint64_t attrs = 0;
    for (const auto& [name, value] : node.attrs) {
      Hasher attr;
      attr.AddBytes(name.data(), name.size());
      HashAttr(value, attr);
      attrs += attr.hash();
    }
    hasher.Add(attrs);
    return hasher.hash();
  }

  std::vector<OutputRef> Inputs(const Node& node) const {
    std::vector<OutputRef> inputs = node.inputs;
    if (IsCommutative(graph_, node) &&
        std::pair(inputs[1].node, inputs[1].port) < std::pair(inputs[0].node, inputs[0].port)) {
      std::swap(inputs[0], inputs[1]);
    }
    return inputs;
  }

  bool Same(const Node& a, const Node& b) const {
    if (a.op != b.op || a.device != b.device || Inputs(a) != Inputs(b)) return false;
    if (!SameAttrs(a.attrs, b.attrs)) return false;
    std::vector<NodeId> waits_a = a.control_inputs;
    std::vector<NodeId> waits_b = b.control_inputs;
    std::sort(waits_a.begin(), waits_a.end());
    std::sort(waits_b.begin(), waits_b.end());
    return waits_a == waits_b;
  }

  const Graph& graph_;
  std::vector<uint64_t> hashes_;
  std::vector<NodeId> slots_;
};

bool MayMerge(const Graph& graph, const Node& node) {
  if (!node.op->traits.pure || node.outputs.empty() || IsControlFlow(node)) return false;
  if (!node.inputs.empty()) return !ReadsVariable(graph, node);
  if (node.op_name() != "Const") return false;  // two placeholders are two
  const AttrValue* value = FindAttr(node.attrs, "value");
  const Tensor* tensor = value == nullptr ? nullptr : value->Get<Tensor>();
  return tensor != nullptr && tensor->bytes() <= kMaxComparedBytes;
}

}  // namespace

Status MergeCommonSubexpressions(Graph& graph) {
  TRY_ASSIGN(const std::vector<NodeId> order, graph.TopologicalOrder());
  std::vector<NodeId> stands_for(static_cast<size_t>(graph.num_nodes()));
  for (NodeId id = 0; id < graph.num_nodes(); ++id) stands_for[id] = id;
  std::vector<NodeId> last_waiter(stands_for.size(), kNoNode);
  SeenNodes seen(graph);
  std::vector<NodeId> merged;
  for (const NodeId id : order) {
    Node& node = graph.node(id);
    for (OutputRef& input : node.inputs) input.node = stands_for[input.node];
    for (NodeId& control : node.control_inputs) control = stands_for[control];
    std::erase_if(node.control_inputs,
                  [&](NodeId control) { return std::exchange(last_waiter[control], id) == id; });
    if (!MayMerge(graph, node)) continue;
    const NodeId first = seen.FindOrAdd(id);
    if (first == id) continue;
    stands_for[id] = first;
    merged.push_back(id);
  }
  for (const NodeId id : merged) graph.RemoveNode(id);
  return OkStatus();
}

}  // namespace penstock
