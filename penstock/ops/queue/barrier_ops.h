#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/queue/handle_form.h"
#include "penstock/ops/type_sets.h"

// Barriers: tuples that are put together by key before they leave.

namespace penstock::ops {

struct BarrierOp {
  static constexpr auto kName = "Barrier";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  std::vector<DType> component_types;
  std::vector<Shape> shapes;
  int64_t capacity = -1;
  std::string container;
  std::string shared_name;
  using Sig = Signature<ByReference::Output<"handle">>;
  static constexpr std::tuple kAttrs{
      Field{"component_types", &BarrierOp::component_types}.Required().Min(1),
      Field{"shapes", &BarrierOp::shapes}.Min(0), Field{"capacity", &BarrierOp::capacity},
      Field{"container", &BarrierOp::container}, Field{"shared_name", &BarrierOp::shared_name}};

  Result<Shape> InferShape() const { return ByReference::HandleShape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct BarrierInsertMany {
  static constexpr auto kName = "BarrierInsertMany";
  static constexpr bool kNoGradient = true;
  int64_t component_index = 0;
  using Sig =
      Signature<ByReference::Input<"handle">, In<"keys", std::string>, In<"values", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{
      Field{"component_index", &BarrierInsertMany::component_index}.Required()};

  Status ComputeCpu(CpuContext& context, const Tensor& handle, const Tensor& keys,
                    const Tensor& values) const;
};

struct BarrierTakeMany {
  static constexpr auto kName = "BarrierTakeMany";
  static constexpr bool kAsync = true;
  static constexpr bool kNoGradient = true;
  std::vector<DType> component_types;
  bool allow_small_batch = false;
  bool wait_for_incomplete = false;
  int64_t timeout_ms = -1;
  using Sig =
      Signature<ByReference::Input<"handle">, In<"num_elements", int32_t>, Out<"indices", int64_t>,
                Out<"keys", std::string>, Out<"values", TypeList<"component_types">>>;
  static constexpr std::tuple kAttrs{
      Field{"component_types", &BarrierTakeMany::component_types}.Required(),
      Field{"allow_small_batch", &BarrierTakeMany::allow_small_batch},
      Field{"wait_for_incomplete", &BarrierTakeMany::wait_for_incomplete},
      Field{"timeout_ms", &BarrierTakeMany::timeout_ms}};

  Result<std::vector<Shape>> InferShape(const Shape& handle, const Shape& num_elements) const;
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct BarrierClose {
  static constexpr auto kName = "BarrierClose";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  bool cancel_pending_enqueues = false;
  using Sig = Signature<ByReference::Input<"handle">>;
  static constexpr std::tuple kAttrs{
      Field{"cancel_pending_enqueues", &BarrierClose::cancel_pending_enqueues}};

  Status ComputeCpu(CpuContext& context, const Tensor& handle) const;
};

struct BarrierReadySize {
  static constexpr auto kName = "BarrierReadySize";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<ByReference::Input<"handle">, Out<"size", int32_t>>;

  Result<Shape> InferShape(const Shape&) const { return Shape(); }
  Status ComputeCpu(CpuContext& context, const Tensor& handle, std::span<int32_t> size) const;
};

struct BarrierIncompleteSize {
  static constexpr auto kName = "BarrierIncompleteSize";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<ByReference::Input<"handle">, Out<"size", int32_t>>;

  Result<Shape> InferShape(const Shape&) const { return Shape(); }
  Status ComputeCpu(CpuContext& context, const Tensor& handle, std::span<int32_t> size) const;
};

}  // namespace penstock::ops
