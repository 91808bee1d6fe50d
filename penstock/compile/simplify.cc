#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "penstock/compile/passes.h"
#include "penstock/compile/rewrite.h"
#include "penstock/graph/settled.h"

namespace penstock {
namespace {

// ---- the language of the table ----

// What a node's neighbourhood may look like.
struct Pattern {
  enum Kind { kAny, kConstant, kSplat, kNode };
  Kind kind;
  std::string_view name;  // of what is found, or of the op
  double value = 0;       // of a splat
  std::vector<Pattern> inputs = {};
};
Pattern Any(std::string_view name) { return {Pattern::kAny, name}; }
// A constant.
Pattern Constant(std::string_view name) { return {Pattern::kConstant, name}; }
// A small constant whose elements are all `value`.
Pattern ConstSplat(double value, std::string_view name = "splat") {
  return {Pattern::kSplat, name, value};
}
template <class... Inputs>
Pattern Match(std::string_view op, Inputs... inputs) {
  return {Pattern::kNode, op, 0, {inputs...}};
}

// Where a pattern was found.
class Found {
 public:
  Found(Graph* graph, NodeId root) : graph_(graph), root_(root) {}

  Graph& graph() const { return *graph_; }
  Node& root() const { return graph_->node(root_); }
  OutputRef result() const { return {root_, 0}; }
  OutputRef operator[](std::string_view name) const {
    for (const auto& [bound, ref] : bound_) {
      if (bound == name) return ref;
    }
    return {};
  }
  const OutputInfo& info(std::string_view name) const { return graph_->output((*this)[name]); }
  const Tensor& value(std::string_view name) const {
    return *ConstantValue(*graph_, (*this)[name]);
  }

  bool Match(const Pattern& pattern, OutputRef ref);
  // Matches the root; its inputs in either order where that is all the same.
  bool MatchRoot(const Pattern& pattern);

 private:
  bool MatchInputs(const Pattern& pattern, const Node& node, bool swapped);

  Graph* graph_;
  NodeId root_;
  std::vector<std::pair<std::string_view, OutputRef>> bound_;
};

// Puts another value in the place of the root: an output, the root's own after a change to its
// inputs, or none where the rule does not apply after all.
using Rule = OutputRef (*)(const Found& found);
constexpr OutputRef kDoesNotApply{};

struct Rewrite {
  Pattern pattern;
  Rule rule;
};

// 16-bit types are read by way of float.
template <class T>
using Widened =
    std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16>, float, T>;

template <class T>
bool AllAre(const Tensor& tensor, double value) {
  constexpr int64_t kMaxCompared = 4096;
  const auto values = tensor.values<T>();
  if (values.empty() || tensor.num_elements() > kMaxCompared) return false;
  return std::all_of(values.begin(), values.end(), [&](T v) {
    const auto element = static_cast<double>(static_cast<Widened<T>>(v));
    return element == value && std::signbit(element) == std::signbit(value);
  });
}

bool IsSplat(const Tensor& tensor, double value) {
  switch (tensor.dtype()) {
    case DType::kFloat:
      return AllAre<float>(tensor, value);
    case DType::kDouble:
      return AllAre<double>(tensor, value);
    case DType::kHalf:
      return AllAre<half>(tensor, value);
    case DType::kBfloat16:
      return AllAre<bfloat16>(tensor, value);
    case DType::kInt8:
      return AllAre<int8_t>(tensor, value);
    case DType::kInt16:
      return AllAre<int16_t>(tensor, value);
    case DType::kInt32:
      return AllAre<int32_t>(tensor, value);
    case DType::kInt64:
      return AllAre<int64_t>(tensor, value);
    case DType::kUint8:
      return AllAre<uint8_t>(tensor, value);
    case DType::kUint16:
      return AllAre<uint16_t>(tensor, value);
    case DType::kUint32:
      return AllAre<uint32_t>(tensor, value);
    case DType::kUint64:
      return AllAre<uint64_t>(tensor, value);
    default:
      return false;
  }
}

bool Found::Match(const Pattern& pattern, OutputRef ref) {
  if (ref.node == kNoNode) return false;
  const Node& node = graph_->node(ref.node);
  if (pattern.kind == Pattern::kNode) {
    // What is skipped must not be waited for, nor read a variable at its own time.
    if (node.op_name() != pattern.name || ref.port != 0 || !node.control_inputs.empty())
      return false;
    return !ReadsVariable(*graph_, node) && MatchInputs(pattern, node, false);
  }
  if (pattern.kind != Pattern::kAny) {
    if (!IsFreeConstant(node)) return false;
    const Tensor* value = ConstantValue(*graph_, ref);
    if (value == nullptr) return false;
    if (pattern.kind == Pattern::kSplat && !IsSplat(*value, pattern.value)) return false;
  }
  bound_.emplace_back(pattern.name, ref);
  return true;
}

bool Found::MatchInputs(const Pattern& pattern, const Node& node, bool swapped) {
  if (node.inputs.size() != pattern.inputs.size()) return false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!Match(pattern.inputs[i], node.inputs[swapped ? 1 - i : i])) return false;
  }
  return true;
}

