#include <string>

#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/segment.h"

namespace penstock::ops {
namespace {

// The segments of one node, as its derivative speaks of them.
class Segments {
 public:
  explicit Segments(const Gradients& g)
      : scope_(g.scope()),
        ids_(g.input(1).dtype() == DType::kInt16 ? CastTo(g.input(1), DType::kInt32) : g.input(1)),
        is_numbered_(g.num_inputs() == 3) {
    if (!is_numbered_) {
      places_ = ids_;
      return;
    }
    number_ = g.input(2);
    const Expr zero = scope_.Like(ids_, 0);
    places_ = Op("Maximum", ids_, zero);
    is_counted_ = Op("GreaterEqual", ids_, zero);
  }

  Expr Sum(const Expr& rows) const { return Fold("SegmentSum", rows); }
  Expr Product(const Expr& rows) const { return Fold("SegmentProd", rows); }
  // Gives each row the value of its segment; what rows that were left out get is not said.
  Expr Spread(const Expr& segments) const {
    return Op("GatherV2", segments, places_, IntScalar(scope_, 0));
  }
  // `rows` where they were counted, zeros elsewhere.
  Expr Counted(const Expr& rows) const {
    return is_numbered_ ? Op("SelectV2", IsCounted(rows), rows, scope_.Like(rows, 0)) : rows;
  }
  Expr AndCounted(const Expr& rows) const {
    return is_numbered_ ? Op("LogicalAnd", rows, IsCounted(rows)) : rows;
  }
  // The ids under the rank of `rows`.
  Expr ByRow(const Expr& ids, const Expr& rows) const {
    const Expr trailing = Op("Reshape", Op("Rank", rows) - Op("Rank", ids), IntVector(scope_, {1}));
    return Op(
        "Reshape", ids,
        scope_.Add("ConcatV2",
                   {ShapeOf(ids), Op("Fill", trailing, IntScalar(scope_, 1)), IntScalar(scope_, 0)},
                   {{"N", 2}}));
  }
  const Expr& ids() const { return ids_; }

 private:
  Expr Fold(std::string_view op, const Expr& rows) const {
    if (!is_numbered_) return Op(op, rows, ids_);
    return Op("Unsorted" + std::string(op), rows, ids_, number_);
  }
  Expr IsCounted(const Expr& rows) const { return ByRow(is_counted_, rows); }

  const Scope& scope_;
  const Expr ids_;
  const bool is_numbered_;
  Expr number_;
  Expr places_;
  Expr is_counted_;
};

// The rows that are the extreme share the gradient of their segment.
Expr ExtremeGradient(const Gradients& g, const Segments& segments) {
  const Expr chosen = segments.AndCounted(Op("Equal", g.input(0), segments.Spread(g.output(0))));
  const Expr count = segments.Sum(CastTo(chosen, g.dy().dtype()));
  const Expr share = segments.Spread(g.dy() / count);
  return Op("SelectV2", chosen, share, g.scope().Like(share, 0));
}

// The product over the element, or over all others where the element is zero.
Expr ProductGradient(const Gradients& g, const Segments& segments) {
  const Scope& s = g.scope();
  const Expr x = g.input(0);
  const Expr is_zero = Op("Equal", x, s.Like(x, 0));
  const Expr zeros = segments.Sum(CastTo(is_zero, DType::kInt32));
  const Expr dy = Op("SelectV2", Op("Greater", zeros, IntScalar(s, 1)), s.Like(g.dy(), 0), g.dy());
  const Expr others = Op("SelectV2", is_zero, s.Like(x, 1), x);
  const Expr partial = Op("SelectV2", is_zero, segments.Spread(segments.Product(others)),
                          segments.Spread(g.output(0)) / others);
  return segments.Counted(segments.Spread(dy)) * partial;
}

Expr MeanGradient(const Gradients& g, const Segments& segments) {
  const Expr ones = Op("OnesLike", CastTo(segments.ids(), g.dy().dtype()));
  const Expr counts = segments.ByRow(segments.Sum(ones), g.dy());
  return segments.Spread(g.dy() / counts);
}

}  // namespace

void SegmentGradient(Gradients& g, SegmentFold fold) {
  const Segments segments(g);
  switch (fold) {
    case SegmentFold::kSum:
      return g.Set(0, segments.Counted(segments.Spread(g.dy())));
    case SegmentFold::kMean:
      return g.Set(0, MeanGradient(g, segments));
    case SegmentFold::kProd:
      return g.Set(0, ProductGradient(g, segments));
    case SegmentFold::kMin:
    case SegmentFold::kMax:
      return g.Set(0, ExtremeGradient(g, segments));
  }
}

}  // namespace penstock::ops
