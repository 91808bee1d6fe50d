#include "penstock/ops/queue/map_stage_ops.h"

#include <optional>
#include <utility>

#include "penstock/ops/queue/map_stage.h"
#include "penstock/ops/queue/stage_kernel.h"

namespace penstock::ops {
namespace {

Result<int64_t> KeyIn(const Tensor& key) {
  TRY(CheckScalar(key.shape(), "key"));
  return key.scalar<int64_t>();
}

Result<StagingMap::Indices> IndicesIn(const Tensor& indices) {
  TRY(CheckVector(indices.shape(), "indices"));
  const auto values = indices.values<int32_t>();
  return StagingMap::Indices(values.begin(), values.end());
}

class MapStageKernel final : public WaitingKernel {
 public:
  MapStageKernel(const StageAttrs& attrs, const KernelRequest& request)
      : state_(attrs, request), dtypes_(attrs.dtypes) {}

 private:
  Status Begin(KernelContext& context, Done& done) override {
    TRY_ASSIGN(const std::shared_ptr<StagingMap> map, state_.Get(context));
    TRY_ASSIGN(const int64_t key, KeyIn(context.input(0)));
    TRY_ASSIGN(StagingMap::Indices indices, IndicesIn(context.input(1)));
    TRY(CheckTypes(context, indices));
    TRY_ASSIGN(std::vector<Tensor> values, KeepInputsFrom(context, 2));
    return map->Put(context, key, std::move(indices), std::move(values), dtypes_.size(), done);
  }
  Status CheckTypes(KernelContext& context, const StagingMap::Indices& indices) const {
    const int num_values = context.num_inputs() - 2;
    if (static_cast<int>(indices.size()) != num_values) {
      return InvalidArgument("a value is needed for each index: {} indices, got {} values",
                             indices.size(), num_values);
    }
    for (int i = 0; i < num_values; ++i) {
      const int32_t index = indices[static_cast<size_t>(i)];
      if (!InRange(index, static_cast<int64_t>(dtypes_.size()))) {
        return InvalidArgument("Index '{}' was out of bounds '{}'.", index, dtypes_.size());
      }
      const DType dtype = dtypes_[static_cast<size_t>(index)];
      if (context.input(i + 2).dtype() != dtype) {
        return InvalidArgument("component {} must be {}, got {}", index, dtype,
                               context.input(i + 2).dtype());
      }
    }
    return OkStatus();
  }

  StagedState<StagingMap> state_;
  const std::vector<DType> dtypes_;
};

// With a key as input 0, or without one.
class MapUnstageKernel final : public WaitingKernel {
 public:
  MapUnstageKernel(const StageAttrs& attrs, const KernelRequest& request, bool has_key, bool peek)
      : state_(attrs, request),
        dtypes_(request.outputs.begin() + (has_key ? 0 : 1), request.outputs.end()),
        has_key_(has_key),
        peek_(peek) {}

 private:
  Status Begin(KernelContext& context, Done& done) override {
    TRY_ASSIGN(const std::shared_ptr<StagingMap> map, state_.Get(context));
    std::optional<int64_t> key;
    if (has_key_) {
      TRY_ASSIGN(key, KeyIn(context.input(0)));
    }
    TRY_ASSIGN(StagingMap::Indices indices, IndicesIn(context.input(has_key_ ? 1 : 0)));
    return map->Get(context, key, std::move(indices), peek_, dtypes_, done);
  }

  StagedState<StagingMap> state_;
  const std::vector<DType> dtypes_;
  const bool has_key_;
  const bool peek_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakeMapStageKernel(const StageAttrs& attrs,
                                                   const KernelRequest& request) {
  return std::unique_ptr<Kernel>(std::make_unique<MapStageKernel>(attrs, request));
}

Result<std::unique_ptr<Kernel>> MakeMapUnstageKernel(const StageAttrs& attrs,
                                                     const KernelRequest& request, bool peek) {
  return std::unique_ptr<Kernel>(std::make_unique<MapUnstageKernel>(attrs, request, true, peek));
}

Result<std::unique_ptr<Kernel>> MakeMapUnstageNoKeyKernel(const StageAttrs& attrs,
                                                          const KernelRequest& request) {
  return std::unique_ptr<Kernel>(std::make_unique<MapUnstageKernel>(attrs, request, false, false));
}

Result<std::unique_ptr<Kernel>> MakeMapSizeKernel(const StageAttrs& attrs,
                                                  const KernelRequest& request, bool incomplete) {
  return std::unique_ptr<Kernel>(std::make_unique<StageSizeKernel<StagingMap>>(
      attrs, request, incomplete ? &StagingMap::incomplete_size : &StagingMap::size));
}

Result<std::unique_ptr<Kernel>> MakeMapClearKernel(const StageAttrs& attrs,
                                                   const KernelRequest& request) {
  return std::unique_ptr<Kernel>(std::make_unique<StageClearKernel<StagingMap>>(attrs, request));
}

void RegisterMapStage(Registrar& registrar) {
  registrar.AddAll<MapStageOp<"MapStage">, MapUnstageOp<"MapUnstage", false>,
                   MapUnstageOp<"MapPeek", true>, MapUnstageNoKeyOp<"MapUnstageNoKey">,
                   MapSizeOp<"MapSize", false>, MapSizeOp<"MapIncompleteSize", true>,
                   MapClearOp<"MapClear">>();
  registrar.AddAll<MapStageOp<"OrderedMapStage">, MapUnstageOp<"OrderedMapUnstage", false>,
                   MapUnstageOp<"OrderedMapPeek", true>,
                   MapUnstageNoKeyOp<"OrderedMapUnstageNoKey">, MapSizeOp<"OrderedMapSize", false>,
                   MapSizeOp<"OrderedMapIncompleteSize", true>, MapClearOp<"OrderedMapClear">>();
}

}  // namespace penstock::ops