bool Found::MatchRoot(const Pattern& pattern) {
  const Node& node = root();
  if (MatchInputs(pattern, node, false)) return true;
  bound_.clear();
  return node.op->def.is_commutative && node.inputs.size() == 2 && MatchInputs(pattern, node, true);
}

// ---- the rules ----

OutputRef TakeX(const Found& found) { return found["x"]; }

// True when an element-wise result has the shape of x whatever that is: the constant is one element
// and of no higher rank.
bool HasShapeOfX(const Found& found) {
  const Shape& x = found.info("x").shape;
  const Shape& other = found.info("splat").shape;
  if (other.IsScalar()) return true;
  if (x.IsFullyKnown() && x == found.root().outputs[0].shape) return true;
  return x.has_rank() && x.rank() >= other.rank() && found.value("splat").num_elements() == 1;
}

bool IsReal(DType dtype) { return IsInteger(dtype) || IsFloating(dtype); }

// x * 1, x / 1, x - 0: exact whatever the sign of a zero; a NaN stays one.
OutputRef TakeXIfReal(const Found& found) {
  return IsReal(found.info("x").dtype) && HasShapeOfX(found) ? found["x"] : kDoesNotApply;
}

// x + 0: not of floating point, where -0 + 0 is 0.
OutputRef TakeXIfInteger(const Found& found) {
  return IsInteger(found.info("x").dtype) && HasShapeOfX(found) ? found["x"] : kDoesNotApply;
}

OutputRef TakeXTwiceNegated(const Found& found) {
  return IsReal(found.info("x").dtype) ? found["x"] : kDoesNotApply;
}

OutputRef TakeXIfSameType(const Found& found) {
  return found.info("x").dtype == found.root().outputs[0].dtype ? found["x"] : kDoesNotApply;
}

OutputRef TakeXIfSameShape(const Found& found) {
  if (!HasSettledShapes(found.graph(), found.root())) return kDoesNotApply;
  return found.info("x").shape == found.root().outputs[0].shape ? found["x"] : kDoesNotApply;
}

// Reshape(Reshape(x)): the first one must be known not to fail.
OutputRef SkipFirstReshape(const Found& found) {
  const Node& first = found.graph().node(found.root().inputs[0].node);
  if (!HasSettledShapes(found.graph(), first)) return kDoesNotApply;
  found.root().inputs[0] = found["x"];
  return found.result();
}

// The axes that a Transpose of a tensor of that rank moves, or nothing when it would fail.
std::vector<int64_t> AxesOf(const Tensor& perm, const Shape& x) {
  std::vector<int64_t> axes;
  if (perm.dtype() == DType::kInt32) {
    const auto values = perm.values<int32_t>();
    axes.assign(values.begin(), values.end());
  } else if (perm.dtype() == DType::kInt64) {
    const auto values = perm.values<int64_t>();
    axes.assign(values.begin(), values.end());
  }
  if (!x.has_rank() || static_cast<size_t>(x.rank()) != axes.size()) return {};
  std::vector<uint8_t> seen(axes.size(), 0);
  for (int64_t& axis : axes) {
    if (axis < 0) axis += x.rank();
    if (!InRange(axis, x.rank()) || seen[static_cast<size_t>(axis)]++ != 0) return {};
  }
  return axes;
}

OutputRef TakeXIfInOrder(const Found& found) {
  const std::vector<int64_t> axes = AxesOf(found.value("perm"), found.info("x").shape);
  if (axes.empty() || !std::is_sorted(axes.begin(), axes.end())) return kDoesNotApply;
  return found["x"];
}

// Axis i of Transpose(Transpose(x, p), q) is axis p[q[i]] of x.
OutputRef MergePermutations(const Found& found) {
  const Shape& x = found.info("x").shape;
  const std::vector<int64_t> p = AxesOf(found.value("p"), x);
  const std::vector<int64_t> q = AxesOf(found.value("q"), x);
  if (p.empty() || q.empty()) return kDoesNotApply;
  Tensor merged = found.value("q").Clone();
  for (size_t i = 0; i < q.size(); ++i) {
    const int64_t axis = p[static_cast<size_t>(q[i])];
    if (merged.dtype() == DType::kInt32) {
      merged.mutable_data<int32_t>()[i] = static_cast<int32_t>(axis);
    } else {
      merged.mutable_data<int64_t>()[i] = axis;
    }
  }
  Graph& graph = found.graph();
  const Result<NodeId> perm =
      graph.AddNode({.op = "Const",
                     .name = found.root().name + "/perm",
                     .attrs = {{"value", merged}, {"dtype", merged.dtype()}},
                     .device = found.root().device,
                     .site = found.root().site});
  if (!perm.ok()) return kDoesNotApply;
  found.root().inputs = {found["x"], {*perm, 0}};
  return found.result();
}

