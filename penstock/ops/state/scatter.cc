#include "penstock/ops/state/scatter.h"

#include <algorithm>

#include "penstock/kernels/scatter.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/index_rows.h"
#include "penstock/ops/strided_copy.h"
#include "penstock/ops/variable_access.h"

namespace penstock::ops {
namespace {

// The element-wise op that combines a place with its update.
std::string_view CombiningOp(ScatterRule rule, DType dtype) {
  switch (rule) {
    case ScatterRule::kUpdate:
      return "";
    case ScatterRule::kAdd:
      return dtype == DType::kBool ? "LogicalOr" : "AddV2";
    case ScatterRule::kSub:
      return "Sub";
    case ScatterRule::kMul:
      return "Mul";
    case ScatterRule::kDiv:
      return "Div";
    case ScatterRule::kMin:
      return "Minimum";
    case ScatterRule::kMax:
      return "Maximum";
  }
  return "";
}

Status CheckDivisors(const Tensor& updates) {
  using Integers = Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
  bool has_zero = false;
  // Other types may be divided by zero.
  (void)ForDType(updates.dtype(), Integers(), [&]<class T>() {
    const auto values = updates.values<T>();
    has_zero = std::find(values.begin(), values.end(), T(0)) != values.end();
    return OkStatus();
  });
  return has_zero ? InvalidArgument("Integer division by zero") : OkStatus();
}

class ScatterKernel final : public Kernel {
 public:
  ScatterKernel(const ScatterForm& form, DType dtype, const ElementwiseBlock& block)
      : form_(form), dtype_(dtype), block_(block) {}

  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(const std::shared_ptr<StateVariable> variable,
               FindVariable(context, context.input(0), dtype_));
    TRY(variable->Update([&](Tensor& value) { return Update(context, value); }));
    if (form_.is_reference) context.SetOutput(0, context.input(0));
    return OkStatus();
  }

 private:
  // Everything is checked before the value is touched.
  Status Update(KernelContext& context, Tensor& value) const {
    if (!value.initialized()) {
      const ResourceHandle& handle = HandleIn(context.input(0));
      return form_.is_reference ? UninitializedReference(handle) : UninitializedResource(handle);
    }
    const Tensor& indices = context.input(1);
    const Tensor updates = context.input(2);
    const Shape& shape = value.shape();
    TRY(form_.is_nd ? CheckScatterNd(shape, indices.shape(), updates.shape())
                    : CheckScatter(shape, indices.shape(), updates.shape()));
    const int depth =
        form_.is_nd ? static_cast<int>(indices.shape()[indices.shape().rank() - 1]) : 1;
    // No index at all: the number of slices then has no bound.
    if (indices.num_elements() == 0 && updates.num_elements() == 0) return OkStatus();
    TRY_ASSIGN(const Tensor rows, RowsOf(context, indices, shape));
    const bool nothing = rows.num_elements() == 0 || value.num_elements() == 0;
    if (nothing) return OkStatus();
    if (block_.divides) TRY(CheckDivisors(updates));
    TRY(MakeWritable(context, value));
    kernels::Scatter scatter;
    scatter.table_rows = ProductOf(shape, 0, depth);
    scatter.row_elements = ProductOf(shape, depth, shape.rank());
    scatter.rows = rows.data<int64_t>();
    scatter.num_updates = rows.num_elements();
    scatter.is_scalar = !form_.is_nd && updates.shape().IsScalar();
    if (!IsPlain(dtype_)) return MoveObjects(context, scatter, updates, value);
    scatter.table = value.mutable_raw();
    scatter.element_bytes = static_cast<int64_t>(SizeOf(dtype_));
    scatter.updates = updates.raw();
    kernels::ScatterRows(scatter, block_.function, block_.cost, context.parallel());
    return OkStatus();
  }

  Result<Tensor> RowsOf(KernelContext& context, const Tensor& indices, const Shape& shape) const {
    if (form_.is_nd) return SlicePositions(context, indices, shape, form_.ignore_bad);
    TRY_ASSIGN(const Tensor rows, WidenIndices(context, indices));
    const int64_t* at = rows.data<int64_t>();
    const int64_t bad = kernels::FirstOutOfRange(at, rows.num_elements(), shape[0]);
    if (bad >= 0) return IndexOutOfRange(indices.shape(), bad, at[bad], shape[0]);
    return rows;
  }

  // Strings and handles are copied one by one.
  static Status MoveObjects(KernelContext& context, const kernels::Scatter& scatter,
                            const Tensor& updates, Tensor& value) {
    const int64_t n = scatter.row_elements;
    for (int64_t i = 0; i < scatter.num_updates; ++i) {
      const int64_t at = scatter.rows[i];
      if (at < 0) continue;
      if (!scatter.is_scalar) {
        CopyRun(updates, i * n, value, at * n, n, context.parallel());
        continue;
      }
      for (int64_t k = 0; k < n; ++k) CopyRun(updates, 0, value, at * n + k, 1, context.parallel());
    }
    return OkStatus();
  }

  const ScatterForm form_;
  const DType dtype_;
  const ElementwiseBlock block_;  // without a function: the update replaces what was there
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakeScatterKernel(const KernelRequest& request,
                                                  const ScatterForm& form) {
  const DType dtype = request.inputs[2];
  ElementwiseBlock block;
  if (form.rule != ScatterRule::kUpdate) {
    const ElementwiseBlock* found =
        StandardElementwise().Find(CombiningOp(form.rule, dtype), dtype);
    if (found == nullptr) {
      return Unimplemented("no CPU kernel scatters this way into a variable of {}", dtype);
    }
    block = *found;
  }
  return std::unique_ptr<Kernel>(std::make_unique<ScatterKernel>(form, dtype, block));
}

Status CheckScatter(const Shape& variable, const Shape& indices, const Shape& updates) {
  if (variable.has_rank() && variable.rank() == 0) {
    return InvalidArgument("params must be at least 1-D, got shape {}", variable);
  }
  if (!variable.has_rank() || !indices.has_rank() || !updates.has_rank()) return OkStatus();
  if (updates.IsScalar()) return OkStatus();
  std::vector<int64_t> dims(indices.dims().begin(), indices.dims().end());
  dims.insert(dims.end(), variable.dims().begin() + 1, variable.dims().end());
  const Result<Shape> wanted = Shape::Make(dims);
  if (wanted.ok() && wanted->IsCompatibleWith(updates)) return OkStatus();
  return InvalidArgument(
      "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got "
      "updates.shape {}, indices.shape {}, params.shape {}",
      updates, indices, variable);
}

Status CheckScatterPolicy(const std::string& policy) { return CheckBadIndicesPolicy(policy); }

Status CheckScatterNd(const Shape& variable, const Shape& indices, const Shape& updates) {
  return CheckSliceUpdates(indices, updates, variable);
}

void RegisterStateScatter(Registrar& registrar) {
  registrar.AddAll<ScatterUpdate, ScatterAdd, ScatterSub, ScatterMul, ScatterDiv, ScatterMin,
                   ScatterMax>();
  registrar
      .AddAll<ResourceScatterUpdate, ResourceScatterAdd, ResourceScatterSub, ResourceScatterMul,
              ResourceScatterDiv, ResourceScatterMin, ResourceScatterMax>();
  registrar.AddAll<ScatterNdUpdate, ScatterNdAdd, ScatterNdSub, ScatterNdMin, ScatterNdMax>();
  registrar.AddAll<ResourceScatterNdUpdate, ResourceScatterNdAdd, ResourceScatterNdSub,
                   ResourceScatterNdMin, ResourceScatterNdMax>();
}

}  // namespace penstock::ops
