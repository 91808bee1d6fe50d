#include "penstock/graph/gradients.h"

#include <algorithm>
#include <map>
#include <utility>

#include "penstock/graph/flow.h"
#include "penstock/graph/raise_flow.h"
#include "penstock/graph/recompute.h"

namespace penstock {
namespace {

using Key = std::pair<NodeId, int32_t>;
Key KeyOf(OutputRef ref) { return {ref.node, ref.port}; }

// One of the gradients that arrive at a value.
struct Term {
  Expr dense;
  GradientRows rows;  // the same as rows, if it has that form
};

// Ops whose output is their input, as far as derivatives see: rows stay rows.
bool PassesOn(std::string_view op) { return op == "Identity" || op == "ReadVariableOp"; }

class Differentiator {
 public:
  Differentiator(const Scope& scope, const GradientRequest& request)
      : scope_(scope.Sub("gradients")),
        graph_(scope_.graph()),
        request_(request),
        recomputation_(graph_) {
    for (const OutputRef& x : request.xs) is_x_[KeyOf(x)] = true;
    for (const OutputRef& stop : request.stops) is_stop_[KeyOf(stop)] = true;
  }

  Result<std::vector<GradientValue>> Run() {
    TRY_ASSIGN(std::vector<NodeId> order, graph_.TopologicalOrder());
    FindActive(order);
    FindNeeded(order);
    if (NeedsFlow(order)) {
      TRY(RaiseControlFlow(graph_));
      TRY_ASSIGN(order, graph_.TopologicalOrder());
      FindActive(order);
      FindNeeded(order);
    }
    TRY(Seed());
    for (size_t i = order.size(); i-- > 0;) {
      if (needed_[order[i]]) TRY(Differentiate(order[i]));
    }
    TRY(recomputation_.Apply());
    std::vector<GradientValue> results;
    for (const OutputRef& x : request_.xs) {
      GradientValue& result = results.emplace_back();
      const GradientRows rows = JoinedRows(x);
      const Expr sum = Sum(x);
      if (sum.valid()) result.dense = sum.ref();
      if (rows.valid()) {
        result.values = rows.values.ref();
        result.indices = rows.indices.ref();
      }
    }
    TRY(scope_.status());
    return results;
  }

 private:
  // Nodes that depend on an x.
  void FindActive(const std::vector<NodeId>& order) {
    active_.assign(static_cast<size_t>(graph_.num_nodes()), 0);
    for (const NodeId id : order) {
      const std::vector<OutputRef>& inputs = graph_.node(id).inputs;
      active_[id] = std::any_of(inputs.begin(), inputs.end(),
                                [&](OutputRef input) { return IsActive(input); });
    }
  }
  bool IsActive(OutputRef ref) const {
    if (ref.node == kNoNode || is_stop_.contains(KeyOf(ref))) return false;
    return is_x_.contains(KeyOf(ref)) || active_[ref.node];
  }

  // Active nodes on which a y depends.
  void FindNeeded(const std::vector<NodeId>& order) {
    needed_.assign(active_.size(), 0);
    for (const OutputRef& y : request_.ys) needed_[y.node] = active_[y.node];
    for (size_t i = order.size(); i-- > 0;) {
      if (!needed_[order[i]]) continue;
      for (const OutputRef& input : graph_.node(order[i]).inputs) {
        if (IsActive(input)) needed_[input.node] |= active_[input.node];
      }
    }
  }

  bool NeedsFlow(const std::vector<NodeId>& order) const {
    return std::any_of(order.begin(), order.end(), [&](NodeId id) {
      return needed_[id] && FlowOf(*graph_.node(id).op) != Flow::kNone;
    });
  }

  Status Seed() {
    for (size_t i = 0; i < request_.ys.size(); ++i) {
      const OutputRef y = request_.ys[i];
      const DType dtype = graph_.output(y).dtype;
      const bool given = i < request_.dys.size() && request_.dys[i].node != kNoNode;
      if (!given && !IsFloating(dtype) && !IsComplex(dtype)) {
        return InvalidArgument("the gradient of {}: expected a floating or complex type, got {}",
                               graph_.NameOf(y), dtype);
      }
      const Expr dy = given ? Expr(&scope_, request_.dys[i]) : Op("OnesLike", Expr(&scope_, y));
      arrived_[KeyOf(y)].push_back({dy, {}});
    }
    return OkStatus();
  }

  // What arrived at a value, as one node. The terms stay: those who ask for rows may come later.
  Expr Sum(OutputRef ref) {
    const auto it = arrived_.find(KeyOf(ref));
    if (it == arrived_.end() || it->second.empty()) return {};
    const std::vector<Term>& terms = it->second;
    if (terms.size() == 1) return terms[0].dense;
    Expr& sum = sums_[KeyOf(ref)];
    if (!sum.valid()) {
      std::vector<Expr> dense;
      for (const Term& term : terms) dense.push_back(term.dense);
      sum = scope_.Add("AddN", dense, {{"N", static_cast<int64_t>(dense.size())}}, "AddN");
    }
    return sum;
  }

