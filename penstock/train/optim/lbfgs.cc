#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/client/error.h"
#include "penstock/train/optim/numbers.h"
#include "penstock/train/optim/optimizers.h"
#include "penstock/train/optim/rule.h"
#include "penstock/train/optim/slots.h"

namespace penstock {
namespace optim_internal {
namespace {

// Steps whose gradient changed by less along them tell nothing of the curvature.
constexpr double kLeastCurvature = 1e-10;

Expr Dot(const Expr& a, const Expr& b) {
  return Op("Sum", a * b, a.scope().Constant(Tensor::Scalar<int32_t>(0)));
}
Expr Int64(const Scope& scope, int64_t value) {
  return scope.Constant(Tensor::Scalar<int64_t>(value));
}
Expr Choose(const Expr& condition, const Expr& yes, const Expr& no) {
  return Op("SelectV2", condition, yes, no);
}
Expr Row(const Expr& matrix, const Expr& index) {
  return matrix.scope().Add("GatherV2", {matrix, index, Int64(matrix.scope(), 0)});
}

// N elements in all variables, m pairs of the history, kept in a ring.
class LbfgsRule final : public Rule {
 public:
  explicit LbfgsRule(const LBFGS& options) : options_(options) {}

  std::string name() const override { return "lbfgs"; }
  const Rate& rate() const override { return options_.rate; }
  Status Check() const override {
    if (options_.history < 1 || options_.history > 1000)
      return InvalidArgument("history must be in [1, 1000], got {}", options_.history);
    return OkStatus();
  }

  void Prepare(Graph& graph, const std::vector<Parameter>& parameters, Output<float> rate,
               CallSite site) override {
    rate_ = rate.ref();
    dtype_ = parameters[0].dtype;
    int64_t n = 0;
    for (const Parameter& parameter : parameters) {
      const std::optional<int64_t> own = parameter.shape.CheckedNumElements();
      if (parameter.dtype != dtype_ || !own || *own > INT64_MAX - n)
        throw Error(InvalidArgument("L-BFGS needs variables of one type and known shapes: {}",
                                    parameter.name),
                    site);
      n += *own;
    }
    const auto slot = [&](const char* own, const Shape& shape, double initial) {
      return MakeSlot(graph,
                      {.name = std::string("lbfgs/") + own,
                       .dtype = dtype_,
                       .shape = shape,
                       .initial = initial},
                      site);
    };
    const int64_t m = options_.history;
    gradient_ = slot("gradient", {n}, 0);
    step_ = slot("step", {n}, 0);
    steps_ = slot("steps", {m, n}, 0);
    changes_ = slot("changes", {m, n}, 0);
    inverses_ = slot("inverse_curvatures", {m}, 0);
    scale_ = slot("scale", {}, 1);
    pairs_ = MakeSlot(graph, {.name = "lbfgs/pairs", .dtype = DType::kInt64}, site);
  }

  std::vector<NodeId> Apply(const Scope& scope, const GradientList& gradients) override {
    const Expr g = Flatten(scope, gradients);
    const Pair pair = MeasurePair(scope, g);
    const std::vector<NodeId> kept = Keep(scope, pair);
    const Scope after = scope.After(kept);
    const Expr d = Direction(after, g, pair);
    // Nothing is known of the curvature yet: not too far.
    const Expr one = after.Like(g, 1);
    const Expr shortened = Op("Minimum", one, 1.0 / Norm1(after, g));
    const Expr rate = CastTo(Expr(&after, rate_), dtype_);
    const Expr step = d * (Choose(pair.is_first, shortened, one) * rate);
    std::vector<NodeId> updates = Move(after, step, gradients);
    const auto assign = [&](const Parameter& slot, const Expr& value) {
      updates.push_back(AddUpdateNode(after, "AssignVariableOp", {HandleOf(after, slot), value}));
    };
    assign(gradient_, g);
    assign(step_, step);
    assign(scale_, pair.scale);
    assign(pairs_, pair.count);
    return updates;
  }

 private:
  // What the last step and this gradient say about the curvature.
  struct Pair {
    Expr step, change, curvature;
    Expr is_new;      // worth keeping
    Expr is_first;    // no step was made yet
    Expr scale;       // of the identity that the direction begins with
    Expr row, count;  // where it goes, and how many there are with it
  };

  Expr Flatten(const Scope& scope, const GradientList& gradients) const {
    const Expr flat = scope.Constant(Dims({-1}));
    std::vector<Expr> parts;
    for (const ParameterGradient& item : gradients.items)
      parts.push_back(Op("Reshape", Expr(&scope, item.gradient.dense), flat));
    if (parts.size() == 1) return parts[0];
    const auto count = static_cast<int64_t>(parts.size());
    parts.push_back(scope.Constant(Tensor::Scalar<int32_t>(0)));
    return scope.Add("ConcatV2", parts, {{"N", count}});
  }
  static Expr Norm1(const Scope& scope, const Expr& g) {
    return Dot(Op("Abs", g), scope.Like(g, 1));
  }

