#include "penstock/ops/queue/stage_ops.h"

#include <utility>

#include "penstock/ops/queue/stage_kernel.h"

namespace penstock::ops {
namespace {

class StageKernel final : public WaitingKernel {
 public:
  explicit StageKernel(const KernelRequest& request)
      : state_(StageAttrsOf<Stage>(request), request) {}

 private:
  Status Begin(KernelContext& context, Done& done) override {
    TRY_ASSIGN(const std::shared_ptr<StagingArea> area, state_.Get(context));
    TRY_ASSIGN(std::vector<Tensor> element, KeepInputsFrom(context, 0));
    return area->Put(context, std::move(element), done);
  }

  StagedState<StagingArea> state_;
};

class UnstageKernel final : public WaitingKernel {
 public:
  UnstageKernel(const StageAttrs& attrs, const KernelRequest& request, bool peek)
      : state_(attrs, request),
        dtypes_(request.outputs.begin(), request.outputs.end()),
        peek_(peek) {}

 private:
  Status Begin(KernelContext& context, Done& done) override {
    TRY_ASSIGN(const std::shared_ptr<StagingArea> area, state_.Get(context));
    if (!peek_) {
      area->Get(context, dtypes_, std::move(done));
      return OkStatus();
    }
    TRY(CheckScalar(context.input(0).shape(), "index"));
    const int64_t index = context.input(0).scalar<int32_t>();
    if (index < 0) return InvalidArgument("index must not be negative, got {}", index);
    area->Peek(context, index, dtypes_, std::move(done));
    return OkStatus();
  }

  StagedState<StagingArea> state_;
  const std::vector<DType> dtypes_;
  const bool peek_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> Stage::MakeCpuKernel(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(std::make_unique<StageKernel>(request));
}

Result<std::unique_ptr<Kernel>> Unstage::MakeCpuKernel(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(
      std::make_unique<UnstageKernel>(StageAttrsOf<Unstage>(request), request, false));
}

Result<std::unique_ptr<Kernel>> StagePeek::MakeCpuKernel(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(
      std::make_unique<UnstageKernel>(StageAttrsOf<StagePeek>(request), request, true));
}

Result<std::unique_ptr<Kernel>> StageSize::MakeCpuKernel(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(std::make_unique<StageSizeKernel<StagingArea>>(
      StageAttrsOf<StageSize>(request), request, &StagingArea::size));
}

Result<std::unique_ptr<Kernel>> StageClear::MakeCpuKernel(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(
      std::make_unique<StageClearKernel<StagingArea>>(StageAttrsOf<StageClear>(request), request));
}

void RegisterStage(Registrar& registrar) {
  registrar.AddAll<Stage, Unstage, StagePeek, StageSize, StageClear>();
}

}  // namespace penstock::ops
