#include "penstock/ops/top_k.h"

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "penstock/kernels/top_k.h"
#include "penstock/ops/dtype_switch.h"

namespace penstock::ops {
namespace {

using Ordered = Types<float, double, half, bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t,
                      uint16_t, uint32_t, uint64_t>;

std::optional<int64_t> CountIn(const Known& k) {
  if (k.value == nullptr) return std::nullopt;
  switch (k.dtype) {
    case DType::kInt16:
      return *k.value->data<int16_t>();
    case DType::kInt32:
      return *k.value->data<int32_t>();
    default:
      return *k.value->data<int64_t>();
  }
}

Result<std::array<Shape, 2>> ShapesFor(const Shape& input, std::optional<int64_t> k) {
  TRY(CheckRankAtLeast(input, 1, "input"));
  if (k && *k < 0) return InvalidArgument("Need k >= 0, got {}", *k);
  if (!input.has_rank()) return std::array<Shape, 2>{Shape::Unknown(), Shape::Unknown()};
  const int last = input.rank() - 1;
  if (k && input.dim(last) >= 0 && *k > input.dim(last)) {
    return InvalidArgument("input must have at least k columns. Had {}, needed {}", input.dim(last),
                           *k);
  }
  Shape out = input;
  out.set_dim(last, k ? *k : Shape::kUnknownDim);
  return std::array<Shape, 2>{out, out};
}

template <class T, class Index>
void TopOfRows(CpuContext& context, const Tensor& input, bool sorted, Tensor& values,
               Tensor& indices) {
  const int64_t columns = input.shape().dim(input.shape().rank() - 1);
  const int64_t k = values.shape().dim(values.shape().rank() - 1);
  if (k == 0 || values.num_elements() == 0) return;
  const T* in = input.data<T>();
  T* out = values.mutable_data<T>();
  Index* where = indices.mutable_data<Index>();
  kernels::TopK(
      in, values.num_elements() / k, columns, k, sorted,
      [&](int64_t row, std::span<const int64_t> places) {
        for (int64_t i = 0; i < k; ++i) {
          out[row * k + i] = in[row * columns + places[i]];
          where[row * k + i] = static_cast<Index>(places[i]);
        }
      },
      context.parallel());
}

Status Compute(CpuContext& context, const Tensor& input, bool sorted, Tensor& values,
               Tensor& indices) {
  const int64_t columns = input.shape().dim(input.shape().rank() - 1);
  if (indices.dtype() == DType::kInt16 && columns > std::numeric_limits<int16_t>::max() + 1)
    return InvalidArgument("places in rows of {} do not fit into int16", columns);
  return ForDType(input.dtype(), Ordered(), [&]<class T>() {
    return ForDType(indices.dtype(), Types<int16_t, int32_t, int64_t>(), [&]<class Index>() {
      TopOfRows<T, Index>(context, input, sorted, values, indices);
      return OkStatus();
    });
  });
}

// Each gradient goes back to the place that its value came from: the rows laid out one after
// another, place p of row r is r * columns + p.
void ScatterBack(Gradients& g) {
  const Scope& scope = g.scope();
  auto number = [&](int64_t value) {
    return scope.Add("Const", {}, {{"value", Tensor::Scalar(value)}, {"dtype", DType::kInt64}});
  };
  auto vector = [&](std::vector<int64_t> values) {
    const Shape shape{static_cast<int64_t>(values.size())};
    return scope.Add(
        "Const", {},
        {{"value", Tensor::FromValues<int64_t>(shape, values)}, {"dtype", DType::kInt64}});
  };
  const Expr shape = Op("Shape", g.input(0), {{"out_type", DType::kInt64}});
  const Expr size = Op("Size", g.input(0), {{"out_type", DType::kInt64}});
  const Expr rank = Op("Cast", Op("Rank", g.input(0)), {{"DstT", DType::kInt64}});
  const Expr columns = Op("GatherV2", shape, rank - number(1), number(0));
  const Expr places = Op("Cast", g.output(1), {{"DstT", DType::kInt64}});
  const Expr k = Op("GatherV2", Op("Shape", places, {{"out_type", DType::kInt64}}),
                    rank - number(1), number(0));
  const Expr starts = scope.Add("Range", {number(0), size, Op("Maximum", columns, number(1))}, {});
  const Expr by_row = Op("Reshape", places, scope.Add("Pack", {number(-1), k}, {{"N", 2}}));
  const Expr flat = by_row + Op("Reshape", starts, vector({-1, 1}));
  const Expr sums = Op("ScatterNd", Op("Reshape", flat, vector({-1, 1})),
                       Op("Reshape", g.dy(0), vector({-1})), Op("Reshape", size, vector({1})));
  g.Set(0, Op("Reshape", sums, shape));
}

}  // namespace

Result<std::array<Shape, 2>> TopKV2::InferShape(const Shape& input, const Known& k) const {
  TRY(CheckScalar(*k.shape, "k"));
  return ShapesFor(input, CountIn(k));
}
void TopKV2::Gradient(Gradients& g) const { ScatterBack(g); }
Status TopKV2::ComputeCpu(CpuContext& context, const Tensor& input, const Tensor&, Tensor& values,
                          Tensor& indices) const {
  return Compute(context, input, sorted, values, indices);
}

Result<std::array<Shape, 2>> TopK::InferShape(const Shape& input) const {
  return ShapesFor(input, k);
}
void TopK::Gradient(Gradients& g) const { ScatterBack(g); }
Status TopK::ComputeCpu(CpuContext& context, const Tensor& input, Tensor& values,
                        Tensor& indices) const {
  return Compute(context, input, sorted, values, indices);
}

void RegisterTopK(Registrar& registrar) { registrar.AddAll<TopK, TopKV2>(); }

}  // namespace penstock::ops
