#include "penstock/ops/sparse/sparse_segment.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "penstock/core/checked.h"
#include "penstock/kernels/bucket_order.h"
#include "penstock/kernels/row_sums.h"
#include "penstock/kernels/scatter.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/index_rows.h"
#include "penstock/ops/store_integers.h"

namespace penstock::ops {
namespace {

Status CheckIndexPairs(const Shape& data, const Shape& indices, const Shape& segment_ids,
                       std::string_view what) {
  TRY(CheckRankAtLeast(data, 1, what));
  TRY(CheckVector(indices, "indices"));
  TRY(CheckVector(segment_ids, "segment_ids"));
  if (indices.IsCompatibleWith(segment_ids)) return OkStatus();
  return InvalidArgument("indices and segment_ids must have the same length: {} vs {}", indices,
                         segment_ids);
}

Result<Shape> WithRows(const Shape& data, int64_t rows) {
  if (!data.has_rank()) return data;
  std::vector<int64_t> dims(data.dims().begin(), data.dims().end());
  dims[0] = rows;
  return Shape::Make(dims);
}

Status CheckRange(const Tensor& indices, int64_t limit, std::string_view what) {
  const int64_t bad =
      kernels::FirstOutOfRange(indices.data<int64_t>(), indices.num_elements(), limit);
  if (bad < 0) return OkStatus();
  return InvalidArgument("{}[{}] = {} is not in [0, {})", what, bad, indices.data<int64_t>()[bad],
                         limit);
}

Status CheckSorted(std::span<const int64_t> ids) {
  for (size_t i = 0; i < ids.size(); ++i) {
    const int64_t least = i == 0 ? 0 : ids[i - 1];
    if (ids[i] < least) {
      return InvalidArgument("segment_ids must be sorted and not negative, got {} after {}", ids[i],
                             least);
    }
  }
  return OkStatus();
}

template <class Number>
Number ScaleOf(SegmentScale scale, int64_t count) {
  if (scale == SegmentScale::kNone || count <= 1) return Number(1);
  const auto n = static_cast<Number>(count);
  return Number(1) / (scale == SegmentScale::kMean ? n : std::sqrt(n));
}

// Rows of `table`, and which of them make up each row of the result.
struct Pooling {
  const Tensor* table = nullptr;
  int64_t groups = 0;
  const int64_t* starts = nullptr;
  const int64_t* rows = nullptr;
};

template <class T>
kernels::RowSums<T> SumsOf(const Pooling& pooling) {
  kernels::RowSums<T> sums;
  const Shape& shape = pooling.table->shape();
  sums.table = pooling.table->data<T>();
  sums.columns = ProductOf(shape, 1, shape.rank());
  sums.starts = pooling.starts;
  sums.groups = pooling.groups;
  sums.rows = pooling.rows;
  return sums;
}

template <class T>
Status Pool(CpuContext& context, SegmentScale scale, const Pooling& pooling, Tensor& output) {
  kernels::RowSums<T> sums = SumsOf<T>(pooling);
  Tensor scales;
  using Number = typename kernels::RowSums<T>::Number;
  if constexpr (std::is_floating_point_v<Number>) {
    if (scale != SegmentScale::kNone) {
      TRY_ASSIGN(scales, context.Allocate(kDTypeOf<Number>, Shape{pooling.groups}));
      for (int64_t g = 0; g < pooling.groups; ++g) {
        scales.mutable_data<Number>()[g] =
            ScaleOf<Number>(scale, pooling.starts[g + 1] - pooling.starts[g]);
      }
      sums.scales = scales.data<Number>();
    }
  }
  kernels::SumRows(sums, output.mutable_data<T>(), context.parallel());
  return OkStatus();
}

// The indices, grouped, and for each the row of the gradient that it gets, with its weight.
template <class T>
Status Spread(CpuContext& context, SegmentScale scale, const Tensor& grad,
              std::span<const int64_t> ids, std::span<const int64_t> order,
              std::span<const int64_t> starts, Tensor& output) {
  using Number = typename kernels::RowSums<T>::Number;
  const auto n = static_cast<int64_t>(ids.size());
  TRY_ASSIGN(Tensor rows, context.Allocate(DType::kInt64, Shape{n}));
  for (int64_t k = 0; k < n; ++k) rows.mutable_data<int64_t>()[k] = ids[order[k]];
  kernels::RowSums<T> sums = SumsOf<T>(
      {&grad, static_cast<int64_t>(starts.size()) - 1, starts.data(), rows.data<int64_t>()});
  Tensor counts, weights;
  if (scale != SegmentScale::kNone) {
    const int64_t segments = grad.shape()[0];
    TRY_ASSIGN(counts, context.Allocate(DType::kInt64, Shape{segments}));
    TRY_ASSIGN(weights, context.Allocate(kDTypeOf<Number>, Shape{n}));
    const auto count = counts.mutable_values<int64_t>();
    std::fill(count.begin(), count.end(), 0);
    for (const int64_t id : ids) ++count[id];
    for (int64_t k = 0; k < n; ++k) {
      weights.mutable_data<Number>()[k] = ScaleOf<Number>(scale, count[rows.data<int64_t>()[k]]);
    }
    sums.weights = weights.data<Number>();
  }
  kernels::SumRows(sums, output.mutable_data<T>(), context.parallel());
  return OkStatus();
}

using Floats = Types<float, double, half, bfloat16>;

}  // namespace

Result<Shape> InferSparseSegment(const Shape& data, const Shape& indices,
                                 const Shape& segment_ids) {
  TRY(CheckIndexPairs(data, indices, segment_ids, "data"));
  return WithRows(data, Shape::kUnknownDim);
}

Result<Shape> InferSparseSegment(const Shape& data, const Shape& indices, const Shape& segment_ids,
                                 const Integers& num_segments) {
  TRY(CheckIndexPairs(data, indices, segment_ids, "data"));
  TRY(CheckScalar(num_segments.shape(), "num_segments"));
  if (!num_segments.known()) return WithRows(data, Shape::kUnknownDim);
  if (num_segments[0] < 0)
    return InvalidArgument("num_segments must not be negative, got {}", num_segments[0]);
  return WithRows(data, num_segments[0]);
}

Result<Shape> InferSparseSegmentGrad(const Shape& grad, const Shape& indices,
                                     const Shape& segment_ids, const Integers& output_rows) {
  TRY(CheckIndexPairs(grad, indices, segment_ids, "grad"));
  TRY(CheckScalar(output_rows.shape(), "output_dim0"));
  if (!output_rows.known()) return WithRows(grad, Shape::kUnknownDim);
  if (output_rows[0] < 0)
    return InvalidArgument("output_dim0 must not be negative, got {}", output_rows[0]);
  return WithRows(grad, output_rows[0]);
}

Status PoolSegments(CpuContext& context, SegmentScale scale, const Tensor& data,
                    const Tensor& indices, const Tensor& segment_ids, int64_t num_segments) {
  TRY_ASSIGN(const Tensor rows, WidenIndices(context, indices));
  TRY_ASSIGN(const Tensor wide, WidenIndices(context, segment_ids));
  TRY(CheckRange(rows, data.shape()[0], "indices"));
  const auto ids = wide.values<int64_t>();
  TRY(CheckSorted(ids));
  int64_t segments = num_segments;
  if (segments < 0) {
    const auto more = ids.empty() ? 0 : CheckedAdd(ids.back(), 1);
    if (!more) return InvalidArgument("segment_ids are too large, got {}", ids.back());
    segments = *more;
  } else if (!ids.empty() && ids.back() >= segments) {
    return InvalidArgument("segment_ids must be below num_segments = {}, got {}", segments,
                           ids.back());
  }
  TRY_ASSIGN(const Shape shape, WithRows(data.shape(), segments));
  TRY(context.AllocateOutput(0, data.dtype(), shape));
  const auto bounds = CheckedAdd(segments, 1);
  if (!bounds) return InvalidArgument("num_segments is too large, got {}", segments);
  // The ids are sorted: their segments are runs.
  TRY_ASSIGN(Tensor starts, context.Allocate(DType::kInt64, Shape{*bounds}));
  int64_t at = 0;
  for (int64_t s = 0; s <= segments; ++s) {
    while (at < static_cast<int64_t>(ids.size()) && ids[at] < s) ++at;
    starts.mutable_data<int64_t>()[s] = at;
  }
  const Pooling pooling{&data, segments, starts.data<int64_t>(), rows.data<int64_t>()};
  return ForDType(data.dtype(), PlainRealNumbers(),
                  [&]<class T>() { return Pool<T>(context, scale, pooling, context.output(0)); });
}

Status SpreadSegments(CpuContext& context, SegmentScale scale, const Tensor& grad,
                      const Tensor& indices, const Tensor& segment_ids, Tensor& output) {
  TRY_ASSIGN(const Tensor rows, WidenIndices(context, indices));
  TRY_ASSIGN(const Tensor ids, WidenIndices(context, segment_ids));
  const int64_t limit = output.shape()[0], n = rows.num_elements();
  TRY(CheckRange(rows, limit, "indices"));
  TRY(CheckRange(ids, grad.shape()[0], "segment_ids"));
  TRY_ASSIGN(Tensor starts, context.Allocate(DType::kInt64, Shape{limit + 1}));
  TRY_ASSIGN(Tensor order, context.Allocate(DType::kInt64, Shape{n}));
  kernels::OrderByBucket(rows.data<int64_t>(), n, limit, starts.mutable_data<int64_t>(),
                         order.mutable_data<int64_t>());
  return ForDType(grad.dtype(), Floats(), [&]<class T>() {
    return Spread<T>(context, scale, grad, ids.values<int64_t>(), order.values<int64_t>(),
                     starts.values<int64_t>(), output);
  });
}

Status SpreadSegmentsToUnique(CpuContext& context, SegmentScale scale, const Tensor& grad,
                              const Tensor& indices, const Tensor& segment_ids, int64_t limit) {
  TRY_ASSIGN(const Tensor rows, WidenIndices(context, indices));
  TRY_ASSIGN(const Tensor ids, WidenIndices(context, segment_ids));
  const int64_t n = rows.num_elements();
  TRY(CheckRange(rows, limit, "indices"));
  TRY(CheckRange(ids, grad.shape()[0], "segment_ids"));
  TRY_ASSIGN(Tensor scratch, context.Allocate(DType::kInt64, Shape{3 * n + 1}));
  const auto order = scratch.mutable_values<int64_t>().subspan(0, n);
  const auto unique = scratch.mutable_values<int64_t>().subspan(n, n);
  const auto starts = scratch.mutable_values<int64_t>().subspan(2 * n, n + 1);
  const int64_t* row = rows.data<int64_t>();
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [row](int64_t a, int64_t b) { return row[a] < row[b]; });
  int64_t groups = 0;
  for (int64_t k = 0; k < n; ++k) {
    if (k > 0 && row[order[k]] == row[order[k - 1]]) continue;
    unique[groups] = row[order[k]];
    starts[groups++] = k;
  }
  starts[groups] = n;
  TRY_ASSIGN(const Shape shape, WithRows(grad.shape(), groups));
  TRY(context.AllocateOutput(0, grad.dtype(), shape));
  TRY(context.AllocateOutput(1, indices.dtype(), Shape{groups}));
  TRY(StoreIntegers(unique.first(groups), context.output(1)));
  return ForDType(grad.dtype(), Floats(), [&]<class T>() {
    return Spread<T>(context, scale, grad, ids.values<int64_t>(), order, starts.first(groups + 1),
                     context.output(0));
  });
}