  // The rows that arrived at a value, one after the other; invalid when anything else did.
  GradientRows JoinedRows(OutputRef ref) const {
    const auto it = arrived_.find(KeyOf(ref));
    if (it == arrived_.end() || it->second.empty()) return {};
    std::vector<Expr> values, indices;
    for (const Term& term : it->second) {
      if (!term.rows.valid()) return {};
      values.push_back(term.rows.values);
      indices.push_back(term.rows.indices);
    }
    if (values.size() == 1) return it->second[0].rows;
    for (Expr& part : indices) {
      if (part.dtype() != DType::kInt64) part = Op("Cast", part, {{"DstT", DType::kInt64}});
    }
    const auto join = [&](std::vector<Expr> parts) {
      const AttrMap attrs = {{"N", static_cast<int64_t>(parts.size())}};
      parts.push_back(scope_.Constant(Tensor::Scalar<int32_t>(0)));
      return scope_.Add("ConcatV2", parts, attrs);
    };
    return {join(values), join(indices)};
  }

  Status Differentiate(NodeId id) {
    if (PassesOn(graph_.node(id).op_name())) {
      TRY(CheckNotOverridden(id));
      PassOn(id);
      return OkStatus();
    }
    std::vector<Expr> dys;
    bool any = false;
    for (size_t port = 0; port < graph_.node(id).outputs.size(); ++port) {
      dys.push_back(Sum({id, static_cast<int32_t>(port)}));
      any |= dys.back().valid();
    }
    const OpInfo& op = *graph_.node(id).op;
    if (!any) return OkStatus();
    TRY(CheckNotOverridden(id));
    if (op.no_gradient) return OkStatus();
    if (op.gradient == nullptr) {
      return Unimplemented("the gradient of {}: its op has none", graph_.Describe(id));
    }
    const Scope scope = scope_.Sub(op.def.name + "_grad");
    const NodeId first = graph_.num_nodes();
    Gradients gradients(&scope, graph_, id, dys);
    if (Status status = op.gradient(graph_.node(id).decoded.get(), gradients); !status.ok())
      return status;
    TRY(scope_.status());
    recomputation_.Note(id, dys, first, graph_.num_nodes());
    const std::vector<OutputRef> inputs = graph_.node(id).inputs;
    for (size_t i = 0; i < gradients.results().size(); ++i) {
      const Expr& result = gradients.results()[i];
      if (!result.valid() || !IsActive(inputs[i])) continue;
      Term term{Expr(&scope_, result.ref()), {}};
      if (const GradientRows& rows = gradients.rows(static_cast<int>(i)); rows.valid())
        term.rows = {Expr(&scope_, rows.values.ref()), Expr(&scope_, rows.indices.ref())};
      arrived_[KeyOf(inputs[i])].push_back(term);
    }
    return OkStatus();
  }

  // A graph of TensorFlow may name another derivative than the op's, which lives in the program
  // that wrote it: better an error than wrong numbers. Calls name the derivative of their function.
  Status CheckNotOverridden(NodeId id) const {
    const AttrValue* attr = FindAttr(graph_.node(id).attrs, "_gradient_op_type");
    const std::string* name = attr == nullptr ? nullptr : attr->Get<std::string>();
    if (name == nullptr || *name == graph_.node(id).op_name()) return OkStatus();
    if (name->starts_with("PartitionedCall-")) return OkStatus();
    return Unimplemented("the gradient of {}: the node asks for '{}' (_gradient_op_type)",
                         graph_.Describe(id), *name);
  }

  void PassOn(NodeId id) {
    const OutputRef input = graph_.node(id).inputs[0];
    const auto it = arrived_.find({id, 0});
    if (it == arrived_.end() || !IsActive(input)) return;
    const std::vector<Term> terms = it->second;
    std::vector<Term>& at = arrived_[KeyOf(input)];
    at.insert(at.end(), terms.begin(), terms.end());
  }

  const Scope scope_;
  Graph& graph_;
  const GradientRequest& request_;
  std::map<Key, bool> is_x_, is_stop_;
  std::vector<char> active_, needed_;  // by node, those of before
  std::map<Key, std::vector<Term>> arrived_;
  std::map<Key, Expr> sums_;
  Recomputation recomputation_;
};

}  // namespace

bool IsDifferentiable(DType dtype) {
  return IsFloating(dtype) || IsComplex(dtype) || dtype == DType::kVariant ||
         dtype == DType::kResource;
}

Result<std::vector<GradientValue>> AddSparseGradients(const Scope& scope,
                                                      const GradientRequest& request) {
  const Graph& graph = scope.graph();
  for (const std::vector<OutputRef>* refs :
       {&request.ys, &request.xs, &request.dys, &request.stops}) {
    for (const OutputRef& ref : *refs) {
      if (ref.node == kNoNode && refs == &request.dys) continue;
      if (!graph.IsLive(ref.node) || ref.port < 0 ||
          ref.port >= static_cast<int32_t>(graph.node(ref.node).outputs.size())) {
        return InvalidArgument("a gradient names output {} of node {}, which the graph lacks",
                               ref.port, ref.node);
      }
    }
  }
  return Differentiator(scope, request).Run();
}

Result<std::vector<OutputRef>> AddGradients(const Scope& scope, const GradientRequest& request) {
  TRY_ASSIGN(const std::vector<GradientValue> found, AddSparseGradients(scope, request));
  std::vector<OutputRef> dense;
  for (const GradientValue& value : found) dense.push_back(value.dense);
  return dense;
}

}  // namespace penstock
