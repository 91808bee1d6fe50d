#include "penstock/ops/gather.h"

#include <string>
#include <vector>

#include "penstock/core/resource.h"
#include "penstock/kernels/copy.h"
#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/index_rows.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

// Which axes a gather works on, once ranks are known.
struct GatherAxes {
  int axis = 0;
  int batch = 0;
};

Result<GatherAxes> ResolveGather(const Shape& params, const Shape& indices, int64_t axis,
                                 int64_t batch_dims) {
  GatherAxes axes;
  if (params.rank() == 0)
    return InvalidArgument("params must have at least one axis, got a scalar");
  TRY_ASSIGN(axes.axis, ResolveAxis(axis, params.rank()));
  const int most = indices.rank();
  if (batch_dims < -most || batch_dims > most) {
    return InvalidArgument("batch_dims must be in [{}, {}], got {}", -most, most, batch_dims);
  }
  axes.batch = static_cast<int>(batch_dims < 0 ? batch_dims + most : batch_dims);
  if (axes.batch > axes.axis) {
    return InvalidArgument("batch_dims must be at most axis {}, got {}", axes.axis, axes.batch);
  }
  return axes;
}

Result<Shape> InferGather(const Shape& params, const Shape& indices, const Integers& axis,
                          int64_t batch_dims) {
  TRY(CheckScalar(axis.shape(), "axis"));
  TRY(CheckRankAtLeast(params, 1, "params"));
  if (!params.has_rank() || !indices.has_rank()) return Shape::Unknown();
  const int batch = static_cast<int>(batch_dims < 0 ? batch_dims + indices.rank() : batch_dims);
  if (!axis.known()) {
    const int64_t rank = int64_t{params.rank()} + indices.rank() - 1 - batch;
    if (batch < 0 || batch > indices.rank() || rank > Shape::kMaxRank) return Shape::Unknown();
    return Shape::UnknownOfRank(static_cast<int>(rank));
  }
  TRY_ASSIGN(const GatherAxes axes, ResolveGather(params, indices, axis[0], batch_dims));
  TRY_ASSIGN(const Shape common,
             MergeShapes(params.Slice(0, axes.batch), indices.Slice(0, axes.batch)));
  std::vector<int64_t> dims(common.dims().begin(), common.dims().end());
  for (int i = axes.batch; i < axes.axis; ++i) dims.push_back(params[i]);
  for (int i = axes.batch; i < indices.rank(); ++i) dims.push_back(indices[i]);
  for (int i = axes.axis + 1; i < params.rank(); ++i) dims.push_back(params[i]);
  return Shape::Make(dims);
}

template <class T, class Index>
int64_t GatherObjects(const Tensor& params, const Tensor& indices,
                      const kernels::GatherShape& shape, Tensor& output, const ParallelFor& each) {
  return kernels::GatherObjects(params.data<T>(), indices.data<Index>(), shape,
                                output.mutable_data<T>(), each);
}

// Returns the first position of a bad index, or -1.
template <class Index>
int64_t GatherElements(const Tensor& params, const Tensor& indices,
                       const kernels::GatherShape& shape, Tensor& output, const ParallelFor& each) {
  switch (params.dtype()) {
    case DType::kString:
      return GatherObjects<std::string, Index>(params, indices, shape, output, each);
    case DType::kResource:
      return GatherObjects<ResourceHandle, Index>(params, indices, shape, output, each);
    case DType::kVariant:
      return GatherObjects<Variant, Index>(params, indices, shape, output, each);
    default:
      return kernels::GatherRows(params.raw(), indices.data<Index>(), shape,
                                 static_cast<int64_t>(SizeOf(params.dtype())), output.mutable_raw(),
                                 each);
  }
}

Status RunGather(CpuContext& context, const Tensor& params, const Tensor& given,
                 const GatherAxes& axes, Tensor& output) {
  Tensor indices = given;
  if (given.dtype() == DType::kInt16) {
    TRY_ASSIGN(indices, WidenIndices(context, given));
  }
  kernels::GatherShape shape;
  shape.batch = ProductOf(params.shape(), 0, axes.batch);
  shape.outer = ProductOf(params.shape(), axes.batch, axes.axis);
  shape.gather_dim = params.shape()[axes.axis];
  shape.num_indices = ProductOf(indices.shape(), axes.batch, indices.shape().rank());
  shape.inner = ProductOf(params.shape(), axes.axis + 1, params.shape().rank());
  // Indices are checked even when there is nothing to copy, but no oftener than they are there.
  if (output.num_elements() == 0) shape.outer = 1, shape.inner = 0;
  const bool is_wide = indices.dtype() == DType::kInt64;
  const int64_t bad =
      is_wide ? GatherElements<int64_t>(params, indices, shape, output, context.parallel())
              : GatherElements<int32_t>(params, indices, shape, output, context.parallel());
  if (bad < 0) return OkStatus();
  return IndexOutOfRange(indices.shape(), bad,
                         is_wide ? indices.data<int64_t>()[bad] : indices.data<int32_t>()[bad],
                         shape.gather_dim);
}

