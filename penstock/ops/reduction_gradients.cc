#include <algorithm>
#include <optional>
#include <vector>

#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/reduction.h"

namespace penstock::ops {
namespace {

// The reduced axes in ascending order, where the graph knows them.
std::optional<std::vector<int64_t>> KnownAxes(const Gradients& g) {
  const Shape& shape = g.input(0).shape();
  const Tensor* constant = ConstantValue(g.scope().graph(), g.input(1).ref());
  if (!shape.has_rank() || constant == nullptr) return std::nullopt;
  std::vector<int64_t> axes =
      Integers(Known{&constant->shape(), constant->dtype(), constant}).values();
  for (int64_t& axis : axes) axis = axis < 0 ? axis + shape.rank() : axis;
  std::sort(axes.begin(), axes.end());
  return axes;
}

// For each axis of the input 1 where it is reduced, else 0: an int32 vector.
Expr ReducedMask(const Gradients& g) {
  const Scope& s = g.scope();
  const Expr rank = Op("Rank", g.input(0));
  const Expr axes = Op("Reshape", CastTo(g.input(1), DType::kInt32), IntVector(s, {-1, 1}));
  const Expr all = s.Add("Range", {IntScalar(s, 0), rank, IntScalar(s, 1)});
  // A scalar has no axes: the divisor only has to differ from 0.
  const Expr divisor = Op("Maximum", rank, IntScalar(s, 1));
  const Expr hit = Op("Equal", Op("FloorMod", axes + rank, divisor), all);
  return CastTo(Op("Any", hit, IntScalar(s, 0)), DType::kInt32);
}

// `e`, of the output's shape, with the reduced axes as axes of one element.
Expr KeepDims(const Gradients& g, bool keep_dims, Expr e) {
  if (keep_dims) return e;
  if (const auto axes = KnownAxes(g)) {
    for (const int64_t axis : *axes) e = Op("ExpandDims", e, IntScalar(g.scope(), axis));
    return e;
  }
  const Expr mask = ReducedMask(g);
  const Expr shape = ShapeOf(g.input(0));
  return Op("Reshape", e, shape * (1 - mask) + mask);
}

Expr Spread(const Gradients& g, bool keep_dims, const Expr& e) {
  return Op("BroadcastTo", KeepDims(g, keep_dims, e), ShapeOf(g.input(0)));
}

// How many elements went into each output, as a number of the input's type.
Expr ElementsPerOutput(const Gradients& g) {
  const auto in = g.input(0).shape().CheckedNumElements();
  const auto out = g.output(0).shape().CheckedNumElements();
  if (in && out) {
    return g.scope().Like(g.input(0), static_cast<double>(*in / std::max<int64_t>(*out, 1)));
  }
  const AttrMap wide = {{"out_type", DType::kInt64}};
  const Expr most =
      Op("Maximum", Op("Size", g.output(0), wide), IntScalar(g.scope(), 1, DType::kInt64));
  return CastTo(Op("FloorDiv", Op("Size", g.input(0), wide), most), g.input(0).dtype());
}

// The extremes of an output share its gradient.
void ShareAmongExtremes(Gradients& g, bool keep_dims) {
  const Expr y = KeepDims(g, keep_dims, g.output(0));
  const Expr chosen = CastTo(Op("Equal", y, g.input(0)), g.dy().dtype());
  const Expr count = Op("Sum", chosen, g.input(1), {{"keep_dims", true}});
  g.Set(0, chosen / count * KeepDims(g, keep_dims, g.dy()));
}

}  // namespace

void Sum::Gradient(Gradients& g) const { g.Set(0, Spread(g, keep_dims, g.dy())); }

void Mean::Gradient(Gradients& g) const {
  g.Set(0, Spread(g, keep_dims, g.dy() / ElementsPerOutput(g)));
}

// The product of all others, without dividing: zeros among the inputs do not hurt.
void Prod::Gradient(Gradients& g) const {
  const Scope& s = g.scope();
  const Expr x = g.input(0);
  const Expr shape = ShapeOf(x);
  const Expr mask = Op("Cast", ReducedMask(g), {{"DstT", DType::kBool}});
  const Expr flat = IntVector(s, {-1});
  const Expr reduced = CastTo(Op("Reshape", Op("Where", mask), flat), DType::kInt32);
  const Expr kept = CastTo(Op("Reshape", Op("Where", Op("LogicalNot", mask)), flat), DType::kInt32);
  const Expr zero = IntScalar(s, 0);
  const Expr order = s.Add("ConcatV2", {reduced, kept, zero}, {{"N", 2}});
  const Expr rows = Op("Prod", Op("GatherV2", shape, reduced, zero), zero);
  const Expr columns = Op("Prod", Op("GatherV2", shape, kept, zero), zero);
  const Expr permuted = Op("Transpose", x, order);
  const Expr matrix = Op("Reshape", permuted, s.Add("Pack", {rows, columns}, {{"N", 2}}));
  const Expr before = Op("Cumprod", matrix, zero, {{"exclusive", true}});
  const Expr after = Op("Cumprod", matrix, zero, {{"exclusive", true}, {"reverse", true}});
  const Expr others = Op("Reshape", Conj(before) * Conj(after), ShapeOf(permuted));
  g.Set(0, Spread(g, keep_dims, g.dy()) * Op("Transpose", others, Op("InvertPermutation", order)));
}

void Max::Gradient(Gradients& g) const { ShareAmongExtremes(g, keep_dims); }

void Min::Gradient(Gradients& g) const { ShareAmongExtremes(g, keep_dims); }

void EuclideanNorm::Gradient(Gradients& g) const {
  const Expr norm = KeepDims(g, keep_dims, g.output(0));
  g.Set(0, g.input(0) / (norm / KeepDims(g, keep_dims, g.dy())));
}

}  // namespace penstock::ops
