#include "penstock/ops/linalg/band_diag.h"

#include <algorithm>

#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

// The second form has no attribute for it.
const std::string kOldAlignment = "LEFT_LEFT";

// The diagonals from `lower` to `upper`.
struct Band {
  int64_t lower = 0;
  int64_t upper = 0;

  int64_t count() const { return upper - lower + 1; }
  // Of one diagonal the axis that counts them is left out.
  bool is_single() const { return lower == upper; }
  // The length of diagonal d of a matrix.
  static int64_t Length(int64_t d, int64_t rows, int64_t cols) {
    return std::min(rows + std::min<int64_t>(d, 0), cols - std::max<int64_t>(d, 0));
  }
  int64_t Longest(int64_t rows, int64_t cols) const {
    return std::min(rows + std::min<int64_t>(upper, 0), cols - std::max<int64_t>(lower, 0));
  }
};

Status CheckBandShape(const Integers& k) {
  if (!k.shape().has_rank()) return OkStatus();
  const int64_t count = k.shape().rank() == 0 ? 1 : k.shape()[0];
  if (k.shape().rank() > 1 || count == 0 || count > 2) {
    return InvalidArgument("k must be a scalar or a vector of one or two elements, got shape {}",
                           k.shape());
  }
  return OkStatus();
}

// REQUIRES: CheckBandShape, and k is known.
Result<Band> ReadBand(const Integers& k) {
  const Band band{k[0], k[k.size() - 1]};
  if (band.lower > band.upper) {
    return InvalidArgument("k must not be decreasing: lower diagonal {} vs upper diagonal {}",
                           band.lower, band.upper);
  }
  return band;
}

// Whether the band lies in a matrix of these extents, of which unknown ones allow anything.
Status CheckBandInside(const Band& band, int64_t rows, int64_t cols) {
  for (const int64_t d : {band.lower, band.upper}) {
    const bool below = rows >= 0 && d != 0 && d <= -rows;
    const bool above = cols >= 0 && d != 0 && d >= cols;
    if (below || above) {
      return InvalidArgument("k must name diagonals within ({}, {}), got {}", -rows, cols, d);
    }
  }
  return OkStatus();
}

// The shape of the band of `matrices`. REQUIRES: these have a rank of at least 2.
Result<Shape> DiagonalsShape(const Shape& matrices, const Band& band) {
  const int rank = matrices.rank();
  const int64_t rows = matrices[rank - 2], cols = matrices[rank - 1];
  TRY(CheckBandInside(band, rows, cols));
  Shape shape = matrices.Slice(0, rank - 2);
  if (!band.is_single()) shape.Append(band.count());
  shape.Append(rows < 0 || cols < 0 ? Shape::kUnknownDim : band.Longest(rows, cols));
  return Shape::Make(shape.dims());
}

// Copies between the diagonals of matrices and their rows in `diagonals`.
enum class Direction { kToMatrices, kFromMatrices };
void CopyDiagonals(const Band& band, const std::string& align, const Tensor& from, Tensor& to,
                   Direction direction, const ParallelFor& each) {
  const Shape& matrices = direction == Direction::kToMatrices ? to.shape() : from.shape();
  const int rank = matrices.rank();
  const int64_t rows = matrices[rank - 2], cols = matrices[rank - 1];
  const int64_t longest = band.Longest(rows, cols);
  const int64_t batch = rows == 0 || cols == 0 ? 0 : matrices.num_elements() / (rows * cols);
  if (batch == 0 || longest <= 0) return;
  for (int64_t d = band.lower; d <= band.upper; ++d) {
    const int64_t length = Band::Length(d, rows, cols);
    if (length <= 0) continue;  // outside of the matrix
    const bool left =
        (d >= 0 && align.starts_with("LEFT_")) || (d <= 0 && align.ends_with("_LEFT"));
    const StridedPart in_matrix{std::max<int64_t>(d, 0) - std::min<int64_t>(d, 0) * cols,
                                {rows * cols, cols + 1}};
    const StridedPart in_rows{(band.upper - d) * longest + (left ? 0 : longest - length),
                              {band.count() * longest, 1}};
    const int64_t dims[] = {batch, length};
    if (direction == Direction::kToMatrices) {
      CopyElements(from, in_rows, to, in_matrix, dims, each);
    } else {
      CopyElements(from, in_matrix, to, in_rows, dims, each);
    }
  }
}

// ---- MatrixDiag ----

// The extent that a matrix gets: as asked for, else as small as the diagonals allow. -1: unknown.
Result<int64_t> ChooseExtent(const Integers& wanted, int64_t smallest, std::string_view what) {
  if (!wanted.known() || smallest < 0) return Shape::kUnknownDim;
  if (wanted[0] == -1) return smallest;
  if (wanted[0] < smallest) {
    return InvalidArgument("{} must be -1 or at least {}, got {}", what, smallest, wanted[0]);
  }
  return wanted[0];
}