Expr Prod(const Expr& extents) {
  return Op("Prod", extents, IntVector(extents.scope(), {0}), {{"keep_dims", true}});
}

// The extents [begin, begin + size) of a shape vector.
Expr Extents(const Expr& shape, const Expr& begin, const Expr& size) {
  return Op("Slice", shape, begin, size);
}

// Adds the rows of dy up at the places that the indices name. Everything is brought to
// params [Q, P, n, R], indices [Q, M], dy [Q, P, M, R]: Q batch, P axes before, R after.
Expr GatherGradient(const Gradients& g, const Expr& given_axis, int64_t batch_dims) {
  const Scope& scope = g.scope();
  const Expr one = IntVector(scope, {1}), rest = IntVector(scope, {-1});
  const Expr shape = ShapeOf(g.input(0));
  const Expr indices = CastTo(g.input(1), DType::kInt32);
  const Expr rank = Op("Reshape", Op("Rank", g.input(0)), one);
  const Expr axis = Op("FloorMod", Op("Reshape", CastTo(given_axis, DType::kInt32), one), rank);
  Expr batch = IntVector(scope, {batch_dims});
  if (batch_dims < 0) batch = batch + Op("Reshape", Op("Rank", g.input(1)), one);
  const Expr q = Prod(Extents(shape, IntVector(scope, {0}), batch));
  const Expr p = Prod(Extents(shape, batch, axis - batch));
  const Expr n = Extents(shape, axis, one);
  const Expr r = Prod(Extents(shape, axis + one, rest));
  const Expr concat_axis = IntScalar(scope, 0);
  const auto join = [&](std::vector<Expr> parts) {
    parts.push_back(concat_axis);
    return scope.Add("ConcatV2", parts);
  };
  // M from the indices themselves: extents may be zero, and then -1 means nothing.
  const Expr m = Prod(Extents(ShapeOf(g.input(1)), batch, rest));
  const Expr rows =
      Op("Transpose", Op("Reshape", g.dy(), join({q, p, m, r})), IntVector(scope, {0, 2, 1, 3}));
  // Row i of batch b goes to row b * n + index.
  const Expr first =
      scope.Add("Range", {IntScalar(scope, 0), Op("Reshape", q, IntVector(scope, {})),
                          IntScalar(scope, 1)}) *
      n;
  const Expr places = Op("Reshape", indices, join({q, m})) + Op("ExpandDims", first, one);
  const Expr sums =
      scope.Add("ScatterNd", {Op("Reshape", places, join({q * m, one})),
                              Op("Reshape", rows, join({q * m, p, r})), join({q * n, p, r})});
  const Expr back =
      Op("Transpose", Op("Reshape", sums, join({q, n, p, r})), IntVector(scope, {0, 2, 1, 3}));
  return Op("Reshape", back, shape);
}

// Whether a gather goes along the first axis, as far as the graph tells.
bool IsAlongRows(const Expr& axis) {
  const Tensor* value = ConstantValue(axis.scope().graph(), axis.ref());
  if (value == nullptr || value->num_elements() != 1) return false;
  return value->dtype() == DType::kInt64 ? value->data<int64_t>()[0] == 0
                                         : value->data<int32_t>()[0] == 0;
}

template <class T>
bool IsNonZero(const T& value) {
  if constexpr (requires { value.value; }) {
    return value.value != 0;
  } else if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) {
    return static_cast<float>(value) != 0;
  } else {
    return value != T(0);
  }
}

}  // namespace

Result<Shape> Gather::InferShape(const Shape& params, const Shape& indices) const {
  const Tensor zero = Tensor::Scalar(int32_t{0});
  return InferGather(params, indices, Integers({&zero.shape(), zero.dtype(), &zero, nullptr}), 0);
}

void Gather::Gradient(Gradients& g) const {
  SetLookedUpRows(g, 0, ShapeOf(g.input(0)), GatherGradient(g, IntScalar(g.scope(), 0), 0));
}