void SparseSegmentGradient(Gradients& g, SegmentScale scale) {
  const Scope& s = g.scope();
  const char* const name = scale == SegmentScale::kNone   ? "SparseSegmentSumGrad"
                           : scale == SegmentScale::kMean ? "SparseSegmentMeanGrad"
                                                          : "SparseSegmentSqrtNGrad";
  const Expr rows =
      Op("Reshape", Op("Slice", ShapeOf(g.input(0)), IntVector(s, {0}), IntVector(s, {1})),
         IntVector(s, {}));
  g.Set(0, s.Add(name, {g.dy(), g.input(1), g.input(2), rows}));
}

void RegisterSparseSegment(Registrar& registrar) {
  registrar.AddAll<SparseSegmentSum, SparseSegmentMean, SparseSegmentSqrtN>();
  registrar.AddAll<SparseSegmentSumWithNumSegments, SparseSegmentMeanWithNumSegments,
                   SparseSegmentSqrtNWithNumSegments>();
  registrar.AddAll<SparseSegmentSumGrad, SparseSegmentMeanGrad, SparseSegmentSqrtNGrad>();
  registrar.AddAll<SparseSegmentSumGradV2, SparseSegmentMeanGradV2, SparseSegmentSqrtNGradV2>();
}

}  // namespace penstock::ops
