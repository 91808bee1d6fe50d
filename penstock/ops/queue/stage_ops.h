#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"

// Staging areas: values kept between steps, in the order they came. The nodes of one area share
// container and name.

namespace penstock::ops {

// What every op on a staging area or map has.
struct StageAttrs {
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::vector<DType> dtypes;
  std::string container;
  std::string shared_name;
  static constexpr std::tuple kAttrs{Field{"capacity", &StageAttrs::capacity}.Min(0),
                                     Field{"memory_limit", &StageAttrs::memory_limit}.Min(0),
                                     Field{"dtypes", &StageAttrs::dtypes}.Required(),
                                     Field{"container", &StageAttrs::container},
                                     Field{"shared_name", &StageAttrs::shared_name}};
};

struct Stage : StageAttrs {
  static constexpr auto kName = "Stage";
  static constexpr bool kAsync = true;
  static constexpr bool kKeepsInputs = true;
  static constexpr bool kCheap = true;
  using Sig = Signature<In<"values", TypeList<"dtypes">>>;

  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct Unstage : StageAttrs {
  static constexpr auto kName = "Unstage";
  static constexpr bool kAsync = true;
  static constexpr bool kCheap = true;
  using Sig = Signature<Out<"values", TypeList<"dtypes">>>;

  Result<Shape> InferShape() const { return Shape::Unknown(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct StagePeek : StageAttrs {
  static constexpr auto kName = "StagePeek";
  static constexpr bool kAsync = true;
  static constexpr bool kCheap = true;
  using Sig = Signature<In<"index", int32_t>, Out<"values", TypeList<"dtypes">>>;

  Result<Shape> InferShape(const Shape& index) const {
    TRY(CheckScalar(index, "index"));
    return Shape::Unknown();
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct StageSize : StageAttrs {
  static constexpr auto kName = "StageSize";
  static constexpr bool kCheap = true;
  using Sig = Signature<Out<"size", int32_t>>;

  Result<Shape> InferShape() const { return Shape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct StageClear : StageAttrs {
  static constexpr auto kName = "StageClear";
  static constexpr bool kCheap = true;
  using Sig = Signature<>;

  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

}  // namespace penstock::ops
