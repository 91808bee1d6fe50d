#include "penstock/ops/linalg/matrix_batch.h"

#include <algorithm>
#include <atomic>

#include "penstock/core/checked.h"
#include "penstock/kernels/cast.h"
#include "penstock/ops/index_rows.h"

namespace penstock::ops {

MatrixExtents::MatrixExtents(const Shape& shape)
    : count(ProductOf(shape, 0, shape.rank() - 2)), rows(RowsOf(shape)), cols(ColsOf(shape)) {}

Result<Shape> MatricesOf(Shape batch, int64_t rows, int64_t cols) {
  if (batch.rank() + 2 > Shape::kMaxRank) {
    return InvalidArgument("matrices have at most {} dimensions", Shape::kMaxRank);
  }
  batch.Append(rows);
  batch.Append(cols);
  return Shape::Make(batch.dims());
}

Result<int64_t> AgreedExtent(int64_t a, int64_t b, std::string_view what) {
  if (a >= 0 && b >= 0 && a != b) return InvalidArgument("{}: {} vs {}", what, a, b);
  return std::max(a, b);
}

Result<Shape> CheckSquare(const Shape& matrices, std::string_view what) {
  TRY(CheckRankAtLeast(matrices, 2, what));
  if (!matrices.has_rank()) return matrices;
  const int64_t rows = RowsOf(matrices), cols = ColsOf(matrices);
  if (rows >= 0 && cols >= 0 && rows != cols) {
    return InvalidArgument("Input matrix must be square: {} has shape {}", what, matrices);
  }
  Shape shape = matrices;
  shape.set_dim(shape.rank() - 2, std::max(rows, cols));
  shape.set_dim(shape.rank() - 1, std::max(rows, cols));
  return shape;
}

MatrixWork CubicWork(const MatrixExtents& matrices, double factor, int copies, DType dtype) {
  const double size = static_cast<double>(matrices.rows) * static_cast<double>(matrices.cols);
  MatrixWork work;
  work.cycles = 500 + factor * size * static_cast<double>(std::min(matrices.rows, matrices.cols));
  const int64_t larger = std::max(matrices.rows, matrices.cols);
  const auto bytes = CheckedMul(larger, larger);
  // Eigen computes what is iterative in double: at most 16 bytes an element.
  const int64_t element = copies > 2 ? 16 : static_cast<int64_t>(SizeOf(dtype));
  work.scratch_bytes = CheckedMul(bytes.value_or(INT64_MAX), element * copies).value_or(INT64_MAX);
  return work;
}

Status ForEachMatrix(CpuContext& context, int64_t count, const MatrixWork& work,
                     FunctionRef<kernels::Outcome(int64_t)> decompose) {
  if (count == 0) return OkStatus();
  const int64_t at_once = std::min<int64_t>(count, context.parallel().threads());
  const auto bytes = CheckedMul(work.scratch_bytes, at_once);
  if (!bytes) return ResourceExhausted("the scratch memory of {} matrices", at_once);
  // Eigen takes its memory from the heap; this holds as much, so that the step's limit counts it.
  TRY_ASSIGN(const Tensor reserved, context.Allocate(DType::kUint8, Shape{*bytes}));
  std::atomic<kernels::Outcome> outcome = kernels::Outcome::kOk;
  context.parallel()(count, work.cycles, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const kernels::Outcome result = decompose(i);
      if (result == kernels::Outcome::kOk) continue;
      outcome = result;
      return;
    }
  });
  switch (outcome) {
    case kernels::Outcome::kOk:
      return OkStatus();
    case kernels::Outcome::kSingular:
      return InvalidArgument("{}", work.if_singular);
    case kernels::Outcome::kFailed:
      return InvalidArgument("{}", work.if_failed);
    case kernels::Outcome::kOutOfMemory:
      return ResourceExhausted("no memory for the decomposition of a matrix");
    case kernels::Outcome::kMissing:
      break;
  }
  return Unimplemented(
      "this build has no matrix decompositions: install libeigen3-dev and configure again");
}

Result<Tensor> CopyAs(CpuContext& context, const Tensor& x, DType dtype) {
  TRY_ASSIGN(Tensor copy, context.Allocate(dtype, x.shape()));
  ConvertInto(context, x, copy);
  return copy;
}

void ConvertInto(CpuContext& context, const Tensor& from, Tensor& to) {
  kernels::LookupCast(from.dtype(), to.dtype())(from.raw(), to.mutable_raw(), from.num_elements(),
                                                context.parallel());
}

}  // namespace penstock::ops