  Pair MeasurePair(const Scope& scope, const Expr& g) const {
    Pair pair;
    pair.step = Read(scope, step_);
    pair.change = g - Read(scope, gradient_);
    pair.curvature = Dot(pair.change, pair.step);
    pair.is_new = Op("Greater", pair.curvature, scope.Like(g, kLeastCurvature));
    const Expr squares = Dot(pair.step, pair.step);
    pair.is_first = Op("Equal", squares, scope.Like(g, 0));
    pair.scale =
        Choose(pair.is_new, pair.curvature / Dot(pair.change, pair.change), Read(scope, scale_));
    const Expr pairs = Read(scope, pairs_);
    pair.row = Op("FloorMod", pairs, Int64(scope, options_.history));
    pair.count = pairs + CastTo(pair.is_new, DType::kInt64);
    return pair;
  }

  // Puts the pair into its row, if it is worth it.
  std::vector<NodeId> Keep(const Scope& scope, const Pair& pair) const {
    const auto put = [&](const Parameter& slot, const Expr& value) {
      const Expr row = Choose(pair.is_new, value, Row(Read(scope, slot), pair.row));
      return AddUpdateNode(scope, "ResourceScatterUpdate", {HandleOf(scope, slot), pair.row, row},
                           {{"dtype", dtype_}});
    };
    return {put(steps_, pair.step), put(changes_, pair.change),
            put(inverses_, 1.0 / pair.curvature)};
  }

  // The two loops (Nocedal & Wright, algorithm 7.4). An empty row has an inverse curvature of 0
  // and changes nothing.
  Expr Direction(const Scope& scope, const Expr& g, const Pair& pair) const {
    const Expr steps = Read(scope, steps_), changes = Read(scope, changes_),
               inverses = Read(scope, inverses_);
    const Expr size = Int64(scope, options_.history);
    struct Past {
      Expr step, change, inverse, weight;
    };
    std::vector<Past> past;
    Expr q = -Expr(&scope, g.ref());
    for (int64_t back = 1; back <= options_.history; ++back) {
      const Expr row = Op("FloorMod", Expr(&scope, pair.count.ref()) - Int64(scope, back), size);
      Past& at =
          past.emplace_back(Past{Row(steps, row), Row(changes, row), Row(inverses, row), {}});
      at.weight = Dot(at.step, q) * at.inverse;
      q = q - at.change * at.weight;
    }
    Expr d = q * pair.scale;
    for (size_t i = past.size(); i-- > 0;) {
      const Past& at = past[i];
      d = d + at.step * (at.weight - Dot(at.change, d) * at.inverse);
    }
    return d;
  }

  // Adds to each variable its part of the step.
  std::vector<NodeId> Move(const Scope& scope, const Expr& step,
                           const GradientList& gradients) const {
    std::vector<NodeId> moves;
    int64_t begin = 0;
    for (const ParameterGradient& item : gradients.items) {
      const Shape& shape = item.parameter.shape;
      const Expr part = scope.Add("Slice", {step, scope.Constant(Dims({begin})),
                                            scope.Constant(Dims({shape.num_elements()}))});
      const Expr own = Op("Reshape", part, scope.Constant(Dims(shape.dims())));
      moves.push_back(
          AddUpdateNode(scope, "AssignAddVariableOp", {HandleOf(scope, item.parameter), own}));
      begin += shape.num_elements();
    }
    return moves;
  }
  template <class Values>
  static Tensor DimsOf(const Values& values) {
    Tensor tensor(DType::kInt64, Shape{static_cast<int64_t>(values.size())});
    std::copy(values.begin(), values.end(), tensor.mutable_data<int64_t>());
    return tensor;
  }
  static Tensor Dims(std::span<const int64_t> values) { return DimsOf(values); }
  static Tensor Dims(std::initializer_list<int64_t> values) { return DimsOf(values); }

  const LBFGS options_;
  DType dtype_ = DType::kFloat;
  OutputRef rate_;
  Parameter gradient_, step_;             // of the last iteration
  Parameter steps_, changes_, inverses_;  // the pairs
  Parameter scale_, pairs_;
};

}  // namespace
}  // namespace optim_internal

optim_internal::RulePtr LBFGS::MakeRule() const {
  return std::make_shared<optim_internal::LbfgsRule>(*this);
}

}  // namespace penstock
