#pragma once

#include <string_view>
#include <tuple>

#include "penstock/ops/queue/stage_ops.h"

// Staging maps: values kept between steps by key. The ordered forms, which give out the smallest
// key first, are the same here: an unordered map may as well.

namespace penstock::ops {

// The kernels, which are the same for both forms.
Result<std::unique_ptr<Kernel>> MakeMapStageKernel(const StageAttrs& attrs,
                                                   const KernelRequest& request);
Result<std::unique_ptr<Kernel>> MakeMapUnstageKernel(const StageAttrs& attrs,
                                                     const KernelRequest& request, bool peek);
Result<std::unique_ptr<Kernel>> MakeMapUnstageNoKeyKernel(const StageAttrs& attrs,
                                                          const KernelRequest& request);
Result<std::unique_ptr<Kernel>> MakeMapSizeKernel(const StageAttrs& attrs,
                                                  const KernelRequest& request, bool incomplete);
Result<std::unique_ptr<Kernel>> MakeMapClearKernel(const StageAttrs& attrs,
                                                   const KernelRequest& request);
template <class Op>
const StageAttrs& MapAttrsOf(const KernelRequest& request) {
  return static_cast<const op_internal::Decoded<Op>*>(request.op.get())->op;
}

template <FixedString Name>
struct MapStageOp : StageAttrs {
  static constexpr std::string_view kName = Name.view();
  static constexpr bool kAsync = true;
  static constexpr bool kKeepsInputs = true;
  static constexpr bool kCheap = true;
  using Sig =
      Signature<In<"key", int64_t>, In<"indices", int32_t>, In<"values", TypeList<"fake_dtypes">>>;

  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeMapStageKernel(MapAttrsOf<MapStageOp>(request), request);
  }
};

template <FixedString Name, bool Peek>
struct MapUnstageOp : StageAttrs {
  static constexpr std::string_view kName = Name.view();
  static constexpr bool kAsync = true;
  static constexpr bool kCheap = true;
  using Sig =
      Signature<In<"key", int64_t>, In<"indices", int32_t>, Out<"values", TypeList<"dtypes">>>;

  Result<Shape> InferShape(const Shape& key, const Shape& indices) const {
    TRY(CheckScalar(key, "key"));
    TRY(CheckVector(indices, "indices"));
    return Shape::Unknown();
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeMapUnstageKernel(MapAttrsOf<MapUnstageOp>(request), request, Peek);
  }
};

template <FixedString Name>
struct MapUnstageNoKeyOp : StageAttrs {
  static constexpr std::string_view kName = Name.view();
  static constexpr bool kAsync = true;
  static constexpr bool kCheap = true;
  using Sig =
      Signature<In<"indices", int32_t>, Out<"key", int64_t>, Out<"values", TypeList<"dtypes">>>;

  Result<std::vector<Shape>> InferShape(const Shape& indices) const {
    TRY(CheckVector(indices, "indices"));
    std::vector<Shape> shapes(dtypes.size() + 1, Shape::Unknown());
    shapes[0] = Shape();
    return shapes;
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeMapUnstageNoKeyKernel(MapAttrsOf<MapUnstageNoKeyOp>(request), request);
  }
};

template <FixedString Name, bool Incomplete>
struct MapSizeOp : StageAttrs {
  static constexpr std::string_view kName = Name.view();
  static constexpr bool kCheap = true;
  using Sig = Signature<Out<"size", int32_t>>;

  Result<Shape> InferShape() const { return Shape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeMapSizeKernel(MapAttrsOf<MapSizeOp>(request), request, Incomplete);
  }
};

template <FixedString Name>
struct MapClearOp : StageAttrs {
  static constexpr std::string_view kName = Name.view();
  static constexpr bool kCheap = true;
  using Sig = Signature<>;

  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeMapClearKernel(MapAttrsOf<MapClearOp>(request), request);
  }
};

}  // namespace penstock::ops
