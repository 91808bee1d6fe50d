#include "penstock/ops/segment.h"

#include <algorithm>

#include "penstock/core/checked.h"
#include "penstock/kernels/math_wrap.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/index_rows.h"

namespace penstock::ops {
namespace {

// Columns that one thread sums.
constexpr int64_t kColumns = 256;

template <class T>
void SumRows(const T* data, const int64_t* ids, int64_t rows, int64_t columns, int64_t segments,
             T* out, const ParallelFor& each) {
  const int64_t blocks = (columns + kColumns - 1) / kColumns;
  const double cost =
      static_cast<double>(rows + segments) * static_cast<double>(std::min(columns, kColumns));
  // Each block adds its rows in order, whatever the threads.
  each(blocks, cost, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * kColumns, last = std::min(columns, end * kColumns);
    for (int64_t s = 0; s < segments; ++s) {
      std::fill(out + s * columns + first, out + s * columns + last, T(0));
    }
    for (int64_t r = 0; r < rows; ++r) {
      if (ids[r] < 0) continue;
      const T* from = data + r * columns;
      T* to = out + ids[r] * columns;
      for (int64_t c = first; c < last; ++c) to[c] = math::Add(to[c], from[c]);
    }
  });
}

}  // namespace

Result<Shape> UnsortedSegmentSum::InferShape(const Shape& data, const Shape& segment_ids,
                                             const Integers& num_segments) const {
  TRY(CheckScalar(num_segments.shape(), "num_segments"));
  int64_t segments = Shape::kUnknownDim;
  if (num_segments.known()) {
    segments = num_segments[0];
    if (segments < 0) {
      return InvalidArgument("num_segments must not be negative, got {}", segments);
    }
  }
  if (!segment_ids.has_rank() || !data.has_rank()) return Shape::Unknown();
  if (data.rank() < segment_ids.rank() ||
      !data.Slice(0, segment_ids.rank()).IsCompatibleWith(segment_ids)) {
    return InvalidArgument("data's shape must begin with the shape of segment_ids: {} vs {}", data,
                           segment_ids);
  }
  Shape out{segments};
  for (int axis = segment_ids.rank(); axis < data.rank(); ++axis) out.Append(data.dim(axis));
  return Shape::Make(out.dims());
}

Status UnsortedSegmentSum::ComputeCpu(CpuContext& context, const Tensor& data,
                                      const Tensor& segment_ids, const Integers& num_segments,
                                      Tensor& output) const {
  TRY_ASSIGN(const Tensor ids, WidenIndices(context, segment_ids));
  const int64_t rows = ids.num_elements();
  const int64_t segments = num_segments[0];
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t id = ids.data<int64_t>()[r];
    if (id >= 0 && !InRange(id, segments)) {
      return InvalidArgument("segment_ids must be below num_segments = {}, got {} at place {}",
                             segments, id, r);
    }
  }
  const int64_t columns = ProductOf(output.shape(), 1, output.shape().rank());
  return ForDType(data.dtype(), PlainNumbers(), [&]<class T>() {
    SumRows(data.data<T>(), ids.data<int64_t>(), rows, columns, segments, output.mutable_data<T>(),
            context.parallel());
    return OkStatus();
  });
}

// Each row gets the gradient of its segment, rows that were left out get none.
void UnsortedSegmentSum::Gradient(Gradients& g) const {
  const Scope& s = g.scope();
  const Expr ids =
      g.input(1).dtype() == DType::kInt64 ? g.input(1) : CastTo(g.input(1), DType::kInt32);
  const Expr zero = s.Like(ids, 0);
  const Expr rows = Op("GatherV2", g.dy(), Op("Maximum", ids, zero), IntScalar(s, 0));
  const Expr trailing = Op("Reshape", Op("Rank", rows) - Op("Rank", ids), IntVector(s, {1}));
  const Expr shape =
      s.Add("ConcatV2", {ShapeOf(ids), Op("Fill", trailing, IntScalar(s, 1)), IntScalar(s, 0)},
            {{"N", 2}});
  const Expr counted = Op("Reshape", Op("GreaterEqual", ids, zero), shape);
  g.Set(0, Op("SelectV2", counted, rows, s.Like(rows, 0)));
}

void RegisterSegment(Registrar& registrar) { registrar.Add<UnsortedSegmentSum>(); }

}  // namespace penstock::ops
