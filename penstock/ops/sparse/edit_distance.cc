#include "penstock/ops/sparse/edit_distance.h"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "penstock/core/checked.h"
#include "penstock/kernels/bucket_order.h"
#include "penstock/ops/array/distinct_items.h"
#include "penstock/ops/sparse/sparse_tensor.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

// The values of each row of a sparse tensor.
struct Rows {
  Tensor order;
  Tensor starts;

  std::span<const int64_t> operator[](int64_t row) const {
    const int64_t* at = starts.data<int64_t>() + row;
    return order.values<int64_t>().subspan(at[0], at[1] - at[0]);
  }
};

Result<Rows> RowsOf(CpuContext& context, const Tensor& indices, const Shape& output) {
  const IndexMatrix matrix(indices);
  const std::vector<int64_t> strides = DenseStrides(output.dims());
  TRY_ASSIGN(Tensor row, context.Allocate(DType::kInt64, Shape{matrix.rows()}));
  for (int64_t i = 0; i < matrix.rows(); ++i) {
    int64_t place = 0;
    for (int k = 0; k < output.rank(); ++k) {
      if (!InRange(matrix[i][k], output[k])) return IndexNotWithin(matrix, i, output.dims());
      place += matrix[i][k] * strides[k];
    }
    row.mutable_data<int64_t>()[i] = place;
  }
  Rows rows;
  const int64_t count = output.num_elements();
  TRY_ASSIGN(rows.order, context.Allocate(DType::kInt64, Shape{matrix.rows()}));
  TRY_ASSIGN(rows.starts, context.Allocate(DType::kInt64, Shape{count + 1}));
  kernels::OrderByBucket(row.data<int64_t>(), matrix.rows(), count,
                         rows.starts.mutable_data<int64_t>(), rows.order.mutable_data<int64_t>());
  return rows;
}

// `same(i, j)` tells whether element i of a sequence of n is element j of one of m.
template <class Same>
int64_t Distance(int64_t n, int64_t m, Same same) {
  // costs[j]: from the first i elements of one to the first j of the other.
  std::vector<int64_t> costs(static_cast<size_t>(m) + 1);
  for (int64_t j = 0; j <= m; ++j) costs[j] = j;
  for (int64_t i = 0; i < n; ++i) {
    int64_t diagonal = costs[0];
    costs[0] = i + 1;
    for (int64_t j = 0; j < m; ++j) {
      const int64_t replaced = diagonal + (same(i, j) ? 0 : 1);
      diagonal = costs[j + 1];
      costs[j + 1] = std::min({replaced, costs[j + 1] + 1, costs[j] + 1});
    }
  }
  return costs[m];
}

}  // namespace

Result<Shape> EditDistance::InferShape(const Shape& hypothesis_indices,
                                       const Shape& hypothesis_values,
                                       const Integers& hypothesis_shape, const Shape& truth_indices,
                                       const Shape& truth_values,
                                       const Integers& truth_shape) const {
  TRY_ASSIGN(const int64_t rank,
             CheckSparse(hypothesis_indices, hypothesis_values, hypothesis_shape.shape()));
  TRY_ASSIGN(const int64_t truth_rank,
             CheckSparse(truth_indices, truth_values, truth_shape.shape()));
  if (rank >= 0 && truth_rank >= 0 && rank != truth_rank)
    return InvalidArgument("hypothesis and truth must have the same rank: {} vs {}", rank,
                           truth_rank);
  const int64_t known = std::max(rank, truth_rank);
  if (known < 0) return Shape::Unknown();
  if (known < 2) return InvalidArgument("the tensors must have at least 2 axes, got {}", known);
  if (!hypothesis_shape.known() || !truth_shape.known())
    return Shape::UnknownOfRank(static_cast<int>(known) - 1);
  std::vector<int64_t> dims;
  for (size_t k = 0; k + 1 < static_cast<size_t>(known); ++k) {
    dims.push_back(std::max(hypothesis_shape[k], truth_shape[k]));
    if (dims.back() < 0) return InvalidArgument("shapes must not be negative, got {}", dims.back());
  }
  return Shape::Make(dims);
}

Status EditDistance::ComputeCpu(CpuContext& context, const Tensor& hypothesis_indices,
                                const Tensor& hypothesis_values, const Tensor&,
                                const Tensor& truth_indices, const Tensor& truth_values,
                                const Tensor&, Tensor& output) const {
  TRY_ASSIGN(const Items items, Items::MakeFromTwo(context, hypothesis_values, truth_values));
  const int64_t first_truth = hypothesis_values.num_elements();
  TRY_ASSIGN(const Rows hypotheses, RowsOf(context, hypothesis_indices, output.shape()));
  TRY_ASSIGN(const Rows truths, RowsOf(context, truth_indices, output.shape()));
  const double elements = static_cast<double>(items.size()) /
                          static_cast<double>(std::max<int64_t>(output.num_elements(), 1));
  context.parallel()(
      output.num_elements(), 10 + 10 * elements * elements, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          const auto guess = hypotheses[r], truth = truths[r];
          const auto n = static_cast<int64_t>(guess.size()), m = static_cast<int64_t>(truth.size());
          auto distance = static_cast<float>(Distance(n, m, [&](int64_t i, int64_t j) {
            return items.Equal(guess[i], first_truth + truth[j]);
          }));
          if (normalize) {
            if (m > 0) distance /= static_cast<float>(m);
            if (m == 0 && n > 0) distance = std::numeric_limits<float>::infinity();
          }
          output.mutable_data<float>()[r] = distance;
        }
      });
  return OkStatus();
}

void RegisterEditDistance(Registrar& registrar) { registrar.Add<EditDistance>(); }

}  // namespace penstock::ops
