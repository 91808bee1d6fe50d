#pragma once

#include <cstdint>
#include <string_view>

#include "penstock/core/function_ref.h"
#include "penstock/kernels/linalg/decompositions.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/op_kernel.h"

// What ops over the matrices in the last two axes of a tensor share.

namespace penstock::ops {

template <FixedString Name>
using DecomposableType = TypeVar<Name, double, float, half, complex64, complex128>;
// The types that kernels/linalg/decompositions.h has.
using DecomposedTypes = Types<float, double, complex64, complex128>;

// The extents of a full shape of matrices.
struct MatrixExtents {
  int64_t count = 0;
  int64_t rows = 0;
  int64_t cols = 0;

  explicit MatrixExtents(const Shape& shape);
  int64_t size() const { return rows * cols; }
  bool empty() const { return count == 0 || rows == 0 || cols == 0; }
};

// The batch axes of matrices, and their extents; -1 where unknown. REQUIRES: a rank of at least 2.
inline Shape BatchOf(const Shape& matrices) { return matrices.Slice(0, matrices.rank() - 2); }
inline int64_t RowsOf(const Shape& matrices) { return matrices[matrices.rank() - 2]; }
inline int64_t ColsOf(const Shape& matrices) { return matrices[matrices.rank() - 1]; }
// batch + [rows, cols].
Result<Shape> MatricesOf(Shape batch, int64_t rows, int64_t cols);
// Both of them where one may be unknown; a message that names both.
Result<int64_t> AgreedExtent(int64_t a, int64_t b, std::string_view what);

// Checks a rank of at least 2 and that the last two axes agree; returns the shape with what one of
// them told of the other.
Result<Shape> CheckSquare(const Shape& matrices, std::string_view what);

// How long one matrix takes and how much scratch memory it needs, and what is wrong when it fails.
struct MatrixWork {
  double cycles = 0;
  int64_t scratch_bytes = 0;
  std::string_view if_singular = "Input is not invertible.";
  std::string_view if_failed =
      "The decomposition was not successful. The input might not be valid.";
};
// Work that grows with the cube of the extents of one matrix, in which `copies` of it are made.
MatrixWork CubicWork(const MatrixExtents& matrices, double factor, int copies, DType dtype);

// Calls decompose(i) for each of `count` matrices, on several threads. The scratch memory that they
// need together is charged to the step.
Status ForEachMatrix(CpuContext& context, int64_t count, const MatrixWork& work,
                     FunctionRef<kernels::Outcome(int64_t)> decompose);

// Halves are decomposed in float: a copy of `x` as `dtype`.
Result<Tensor> CopyAs(CpuContext& context, const Tensor& x, DType dtype);
// Fills `to`, of another float type and the same shape.
void ConvertInto(CpuContext& context, const Tensor& from, Tensor& to);

}  // namespace penstock::ops