// Every result must keep its bits, those of NaNs aside.
const std::vector<Rewrite>& Simplifications() {
  static const auto* const table = new std::vector<Rewrite>{
      {Match("Identity", Any("x")), TakeX},
      {Match("LoopCond", Any("x")), TakeX},
      {Match("StopGradient", Any("x")), TakeX},
      {Match("PreventGradient", Any("x")), TakeX},
      {Match("Snapshot", Any("x")), TakeX},
      {Match("Mul", Any("x"), ConstSplat(1)), TakeXIfReal},
      {Match("Div", Any("x"), ConstSplat(1)), TakeXIfReal},
      {Match("RealDiv", Any("x"), ConstSplat(1)), TakeXIfReal},
      {Match("Sub", Any("x"), ConstSplat(0)), TakeXIfReal},
      {Match("Add", Any("x"), ConstSplat(0)), TakeXIfInteger},
      {Match("AddV2", Any("x"), ConstSplat(0)), TakeXIfInteger},
      {Match("Neg", Match("Neg", Any("x"))), TakeXTwiceNegated},
      {Match("Cast", Any("x")), TakeXIfSameType},
      {Match("Reshape", Match("Reshape", Any("x"), Any("s")), Any("shape")), SkipFirstReshape},
      {Match("Reshape", Any("x"), Any("shape")), TakeXIfSameShape},
      {Match("Transpose", Any("x"), Constant("perm")), TakeXIfInOrder},
      {Match("Transpose", Match("Transpose", Any("x"), Constant("p")), Constant("q")),
       MergePermutations},
  };
  return *table;
}

// ---- their application ----

class Simplifier {
 public:
  explicit Simplifier(Graph& graph) : graph_(graph) {
    for (const Rewrite& rewrite : Simplifications()) {
      const OpInfo* op = graph.registry().Find(rewrite.pattern.name);
      if (op != nullptr) rewrites_[op].push_back(&rewrite);
    }
  }

  Status Run() {
    TRY_ASSIGN(const std::vector<NodeId> order, graph_.TopologicalOrder());
    replaced_.assign(static_cast<size_t>(graph_.num_nodes()), {});
    for (const NodeId id : order) {
      for (OutputRef& input : graph_.node(id).inputs) {
        const bool was_there = input.node < static_cast<NodeId>(replaced_.size());
        if (was_there && replaced_[input.node].node != kNoNode) input = replaced_[input.node];
      }
      Simplify(id);
    }
    RemoveUnread(graph_, std::move(unread_));
    return OkStatus();
  }

 private:
  void Simplify(NodeId id) {
    constexpr int kMaxRewrites = 16;
    for (int i = 0; i < kMaxRewrites; ++i) {
      const std::vector<OutputRef> before = graph_.node(id).inputs;
      const OutputRef value = Apply(id);
      if (value.node == kNoNode) return;
      if (value.node != id) {
        replaced_[id] = value;
        unread_.push_back(id);
        return;
      }
      for (const OutputRef& input : before) unread_.push_back(input.node);
    }
  }

  OutputRef Apply(NodeId id) {
    const Node& node = graph_.node(id);
    const auto it = rewrites_.find(node.op);
    if (it == rewrites_.end()) return kDoesNotApply;
    // Readers of the node may rely on what it waits for, and on when it reads a variable.
    if (!node.op->traits.pure || !node.control_inputs.empty() || ReadsVariable(graph_, node)) {
      return kDoesNotApply;
    }
    for (const Rewrite* rewrite : it->second) {
      Found found(&graph_, id);
      if (!found.MatchRoot(rewrite->pattern)) continue;
      const OutputRef value = rewrite->rule(found);
      if (value.node != kNoNode && MayStandFor(value, id)) return value;
    }
    return kDoesNotApply;
  }

  // A value that the user has put on a device stays there.
  bool MayStandFor(OutputRef value, NodeId id) const {
    const std::string& device = graph_.node(id).device;
    return value.node == id || device.empty() || device == graph_.node(value.node).device;
  }

  Graph& graph_;
  std::unordered_map<const OpInfo*, std::vector<const Rewrite*>> rewrites_;
  std::vector<OutputRef> replaced_;  // by node: what stands for its output, if anything
  std::vector<NodeId> unread_;       // may have lost their last reader
};

}  // namespace

Status Simplify(Graph& graph) { return Simplifier(graph).Run(); }

}  // namespace penstock
