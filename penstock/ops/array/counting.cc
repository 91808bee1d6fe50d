#include "penstock/ops/array/counting.h"

#include <algorithm>
#include <span>

#include "penstock/core/checked.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/index_rows.h"
#include "penstock/ops/sparse/sparse_tensor.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

Result<int64_t> BinsOf(const Integers& size) {
  const auto count = size.shape().CheckedNumElements();
  if (count && *count != 1)
    return InvalidArgument("size must be a scalar, got shape {}", size.shape());
  if (!size.known()) return Shape::kUnknownDim;
  if (size[0] < 0) return InvalidArgument("size must not be negative, got {}", size[0]);
  return size[0];
}

Status CheckWeights(const Shape& values, const Shape& weights) {
  const auto count = values.CheckedNumElements(), given = weights.CheckedNumElements();
  if (!count || !given || *given == 0 || *given == *count) return OkStatus();
  return InvalidArgument("weights must be empty or one for each value: {} vs {}", weights, values);
}

Result<Shape> BinsShape(const Shape& values, const Integers& size, const Shape& weights,
                        int64_t rows) {
  TRY(CheckWeights(values, weights));
  TRY_ASSIGN(const int64_t bins, BinsOf(size));
  const int64_t dims[] = {rows, bins};
  return Shape::Make(dims);
}

template <class T>
void Count(std::span<const int64_t> values, std::span<const T> weights, bool binary,
           std::span<T> bins) {
  const auto limit = static_cast<int64_t>(bins.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (!InRange(values[i], limit)) continue;
    T& bin = bins[static_cast<size_t>(values[i])];
    bin = binary ? T(1) : static_cast<T>(bin + (weights.empty() ? T(1) : weights[i]));
  }
}

// Calls count.operator()<T>(values, weights, bins) with all of them as spans; `bins` are zero.
template <class F>
Status WithSpans(CpuContext& context, const Tensor& values, const Tensor& weights, Tensor& bins,
                 F count) {
  TRY_ASSIGN(const Tensor wide, WidenIndices(context, values));
  for (const int64_t value : wide.values<int64_t>()) {
    if (value < 0) return InvalidArgument("values must not be negative, got {}", value);
  }
  ZeroElements(bins, context.parallel());
  return ForDType(bins.dtype(), Types<int32_t, int64_t, float, double>(), [&]<class T>() {
    return count.template operator()<T>(wide.values<int64_t>(), weights.values<T>(),
                                        bins.mutable_values<T>());
  });
}

// Counts of rows that lie one after another, of which row r ends before place ends(r).
template <class Ends>
Status CountRows(CpuContext& context, const Tensor& values, const Tensor& weights, bool binary,
                 int64_t rows, Ends ends, Tensor& output) {
  return WithSpans(
      context, values, weights, output,
      [&]<class T>(std::span<const int64_t> all, std::span<const T> weight, std::span<T> bins) {
        const size_t size = rows == 0 ? 0 : bins.size() / static_cast<size_t>(rows);
        const double cost = static_cast<double>(size + all.size() / std::max<int64_t>(rows, 1));
        context.parallel()(rows, cost, [&](int64_t first, int64_t last) {
          for (int64_t r = first; r < last; ++r) {
            const size_t begin = r == 0 ? 0 : ends(r - 1), n = ends(r) - begin;
            Count<T>(all.subspan(begin, n), weight.empty() ? weight : weight.subspan(begin, n),
                     binary, bins.subspan(static_cast<size_t>(r) * size, size));
          }
        });
        return OkStatus();
      });
}

}  // namespace

Result<Shape> Bincount::InferShape(const Shape& arr, const Integers& size,
                                   const Shape& weights) const {
  TRY(CheckWeights(arr, weights));
  TRY_ASSIGN(const int64_t bins, BinsOf(size));
  return Shape{bins};
}

Status Bincount::ComputeCpu(CpuContext& context, const Tensor& arr, const Integers&,
                            const Tensor& weights, Tensor& bins) const {
  const auto all = static_cast<size_t>(arr.num_elements());
  return CountRows(
      context, arr, weights, false, 1, [all](int64_t) { return all; }, bins);
}

