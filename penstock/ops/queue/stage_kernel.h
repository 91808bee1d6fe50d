#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "penstock/ops/queue/stage.h"
#include "penstock/ops/queue/stage_ops.h"
#include "penstock/ops/shared_state.h"
#include "penstock/ops/variable_access.h"

// What the kernels of staging areas and maps share.

namespace penstock::ops {

// The area or map that a node stands for. The first node that runs sets its limits.
template <class Area>
class StagedState {
 public:
  StagedState(const StageAttrs& attrs, const KernelRequest& request)
      : state_(
            attrs.container, attrs.shared_name.empty() ? request.node : attrs.shared_name, "Stage",
            [limits = StageLimits{attrs.capacity, attrs.memory_limit}] {
              return std::make_shared<Area>(limits);
            },
            [](const Area&) { return OkStatus(); }) {}
  Result<std::shared_ptr<Area>> Get(KernelContext& context) { return state_.Get(context); }

 private:
  SharedState<Area> state_;
};

template <class Op>
const StageAttrs& StageAttrsOf(const KernelRequest& request) {
  return static_cast<const op_internal::Decoded<Op>*>(request.op.get())->op;
}

// A number of elements as the only output.
template <class Area>
class StageSizeKernel final : public Kernel {
 public:
  StageSizeKernel(const StageAttrs& attrs, const KernelRequest& request,
                  int64_t (Area::*size)() const)
      : state_(attrs, request), size_(size) {}

  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(const std::shared_ptr<Area> area, state_.Get(context));
    TRY(context.AllocateOutput(0, DType::kInt32, Shape()));
    const int64_t size = ((*area).*size_)();
    *context.output(0).mutable_data<int32_t>() =
        static_cast<int32_t>(std::min<int64_t>(size, std::numeric_limits<int32_t>::max()));
    return OkStatus();
  }

 private:
  StagedState<Area> state_;
  int64_t (Area::*const size_)() const;
};

template <class Area>
class StageClearKernel final : public Kernel {
 public:
  StageClearKernel(const StageAttrs& attrs, const KernelRequest& request)
      : state_(attrs, request) {}

  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(const std::shared_ptr<Area> area, state_.Get(context));
    area->Clear();
    return OkStatus();
  }

 private:
  StagedState<Area> state_;
};

// The inputs from `begin` on as values that outlive the step.
inline Result<std::vector<Tensor>> KeepInputsFrom(KernelContext& context, int begin) {
  std::vector<Tensor> values;
  for (int i = begin; i < context.num_inputs(); ++i) {
    TRY_ASSIGN(Tensor value, KeepInput(context, i));
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace penstock::ops
