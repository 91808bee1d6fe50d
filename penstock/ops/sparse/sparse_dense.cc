#include "penstock/ops/sparse/sparse_dense.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "penstock/kernels/scatter.h"
#include "penstock/ops/array/row_copies.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/elementwise.h"
#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/index_rows.h"
#include "penstock/ops/sparse/sparse_tensor.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

std::string_view CombiningOp(CwiseRule rule) {
  return rule == CwiseRule::kAdd ? "AddV2" : rule == CwiseRule::kMul ? "Mul" : "Div";
}

Result<const ElementwiseBlock*> BlockOf(std::string_view op, DType dtype) {
  const ElementwiseBlock* block = StandardElementwise().Find(op, dtype);
  if (block == nullptr) return Unimplemented("there is no CPU kernel for {}", dtype);
  return block;
}

Status CheckNotZero(const Tensor& divisors) {
  if (!IsInteger(divisors.dtype())) return OkStatus();
  return ForDType(divisors.dtype(), PlainRealNumbers(), [&]<class T>() {
    const auto values = divisors.values<T>();
    const auto zero = std::find(values.begin(), values.end(), T(0.0f));
    if (zero == values.end()) return OkStatus();
    return InvalidArgument("division by zero: dense is 0 at place {}", zero - values.begin());
  });
}

// Where the element of `dense` lies that is broadcast to each index.
Result<Tensor> BroadcastPlaces(CpuContext& context, const IndexMatrix& indices,
                               const Shape& dense) {
  TRY_ASSIGN(Tensor places, context.Allocate(DType::kInt64, Shape{indices.rows()}));
  const std::vector<int64_t> strides = DenseStrides(dense.dims());
  const int64_t added = indices.rank() - dense.rank();
  int64_t* const out = places.mutable_data<int64_t>();
  context.parallel()(indices.rows(), 5.0 * (1 + dense.rank()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t place = 0;
      for (int k = 0; k < dense.rank(); ++k)
        place += dense[k] == 1 ? 0 : indices[i][added + k] * strides[k];
      out[i] = place;
    }
  });
  return places;
}

}  // namespace

Result<Shape> SparseTensorDenseAdd::InferShape(const Shape& a_indices, const Shape& a_values,
                                               const Integers& a_shape, const Shape& b) const {
  TRY(CheckSparse(a_indices, a_values, a_shape.shape()));
  TRY_ASSIGN(const Shape a, a_shape.AsShape());
  const auto merged = MergeShapes(a, b);
  if (!merged.ok())
    return InvalidArgument("the sparse and the dense tensor must have one shape: {} vs {}", a, b);
  return *merged;
}

Status SparseTensorDenseAdd::ComputeCpu(CpuContext& context, const Tensor& a_indices,
                                        const Tensor& a_values, const Tensor&, const Tensor& b,
                                        Tensor& output) const {
  TRY_ASSIGN(const ElementwiseBlock* block, BlockOf("AddV2", b.dtype()));
  CopyRun(b, 0, output, 0, b.num_elements(), context.parallel());
  if (a_indices.shape()[0] == 0) return OkStatus();
  TRY_ASSIGN(const Tensor places,
             SlicePositions(context, a_indices, b.shape(), /*ignore_bad=*/false));
  kernels::Scatter scatter;
  scatter.table = output.mutable_raw();
  scatter.table_rows = output.num_elements();
  scatter.row_elements = 1;
  scatter.element_bytes = static_cast<int64_t>(SizeOf(b.dtype()));
  scatter.rows = places.data<int64_t>();
  scatter.num_updates = places.num_elements();
  scatter.updates = a_values.raw();
  kernels::ScatterRows(scatter, block->function, block->cost, context.parallel());
  return OkStatus();
}

void SparseTensorDenseAdd::Gradient(Gradients& g) const {
  g.Set(1, Op("GatherNd", g.dy(), g.input(0)));
  g.Set(3, g.dy());
}

