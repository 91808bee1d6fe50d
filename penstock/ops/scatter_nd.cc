#include "penstock/ops/scatter_nd.h"

#include <string_view>
#include <type_traits>
#include <vector>

#include "penstock/kernels/scatter.h"
#include "penstock/ops/elementwise.h"
#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/index_rows.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

// What bools and strings are summed by, which have no arithmetic.
inline bool Sum(bool a, bool b) { return a || b; }
inline std::string Sum(const std::string& a, const std::string& b) { return a + b; }

// Combines slices of updates into those of `output` by an element-wise op: rows that name the same
// slice follow each other in order, whatever the number of threads.
template <class T>
Status ScatterRows(CpuContext& context, std::string_view op, const Tensor& indices,
                   const Tensor& updates, bool ignore_bad, Tensor& output) {
  if (updates.num_elements() == 0 && indices.num_elements() == 0) return OkStatus();
  TRY_ASSIGN(const Tensor places, SlicePositions(context, indices, output.shape(), ignore_bad));
  if (updates.num_elements() == 0) return OkStatus();
  const int64_t rows = places.num_elements(), inner = updates.num_elements() / rows;
  const int64_t* at = places.data<int64_t>();
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
    for (int64_t r = 0; r < rows; ++r) {
      if (at[r] < 0) continue;
      T* slice = output.mutable_data<T>() + at[r] * inner;
      const T* update = updates.data<T>() + r * inner;
      for (int64_t i = 0; i < inner; ++i) slice[i] = Sum(slice[i], update[i]);
    }
  } else {
    const ElementwiseBlock* block = StandardElementwise().Find(op, kDTypeOf<T>);
    if (block == nullptr) return Unimplemented("there is no {} of {}", op, kDTypeOf<T>);
    kernels::Scatter scatter;
    scatter.table = output.mutable_raw();
    scatter.table_rows = output.num_elements() / inner;
    scatter.row_elements = inner;
    scatter.element_bytes = sizeof(T);
    scatter.rows = at;
    scatter.num_updates = rows;
    scatter.updates = updates.raw();
    kernels::ScatterRows(scatter, block->function, block->cost, context.parallel());
  }
  return OkStatus();
}

// As ScatterRows, into a copy of `tensor`.
template <class T>
Status ScatterInto(CpuContext& context, std::string_view op, const Tensor& tensor,
                   const Tensor& indices, const Tensor& updates, bool ignore_bad, Tensor& output) {
  CopyRun(tensor, 0, output, 0, tensor.num_elements(), context.parallel());
  return ScatterRows<T>(context, op, indices, updates, ignore_bad, output);
}

}  // namespace

Status ScatterNd::CheckAttrs() const { return CheckBadIndicesPolicy(bad_indices_policy); }

Result<Shape> ScatterNd::InferShape(const Shape& indices, const Shape& updates,
                                    const Integers& shape) const {
  TRY(CheckVector(shape.shape(), "shape"));
  TRY_ASSIGN(const Shape to, shape.AsShape());
  TRY(CheckSliceUpdates(indices, updates, to));
  return to;
}

void ScatterNd::Gradient(Gradients& g) const {
  g.Set(1, Op("GatherNd", g.dy(), g.input(0), {{"bad_indices_policy", bad_indices_policy}}));
}

template <class T>
Status ScatterNd::ComputeCpu(CpuContext& context, const Tensor& indices, const Tensor& updates,
                             const Tensor&, Tensor& output) const {
  ZeroElements(output, context.parallel());
  return ScatterRows<T>(context, "AddV2", indices, updates, bad_indices_policy == "IGNORE", output);
}

Status TensorScatterUpdate::CheckAttrs() const { return CheckBadIndicesPolicy(bad_indices_policy); }

Result<Shape> TensorScatterUpdate::InferShape(const Shape& tensor, const Shape& indices,
                                              const Shape& updates) const {
  TRY(CheckSliceUpdates(indices, updates, tensor));
  return tensor;
}

void TensorScatterUpdate::Gradient(Gradients& g) const {
  g.Set(0, Op("TensorScatterUpdate", g.dy(), g.input(1), Op("ZerosLike", g.input(2)),
              {{"bad_indices_policy", bad_indices_policy}}));
  g.Set(2, Op("GatherNd", g.dy(), g.input(1), {{"bad_indices_policy", bad_indices_policy}}));
}

Status TensorScatterUpdate::ComputeCpu(CpuContext& context, const Tensor& tensor,
                                       const Tensor& indices, const Tensor& updates,
                                       Tensor& output) const {
  CopyRun(tensor, 0, output, 0, tensor.num_elements(), context.parallel());
  if (updates.num_elements() == 0 && indices.num_elements() == 0) return OkStatus();
  TRY_ASSIGN(const Tensor places,
             SlicePositions(context, indices, tensor.shape(), bad_indices_policy == "IGNORE"));
  if (updates.num_elements() == 0) return OkStatus();
  const int64_t rows = places.num_elements(), inner = updates.num_elements() / rows;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = places.data<int64_t>()[r];
    if (at >= 0) CopyRun(updates, r * inner, output, at * inner, inner, context.parallel());
  }
  return OkStatus();
}

