#include "penstock/ops/matrix_diag.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

// The diagonals of matrices with the shape of `matrices`, seen as a tensor [..., min(rows, cols)].
StridedPart DiagonalPart(const Shape& matrices) {
  StridedPart part = DensePart(matrices.dims());
  const int64_t column = part.strides.back();
  part.strides.pop_back();
  part.strides.back() += column;
  return part;
}

// The shape of the diagonals of `matrices`.
Shape DiagonalShape(const Shape& matrices) {
  const int rank = matrices.rank();
  const int64_t rows = matrices[rank - 2], cols = matrices[rank - 1];
  Shape shape = matrices.Slice(0, rank - 1);
  shape.set_dim(rank - 2, rows < 0 || cols < 0 ? Shape::kUnknownDim : std::min(rows, cols));
  return shape;
}

Status CheckCount(const Integers& count, std::string_view what, int64_t limit) {
  TRY(CheckScalar(count.shape(), what));
  if (!count.known() || limit < 0 || count[0] <= limit) return OkStatus();
  return InvalidArgument("{} must be negative or at most {}, got {}", what, limit, count[0]);
}

}  // namespace

template <FixedString Name, class Index>
Result<Shape> MatrixBandPartOp<Name, Index>::InferShape(const Shape& input,
                                                        const Integers& num_lower,
                                                        const Integers& num_upper) const {
  TRY(CheckRankAtLeast(input, 2, "input"));
  const int rank = input.rank();
  TRY(CheckCount(num_lower, "num_lower", rank < 0 ? -1 : input[rank - 2]));
  TRY(CheckCount(num_upper, "num_upper", rank < 0 ? -1 : input[rank - 1]));
  return input;
}

template <FixedString Name, class Index>
void MatrixBandPartOp<Name, Index>::Gradient(Gradients& g) const {
  g.Set(0, Op("MatrixBandPart", g.dy(), g.input(1), g.input(2)));
}

template <FixedString Name, class Index>
Status MatrixBandPartOp<Name, Index>::ComputeCpu(CpuContext& context, const Tensor& input,
                                                 const Integers& num_lower,
                                                 const Integers& num_upper, Tensor& band) const {
  if (!IsPlain(input.dtype())) return Unimplemented("bands of {} are not known", input.dtype());
  const int rank = input.shape().rank();
  const int64_t rows = input.shape()[rank - 2], cols = input.shape()[rank - 1];
  if (input.num_elements() == 0) return OkStatus();
  const int64_t bytes = static_cast<int64_t>(SizeOf(input.dtype()));
  const std::byte* from = static_cast<const std::byte*>(input.raw());
  std::byte* to = static_cast<std::byte*>(band.mutable_raw());
  const int64_t lower = num_lower[0] < 0 ? rows : num_lower[0];
  const int64_t upper = num_upper[0] < 0 ? cols : num_upper[0];
  const double cost = 10 + static_cast<double>(cols * bytes) / 4;
  context.parallel()(input.num_elements() / cols, cost, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t r = i % rows;
      const int64_t begin = std::clamp<int64_t>(r - lower, 0, cols);
      const int64_t end = std::clamp<int64_t>(r + upper + 1, begin, cols);
      std::byte* row = to + i * cols * bytes;
      std::memset(row, 0, begin * bytes);
      std::memcpy(row + begin * bytes, from + (i * cols + begin) * bytes, (end - begin) * bytes);
      std::memset(row + end * bytes, 0, (cols - end) * bytes);
    }
  });
  return OkStatus();
}

template <FixedString Name>
Result<Shape> MatrixDiagOp<Name>::InferShape(const Shape& diagonal) const {
  TRY(CheckRankAtLeast(diagonal, 1, "diagonal"));
  if (!diagonal.has_rank()) return diagonal;
  std::vector<int64_t> dims(diagonal.dims().begin(), diagonal.dims().end());
  dims.push_back(dims.back());
  return Shape::Make(dims);
}

template <FixedString Name>
void MatrixDiagOp<Name>::Gradient(Gradients& g) const {
  g.Set(0, Op("MatrixDiagPart", g.dy()));
}

template <FixedString Name>
Status MatrixDiagOp<Name>::ComputeCpu(CpuContext& context, const Tensor& diagonal,
                                      Tensor& output) const {
  ZeroElements(output, context.parallel());
  const auto dims = diagonal.shape().dims();
  CopyElements(diagonal, DensePart(dims), output, DiagonalPart(output.shape()), dims,
               context.parallel());
  return OkStatus();
}