Result<Shape> InferSparseDense(const Shape& indices, const Shape& values, const Integers& extents,
                               const Shape& dense) {
  TRY_ASSIGN(const int64_t rank, CheckSparse(indices, values, extents.shape()));
  if (rank >= 0 && dense.has_rank()) {
    bool fits = dense.rank() <= rank;
    for (int k = 0; fits && extents.known() && k < dense.rank(); ++k) {
      const int64_t mine = extents[static_cast<size_t>(rank) - dense.rank() + k];
      fits = dense[k] < 0 || dense[k] == 1 || dense[k] == mine;
    }
    if (!fits) {
      return InvalidArgument("dense must broadcast to the shape of the sparse tensor: {} to {}",
                             dense, extents.known() ? Shape(extents.values()) : Shape{rank});
    }
  }
  if (!values.has_rank()) return Shape{indices.has_rank() ? indices[0] : Shape::kUnknownDim};
  return values;
}

Status CombineSparseDense(CpuContext& context, CwiseRule rule, const Tensor& indices,
                          const Tensor& values, const Tensor& extents, const Tensor& dense,
                          Tensor& output) {
  TRY_ASSIGN(const ElementwiseBlock* block, BlockOf(CombiningOp(rule), dense.dtype()));
  if (rule == CwiseRule::kDiv) TRY(CheckNotZero(dense));
  const IndexMatrix matrix(indices);
  TRY(CheckWithin(matrix, extents.values<int64_t>(), "sp_indices"));
  TRY_ASSIGN(const Tensor places, BroadcastPlaces(context, matrix, dense.shape()));
  TRY_ASSIGN(Tensor picked, context.Allocate(dense.dtype(), values.shape()));
  GatherTensorRows(dense, places.values<int64_t>(), 1, picked, context.parallel());
  const auto bytes = static_cast<int64_t>(SizeOf(values.dtype()));
  context.parallel()(
      values.num_elements(), block->cost,
      [&](int64_t begin, int64_t end) {
        const auto at = [&](const void* data) {
          return static_cast<const std::byte*>(data) + begin * bytes;
        };
        const void* operands[] = {at(values.raw()), at(picked.raw())};
        block->function(operands, 0, static_cast<std::byte*>(output.mutable_raw()) + begin * bytes,
                        end - begin);
      },
      /*grain=*/64);
  return OkStatus();
}

// An axis of `dense` either has the extent of the sparse tensor or is 1: its index is the sparse
// one, modulo its extent.
void SparseDenseGradient(Gradients& g, CwiseRule rule) {
  const Scope& s = g.scope();
  const DType kLong = DType::kInt64;
  const Expr indices = g.input(0), x = g.input(1), dense = g.input(3), dy = g.dy();
  const Expr shape = ShapeOf(dense, kLong);
  const Expr added =
      Op("Reshape",
         Op("Size", g.input(2), {{"out_type", kLong}}) - Op("Size", shape, {{"out_type", kLong}}),
         IntVector(s, {1}));
  const Expr extents = s.Add(
      "ConcatV2",
      {Op("Fill", added, IntScalar(s, 1, kLong), {{"index_type", kLong}}), shape, IntScalar(s, 0)},
      {{"N", 2}});
  const Expr wrapped = Op("FloorMod", indices, Op("Maximum", extents, IntScalar(s, 1, kLong)));
  const Expr begin =
      s.Add("ConcatV2", {IntVector(s, {0}, kLong), added, IntScalar(s, 0)}, {{"N", 2}});
  const Expr places = Op("Slice", wrapped, begin, IntVector(s, {-1, -1}, kLong));
  const Expr picked = Op("GatherNd", dense, places);
  Expr dx = dy, d_picked = dy;
  if (rule == CwiseRule::kMul) {
    dx = dy * picked;
    d_picked = dy * x;
  } else if (rule == CwiseRule::kDiv) {
    dx = dy / picked;
    d_picked = -(dy * x / (picked * picked));
  }
  g.Set(1, dx);
  g.Set(3, Op("ScatterNd", places, d_picked, shape));
}

void RegisterSparseDense(Registrar& registrar) {
  registrar.AddAll<SparseTensorDenseAdd, SparseDenseCwiseAdd, SparseDenseCwiseMul,
                   SparseDenseCwiseDiv>();
}

}  // namespace penstock::ops