Result<Shape> InferDiag(const Shape& diagonal, const Integers& k, const Integers& num_rows,
                        const Integers& num_cols, const Shape& padding_value) {
  TRY(CheckBandShape(k));
  TRY(CheckScalar(num_rows.shape(), "num_rows"));
  TRY(CheckScalar(num_cols.shape(), "num_cols"));
  TRY(CheckScalar(padding_value, "padding_value"));
  TRY(CheckRankAtLeast(diagonal, 1, "diagonal"));
  if (!k.known()) return Shape::Unknown();
  TRY_ASSIGN(const Band band, ReadBand(k));
  if (!diagonal.has_rank()) return Shape::Unknown();
  const int own_axes = band.is_single() ? 1 : 2;
  TRY(CheckRankAtLeast(diagonal, own_axes, "diagonal"));
  const int batch_axes = diagonal.rank() - own_axes;
  if (own_axes == 2 && diagonal[batch_axes] >= 0 && diagonal[batch_axes] != band.count()) {
    return InvalidArgument("diagonal must have {} rows, one for each diagonal, got shape {}",
                           band.count(), diagonal);
  }
  const int64_t longest = diagonal[diagonal.rank() - 1];
  auto smallest = [&](int64_t more) { return longest < 0 ? Shape::kUnknownDim : longest + more; };
  const int64_t least_rows = smallest(-std::min<int64_t>(band.upper, 0));
  const int64_t least_cols = smallest(std::max<int64_t>(band.lower, 0));
  TRY_ASSIGN(int64_t rows, ChooseExtent(num_rows, least_rows, "num_rows"));
  TRY_ASSIGN(int64_t cols, ChooseExtent(num_cols, least_cols, "num_cols"));
  if (rows >= 0 && cols >= 0 && num_rows[0] == -1 && num_cols[0] == -1) {
    rows = cols = std::max(rows, cols);
  } else if (rows >= 0 && cols >= 0 && rows != least_rows && cols != least_cols) {
    return InvalidArgument(
        "The number of rows or columns is not consistent with the specified k and diagonal: "
        "expected {} rows or {} columns, got {} and {}",
        least_rows, least_cols, rows, cols);
  }
  Shape shape = diagonal.Slice(0, batch_axes);
  if (batch_axes + 2 > Shape::kMaxRank) {
    return InvalidArgument("diagonal must have a rank below {}, got {}", Shape::kMaxRank,
                           diagonal.rank());
  }
  shape.Append(rows);
  shape.Append(cols);
  return Shape::Make(shape.dims());
}

Status ComputeDiag(CpuContext& context, const Tensor& diagonal, const Integers& k,
                   const Tensor& padding_value, const std::string& align, Tensor& output) {
  TRY_ASSIGN(const Band band, ReadBand(k));
  FillElements(padding_value, output, context.parallel());
  CopyDiagonals(band, align, diagonal, output, Direction::kToMatrices, context.parallel());
  return OkStatus();
}

// ---- MatrixDiagPart ----

Result<Shape> InferDiagPart(const Shape& input, const Integers& k, const Shape& padding_value) {
  TRY(CheckBandShape(k));
  TRY(CheckScalar(padding_value, "padding_value"));
  TRY(CheckRankAtLeast(input, 2, "input"));
  if (!k.known()) return Shape::Unknown();
  TRY_ASSIGN(const Band band, ReadBand(k));
  if (!input.has_rank()) return Shape::Unknown();
  return DiagonalsShape(input, band);
}

Status ComputeDiagPart(CpuContext& context, const Tensor& input, const Integers& k,
                       const Tensor& padding_value, const std::string& align, Tensor& diagonal) {
  TRY_ASSIGN(const Band band, ReadBand(k));
  FillElements(padding_value, diagonal, context.parallel());
  CopyDiagonals(band, align, input, diagonal, Direction::kFromMatrices, context.parallel());
  return OkStatus();
}

// ---- MatrixSetDiag ----

Result<Shape> InferSetDiag(const Shape& input, const Shape& diagonal, const Integers& k) {
  TRY(CheckBandShape(k));
  TRY(CheckRankAtLeast(input, 2, "input"));
  TRY(CheckRankAtLeast(diagonal, 1, "diagonal"));
  if (!k.known()) return input;
  TRY_ASSIGN(const Band band, ReadBand(k));
  if (!input.has_rank()) return input;
  TRY_ASSIGN(const Shape wanted, DiagonalsShape(input, band));
  if (!wanted.IsCompatibleWith(diagonal)) {
    return InvalidArgument("diagonal must have shape {}, got {}", wanted, diagonal);
  }
  return input;
}

Status ComputeSetDiag(CpuContext& context, const Tensor& input, const Tensor& diagonal,
                      const Integers& k, const std::string& align, Tensor& output) {
  TRY_ASSIGN(const Band band, ReadBand(k));
  CopyRun(input, 0, output, 0, input.num_elements(), context.parallel());
  CopyDiagonals(band, align, diagonal, output, Direction::kToMatrices, context.parallel());
  return OkStatus();
}