Result<Shape> DenseBincount::InferShape(const Shape& input, const Integers& size,
                                        const Shape& weights) const {
  if (input.has_rank() && input.rank() > 2)
    return InvalidArgument("input must be a vector or a matrix, got shape {}", input);
  if (!input.has_rank()) {
    TRY(BinsOf(size));
    return input;
  }
  if (input.rank() == 2) return BinsShape(input, size, weights, input[0]);
  TRY_ASSIGN(const Shape shape, BinsShape(input, size, weights, 1));
  return shape.Slice(1, 2);
}

Status DenseBincount::ComputeCpu(CpuContext& context, const Tensor& input, const Integers&,
                                 const Tensor& weights, Tensor& output) const {
  const bool is_matrix = input.shape().rank() == 2;
  const int64_t rows = is_matrix ? input.shape()[0] : 1;
  const auto columns = static_cast<size_t>(rows == 0 ? 0 : input.num_elements() / rows);
  return CountRows(
      context, input, weights, binary_output, rows,
      [columns](int64_t r) { return static_cast<size_t>(r + 1) * columns; }, output);
}

Result<Shape> SparseBincount::InferShape(const Shape& indices, const Shape& values,
                                         const Integers& dense_shape, const Integers& size,
                                         const Shape& weights) const {
  TRY_ASSIGN(const int64_t rank, CheckSparse(indices, values, dense_shape.shape()));
  if (rank == 0 || rank > 2)
    return InvalidArgument("dense_shape must have one or two extents, got {}", rank);
  const int64_t rows = rank == 2 && dense_shape.known() ? dense_shape[0] : Shape::kUnknownDim;
  if (rank == 2 && dense_shape.known() && rows < 0)
    return InvalidArgument("dense_shape must not be negative, got {}", rows);
  TRY_ASSIGN(const Shape shape, BinsShape(values, size, weights, rows));
  if (rank < 0) return Shape::Unknown();
  return rank == 2 ? shape : shape.Slice(1, 2);
}

Status SparseBincount::ComputeCpu(CpuContext& context, const Tensor& indices, const Tensor& values,
                                  const Tensor& dense_shape, const Integers&, const Tensor& weights,
                                  Tensor& output) const {
  const IndexMatrix matrix(indices);
  TRY(CheckWithin(matrix, dense_shape.values<int64_t>()));
  const bool is_matrix = matrix.rank() == 2;
  return WithSpans(
      context, values, weights, output,
      [&]<class T>(std::span<const int64_t> all, std::span<const T> weight, std::span<T> bins) {
        const int64_t size = output.shape()[is_matrix ? 1 : 0];
        for (int64_t i = 0; i < matrix.rows(); ++i) {
          const int64_t row = is_matrix ? matrix[i][0] : 0;
          Count<T>(all.subspan(i, 1), weight.empty() ? weight : weight.subspan(i, 1), binary_output,
                   bins.subspan(row * size, size));
        }
        return OkStatus();
      });
}

Result<Shape> RaggedBincount::InferShape(const Shape& splits, const Shape& values,
                                         const Integers& size, const Shape& weights) const {
  TRY(CheckVector(splits, "splits"));
  TRY(CheckVector(values, "values"));
  const int64_t count = splits.has_rank() ? splits[0] : Shape::kUnknownDim;
  if (count == 0) return InvalidArgument("splits must have at least one element, got none");
  return BinsShape(values, size, weights, count < 0 ? Shape::kUnknownDim : count - 1);
}

Status RaggedBincount::ComputeCpu(CpuContext& context, const Tensor& splits, const Tensor& values,
                                  const Integers&, const Tensor& weights, Tensor& output) const {
  const auto bounds = splits.values<int64_t>();
  if (bounds[0] != 0) return InvalidArgument("splits must begin with 0, got {}", bounds[0]);
  if (bounds.back() != values.num_elements()) {
    return InvalidArgument("splits must end with the number of values {}, got {}",
                           values.num_elements(), bounds.back());
  }
  if (!std::is_sorted(bounds.begin(), bounds.end()))
    return InvalidArgument("splits must be sorted");
  return CountRows(
      context, values, weights, binary_output, output.shape()[0],
      [&](int64_t r) { return static_cast<size_t>(bounds[r + 1]); }, output);
}

void RegisterCounting(Registrar& registrar) {
  registrar.AddAll<Bincount, DenseBincount, SparseBincount, RaggedBincount>();
}

}  // namespace penstock::ops
