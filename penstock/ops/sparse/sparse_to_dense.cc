#include "penstock/ops/sparse/sparse_to_dense.h"

#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/index_rows.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

// The number of indices and of axes that they name, as far as they are known.
Shape MatrixShape(const Shape& indices) {
  if (!indices.has_rank()) return Shape::UnknownOfRank(2);
  if (indices.rank() == 2) return indices;
  return Shape{indices.rank() == 0 ? 1 : indices[0], 1};
}

}  // namespace

Result<Shape> SparseToDense::InferShape(const Shape& sparse_indices, const Integers& output_shape,
                                        const Shape& sparse_values,
                                        const Shape& default_value) const {
  if (sparse_indices.has_rank() && sparse_indices.rank() > 2) {
    return InvalidArgument("sparse_indices must be a scalar, vector or matrix, got shape {}",
                           sparse_indices);
  }
  TRY(CheckVector(output_shape.shape(), "output_shape"));
  TRY(CheckScalar(default_value, "default_value"));
  const Shape matrix = MatrixShape(sparse_indices);
  const Shape wanted{matrix[1]};
  if (output_shape.shape().has_rank() && !wanted.IsCompatibleWith(output_shape.shape())) {
    return InvalidArgument("output_shape must have {} elements, got shape {}", matrix[1],
                           output_shape.shape());
  }
  if (sparse_values.has_rank() && sparse_values.rank() != 0 &&
      !matrix.Slice(0, 1).IsCompatibleWith(sparse_values)) {
    return InvalidArgument("sparse_values must be a scalar or have shape {}, got {}",
                           matrix.Slice(0, 1), sparse_values);
  }
  return output_shape.AsShape();
}

Status SparseToDense::ComputeCpu(CpuContext& context, const Tensor& sparse_indices, const Tensor&,
                                 const Tensor& sparse_values, const Tensor& default_value,
                                 Tensor& dense) const {
  FillElements(default_value, dense, context.parallel());
  const Tensor indices = sparse_indices.Reshaped(MatrixShape(sparse_indices.shape()));
  if (indices.shape()[0] == 0) return OkStatus();
  TRY_ASSIGN(const Tensor places,
             SlicePositions(context, indices, dense.shape(), /*ignore_bad=*/false));
  const auto at = places.values<int64_t>();
  for (size_t i = 1; validate_indices && i < at.size(); ++i) {
    if (at[i] <= at[i - 1]) {
      return InvalidArgument("sparse_indices must be sorted and distinct: row {} is {}", i,
                             at[i] == at[i - 1] ? "repeated" : "out of order");
    }
  }
  const bool is_scalar = sparse_values.shape().IsScalar();
  for (size_t i = 0; i < at.size(); ++i) {
    CopyRun(sparse_values, is_scalar ? 0 : static_cast<int64_t>(i), dense, at[i], 1, ParallelFor());
  }
  return OkStatus();
}

void SparseToDense::Gradient(Gradients& g) const {
  const Scope& s = g.scope();
  // Indices of any rank, as rows; their number is found from the shape.
  const Expr axes = Op("Size", g.input(1), {{"out_type", DType::kInt32}});
  const Expr rows = Op("Reshape", g.input(0), s.Add("Pack", {IntScalar(s, -1), axes}, {{"N", 2}}));
  const Expr at_values = Op("GatherNd", g.dy(), rows);
  const bool is_scalar = g.input(2).shape().IsScalar();
  g.Set(2, is_scalar ? SumAll(at_values) : Op("Reshape", at_values, ShapeOf(g.input(2))));
  const Expr elsewhere =
      s.Add("SparseToDense",
            {g.input(0), g.input(1), Op("ZerosLike", g.input(2)), Op("OnesLike", g.input(3))},
            {{"validate_indices", validate_indices}});
  g.Set(3, SumAll(g.dy() * elsewhere));
}

void RegisterSparseToDense(Registrar& registrar) { registrar.Add<SparseToDense>(); }

}  // namespace penstock::ops