template <FixedString Name>
Result<Shape> MatrixDiagPartOp<Name>::InferShape(const Shape& input) const {
  TRY(CheckRankAtLeast(input, 2, "input"));
  return input.has_rank() ? DiagonalShape(input) : input;
}

template <FixedString Name>
void MatrixDiagPartOp<Name>::Gradient(Gradients& g) const {
  g.Set(0, Op("MatrixSetDiag", Op("ZerosLike", g.input(0)), g.dy()));
}

template <FixedString Name>
Status MatrixDiagPartOp<Name>::ComputeCpu(CpuContext& context, const Tensor& input,
                                          Tensor& diagonal) const {
  const auto dims = diagonal.shape().dims();
  CopyElements(input, DiagonalPart(input.shape()), diagonal, DensePart(dims), dims,
               context.parallel());
  return OkStatus();
}

template <FixedString Name>
Result<Shape> MatrixSetDiagOp<Name>::InferShape(const Shape& input, const Shape& diagonal) const {
  TRY(CheckRankAtLeast(input, 2, "input"));
  TRY(CheckRankAtLeast(diagonal, 1, "diagonal"));
  if (!input.has_rank()) return input;
  const Shape wanted = DiagonalShape(input);
  if (!wanted.IsCompatibleWith(diagonal)) {
    return InvalidArgument("diagonal must have shape {}, got {}", wanted, diagonal);
  }
  return input;
}

template <FixedString Name>
void MatrixSetDiagOp<Name>::Gradient(Gradients& g) const {
  g.Set(0, Op("MatrixSetDiag", g.dy(), Op("ZerosLike", g.input(1))));
  g.Set(1, Op("MatrixDiagPart", g.dy()));
}

template <FixedString Name>
Status MatrixSetDiagOp<Name>::ComputeCpu(CpuContext& context, const Tensor& input,
                                         const Tensor& diagonal, Tensor& output) const {
  CopyRun(input, 0, output, 0, input.num_elements(), context.parallel());
  const auto dims = diagonal.shape().dims();
  CopyElements(diagonal, DensePart(dims), output, DiagonalPart(output.shape()), dims,
               context.parallel());
  return OkStatus();
}

Result<Shape> Diag::InferShape(const Shape& diagonal) const {
  TRY(CheckRankAtLeast(diagonal, 1, "diagonal"));
  if (!diagonal.has_rank()) return diagonal;
  std::vector<int64_t> dims(diagonal.dims().begin(), diagonal.dims().end());
  dims.insert(dims.end(), diagonal.dims().begin(), diagonal.dims().end());
  return Shape::Make(dims);
}

void Diag::Gradient(Gradients& g) const { g.Set(0, Op("DiagPart", g.dy())); }

Status Diag::ComputeCpu(CpuContext& context, const Tensor& diagonal, Tensor& output) const {
  ZeroElements(output, context.parallel());
  const int64_t n[] = {diagonal.num_elements()};
  CopyElements(diagonal, {0, {1}}, output, {0, {n[0] + 1}}, n, context.parallel());
  return OkStatus();
}

Result<Shape> DiagPart::InferShape(const Shape& input) const {
  if (!input.has_rank()) return input;
  if (input.rank() == 0 || input.rank() % 2 != 0) {
    return InvalidArgument("input must have an even rank of at least 2, got shape {}", input);
  }
  return MergeShapes(input.Slice(0, input.rank() / 2), input.Slice(input.rank() / 2, input.rank()));
}

void DiagPart::Gradient(Gradients& g) const { g.Set(0, Op("Diag", g.dy())); }

Status DiagPart::ComputeCpu(CpuContext& context, const Tensor& input, Tensor& diagonal) const {
  const int64_t n[] = {diagonal.num_elements()};
  CopyElements(input, {0, {n[0] + 1}}, diagonal, {0, {1}}, n, context.parallel());
  return OkStatus();
}

void RegisterMatrixDiag(Registrar& registrar) {
  registrar.AddAll<MatrixBandPart, MatrixDiag, MatrixDiagPart, MatrixSetDiag, Diag, DiagPart>();
  registrar.AddAll<BatchMatrixBandPart, BatchMatrixDiag, BatchMatrixDiagPart, BatchMatrixSetDiag>();
}

}  // namespace penstock::ops