// ---- gradients: they differ in the version of the ops they use ----

struct Version {
  std::string number;
  AttrMap attrs;

  Expr Diagonals(const Expr& matrices, const Expr& k) const {
    return Op("MatrixDiagPart" + number, matrices, k, matrices.scope().Like(matrices, 0), attrs);
  }
  Expr WithDiagonals(const Expr& matrices, const Expr& diagonals, const Expr& k) const {
    return Op("MatrixSetDiag" + number, matrices, diagonals, k, attrs);
  }
};
Version OldVersion() { return {"V2", {}}; }
Version NewVersion(const std::string& align) { return {"V3", {{"align", align}}}; }

void DiagGradient(Gradients& g, const Version& ops) { g.Set(0, ops.Diagonals(g.dy(), g.input(1))); }

void DiagPartGradient(Gradients& g, const Version& ops) {
  g.Set(0, ops.WithDiagonals(Op("ZerosLike", g.input(0)), g.dy(), g.input(1)));
}

void SetDiagGradient(Gradients& g, const Version& ops) {
  g.Set(0, ops.WithDiagonals(g.dy(), Op("ZerosLike", g.input(1)), g.input(2)));
  g.Set(1, ops.Diagonals(g.dy(), g.input(2)));
}

}  // namespace

Result<Shape> MatrixDiagV2::InferShape(const Shape& diagonal, const Integers& k,
                                       const Integers& num_rows, const Integers& num_cols,
                                       const Shape& padding_value) const {
  return InferDiag(diagonal, k, num_rows, num_cols, padding_value);
}
Result<Shape> MatrixDiagV3::InferShape(const Shape& diagonal, const Integers& k,
                                       const Integers& num_rows, const Integers& num_cols,
                                       const Shape& padding_value) const {
  return InferDiag(diagonal, k, num_rows, num_cols, padding_value);
}

void MatrixDiagV2::Gradient(Gradients& g) const { DiagGradient(g, OldVersion()); }
void MatrixDiagV3::Gradient(Gradients& g) const { DiagGradient(g, NewVersion(align)); }

Status MatrixDiagV2::ComputeCpu(CpuContext& context, const Tensor& diagonal, const Integers& k,
                                const Integers&, const Integers&, const Tensor& padding_value,
                                Tensor& output) const {
  return ComputeDiag(context, diagonal, k, padding_value, kOldAlignment, output);
}
Status MatrixDiagV3::ComputeCpu(CpuContext& context, const Tensor& diagonal, const Integers& k,
                                const Integers&, const Integers&, const Tensor& padding_value,
                                Tensor& output) const {
  return ComputeDiag(context, diagonal, k, padding_value, align, output);
}

Result<Shape> MatrixDiagPartV2::InferShape(const Shape& input, const Integers& k,
                                           const Shape& padding_value) const {
  return InferDiagPart(input, k, padding_value);
}
Result<Shape> MatrixDiagPartV3::InferShape(const Shape& input, const Integers& k,
                                           const Shape& padding_value) const {
  return InferDiagPart(input, k, padding_value);
}

void MatrixDiagPartV2::Gradient(Gradients& g) const { DiagPartGradient(g, OldVersion()); }
void MatrixDiagPartV3::Gradient(Gradients& g) const { DiagPartGradient(g, NewVersion(align)); }

Status MatrixDiagPartV2::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& k,
                                    const Tensor& padding_value, Tensor& diagonal) const {
  return ComputeDiagPart(context, input, k, padding_value, kOldAlignment, diagonal);
}
Status MatrixDiagPartV3::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& k,
                                    const Tensor& padding_value, Tensor& diagonal) const {
  return ComputeDiagPart(context, input, k, padding_value, align, diagonal);
}

Result<Shape> MatrixSetDiagV2::InferShape(const Shape& input, const Shape& diagonal,
                                          const Integers& k) const {
  return InferSetDiag(input, diagonal, k);
}
Result<Shape> MatrixSetDiagV3::InferShape(const Shape& input, const Shape& diagonal,
                                          const Integers& k) const {
  return InferSetDiag(input, diagonal, k);
}

void MatrixSetDiagV2::Gradient(Gradients& g) const { SetDiagGradient(g, OldVersion()); }
void MatrixSetDiagV3::Gradient(Gradients& g) const { SetDiagGradient(g, NewVersion(align)); }

Status MatrixSetDiagV2::ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& diagonal,
                                   const Integers& k, Tensor& output) const {
  return ComputeSetDiag(context, input, diagonal, k, kOldAlignment, output);
}
Status MatrixSetDiagV3::ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& diagonal,
                                   const Integers& k, Tensor& output) const {
  return ComputeSetDiag(context, input, diagonal, k, align, output);
}

void RegisterBandDiag(Registrar& registrar) {
  registrar.AddAll<MatrixDiagV2, MatrixDiagV3, MatrixDiagPartV2, MatrixDiagPartV3, MatrixSetDiagV2,
                   MatrixSetDiagV3>();
}

}  // namespace penstock::ops