Status TensorScatterAdd::CheckAttrs() const { return CheckBadIndicesPolicy(bad_indices_policy); }

Result<Shape> TensorScatterAdd::InferShape(const Shape& tensor, const Shape& indices,
                                           const Shape& updates) const {
  TRY(CheckSliceUpdates(indices, updates, tensor));
  return tensor;
}

void TensorScatterAdd::Gradient(Gradients& g) const {
  g.Set(0, g.dy());
  g.Set(2, Op("GatherNd", g.dy(), g.input(1), {{"bad_indices_policy", bad_indices_policy}}));
}

template <class T>
Status TensorScatterAdd::ComputeCpu(CpuContext& context, const Tensor& tensor,
                                    const Tensor& indices, const Tensor& updates,
                                    Tensor& output) const {
  return ScatterInto<T>(context, "AddV2", tensor, indices, updates, bad_indices_policy == "IGNORE",
                        output);
}

Status TensorScatterSub::CheckAttrs() const { return CheckBadIndicesPolicy(bad_indices_policy); }

Result<Shape> TensorScatterSub::InferShape(const Shape& tensor, const Shape& indices,
                                           const Shape& updates) const {
  TRY(CheckSliceUpdates(indices, updates, tensor));
  return tensor;
}

void TensorScatterSub::Gradient(Gradients& g) const {
  g.Set(0, g.dy());
  g.Set(2, -Op("GatherNd", g.dy(), g.input(1), {{"bad_indices_policy", bad_indices_policy}}));
}

template <class T>
Status TensorScatterSub::ComputeCpu(CpuContext& context, const Tensor& tensor,
                                    const Tensor& indices, const Tensor& updates,
                                    Tensor& output) const {
  return ScatterInto<T>(context, "Sub", tensor, indices, updates, bad_indices_policy == "IGNORE",
                        output);
}

// Where several elements are the extreme they share its gradient.
void ScatterExtremeGradient(Gradients& g, const std::string& bad_indices_policy) {
  const AttrMap policy{{"bad_indices_policy", bad_indices_policy}};
  const Expr x = g.input(0), indices = g.input(1), updates = g.input(2), dy = g.dy();
  const Expr x_wins = CastTo(Op("Equal", x, g.output(0)), dy.dtype());
  const Expr update_wins =
      CastTo(Op("Equal", updates, Op("GatherNd", g.output(0), indices, policy)), dy.dtype());
  const Expr winners =
      x_wins + Op("ScatterNd", indices, update_wins, ShapeOf(x, indices.dtype()), policy);
  g.Set(0, dy * x_wins / winners);
  g.Set(2, Op("GatherNd", dy / winners, indices, policy) * update_wins);
}

template <FixedString Name, bool IsMax>
template <class T>
Status TensorScatterExtreme<Name, IsMax>::ComputeCpu(CpuContext& context, const Tensor& tensor,
                                                     const Tensor& indices, const Tensor& updates,
                                                     Tensor& output) const {
  return ScatterInto<T>(context, IsMax ? "Maximum" : "Minimum", tensor, indices, updates,
                        bad_indices_policy == "IGNORE", output);
}

Status ScatterNdNonAliasingAdd::CheckAttrs() const {
  return CheckBadIndicesPolicy(bad_indices_policy);
}

Result<Shape> ScatterNdNonAliasingAdd::InferShape(const Shape& input, const Shape& indices,
                                                  const Shape& updates) const {
  TRY(CheckSliceUpdates(indices, updates, input));
  return input;
}

void ScatterNdNonAliasingAdd::Gradient(Gradients& g) const {
  g.Set(0, g.dy());
  g.Set(2, Op("GatherNd", g.dy(), g.input(1), {{"bad_indices_policy", bad_indices_policy}}));
}

template <class T>
Status ScatterNdNonAliasingAdd::ComputeCpu(CpuContext& context, const Tensor& input,
                                           const Tensor& indices, const Tensor& updates,
                                           Tensor& output) const {
  return ScatterInto<T>(context, "AddV2", input, indices, updates, bad_indices_policy == "IGNORE",
                        output);
}

void RegisterScatterNd(Registrar& registrar) {
  registrar.AddAll<ScatterNd, TensorScatterUpdate, TensorScatterAdd, TensorScatterSub,
                   TensorScatterMax, TensorScatterMin, ScatterNdNonAliasingAdd>();
}

}  // namespace penstock::ops