Status Gather::ComputeCpu(CpuContext& context, const Tensor& params, const Tensor& indices,
                          Tensor& output) const {
  return RunGather(context, params, indices, {}, output);
}

Result<Shape> GatherV2::InferShape(const Shape& params, const Shape& indices,
                                   const Integers& axis) const {
  return InferGather(params, indices, axis, batch_dims);
}

void GatherV2::Gradient(Gradients& g) const {
  const Expr dense = GatherGradient(g, g.input(2), batch_dims);
  if (batch_dims == 0 && IsAlongRows(g.input(2))) {
    SetLookedUpRows(g, 0, ShapeOf(g.input(0)), dense);
  } else {
    g.Set(0, dense);
  }
}

Status GatherV2::ComputeCpu(CpuContext& context, const Tensor& params, const Tensor& indices,
                            const Integers& axis, Tensor& output) const {
  TRY_ASSIGN(const GatherAxes axes,
             ResolveGather(params.shape(), indices.shape(), axis[0], batch_dims));
  return RunGather(context, params, indices, axes, output);
}

Status GatherNd::CheckAttrs() const { return CheckBadIndicesPolicy(bad_indices_policy); }

Result<Shape> GatherNd::InferShape(const Shape& params, const Shape& indices) const {
  TRY(CheckRankAtLeast(indices, 1, "indices"));
  if (!indices.has_rank() || !params.has_rank()) return Shape::Unknown();
  const int64_t depth = indices[indices.rank() - 1];
  if (depth < 0) return Shape::Unknown();
  if (depth > params.rank()) {
    return InvalidArgument(
        "rows of indices must be at most as long as the rank of params, {}, got {}", params.rank(),
        depth);
  }
  std::vector<int64_t> dims(indices.dims().begin(), indices.dims().end() - 1);
  for (int i = static_cast<int>(depth); i < params.rank(); ++i) dims.push_back(params[i]);
  return Shape::Make(dims);
}

void GatherNd::Gradient(Gradients& g) const {
  const Expr shape =
      ShapeOf(g.input(0), g.input(1).dtype() == DType::kInt64 ? DType::kInt64 : DType::kInt32);
  g.Set(0, g.scope().Add("ScatterNd", {CastTo(g.input(1), shape.dtype()), g.dy(), shape},
                         {{"bad_indices_policy", bad_indices_policy}}));
}

Status GatherNd::ComputeCpu(CpuContext& context, const Tensor& params, const Tensor& indices,
                            Tensor& output) const {
  const int depth = static_cast<int>(indices.shape()[indices.shape().rank() - 1]);
  // No index at all, and nothing to copy: the number of rows then has no bound.
  if (output.num_elements() == 0 && indices.num_elements() == 0) return OkStatus();
  const bool ignore_bad = bad_indices_policy == "IGNORE";
  TRY_ASSIGN(const Tensor rows, SlicePositions(context, indices, params.shape(), ignore_bad));
  if (output.num_elements() == 0) return OkStatus();
  kernels::GatherShape shape;
  shape.gather_dim = ProductOf(params.shape(), 0, depth);
  shape.num_indices = rows.num_elements();
  shape.inner = ProductOf(params.shape(), depth, params.shape().rank());
  if (ignore_bad) ZeroElements(output, context.parallel());
  GatherElements<int64_t>(params, rows, shape, output, context.parallel());
  return OkStatus();
}

Result<Shape> Where::InferShape(const Shape& input) const {
  return Shape{Shape::kUnknownDim, input.has_rank() ? input.rank() : Shape::kUnknownDim};
}

template <class T>
Status Where::ComputeCpu(CpuContext& context, const Tensor& input) const {
  const auto values = input.values<T>();
  int64_t count = 0;
  for (const T& value : values) count += IsNonZero(value);
  const int rank = input.shape().rank();
  TRY(context.AllocateOutput(0, DType::kInt64, Shape{count, rank}));
  int64_t* out = context.output(0).template mutable_data<int64_t>();
  std::vector<int64_t> at(rank, 0);
  for (const T& value : values) {
    if (IsNonZero(value)) out = std::copy(at.begin(), at.end(), out);
    for (int i = rank; i-- > 0 && ++at[i] == input.shape()[i];) at[i] = 0;
  }
  return OkStatus();
}

void RegisterGather(Registrar& registrar) { registrar.AddAll<Gather, GatherV2, GatherNd, Where>(); }

}  // namespace penstock::ops
