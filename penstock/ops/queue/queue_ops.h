#pragma once

#include <span>
#include <string_view>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/queue/handle_form.h"

// What nodes do with a queue. Each op in both forms of its handle.

namespace penstock::ops {

// The kernels, which are the same for both forms. InvalidArgument for a timeout: there are none.
Result<std::unique_ptr<Kernel>> MakeEnqueueKernel(int64_t timeout_ms, bool many);
Result<std::unique_ptr<Kernel>> MakeDequeueKernel(int64_t timeout_ms,
                                                  std::span<const DType> dtypes);
Result<std::unique_ptr<Kernel>> MakeDequeueManyKernel(int64_t timeout_ms, bool up_to,
                                                      std::span<const DType> dtypes);
Result<std::unique_ptr<Kernel>> MakeQueueCloseKernel(bool cancel_pending);
Status ComputeQueueSize(CpuContext& context, const Tensor& handle, int32_t* size);
Status ComputeQueueIsClosed(CpuContext& context, const Tensor& handle, bool* is_closed);

template <FixedString Name, class Form, bool Many>
struct EnqueueOp {
  static constexpr std::string_view kName = Name.view();
  static constexpr bool kStateful = Form::kStatefulAccess;
  static constexpr bool kAsync = true;
  static constexpr bool kKeepsInputs = true;
  static constexpr bool kCheap = !Many;
  static constexpr bool kNoGradient = true;
  int64_t timeout_ms = -1;
  using Sig =
      Signature<typename Form::template Input<"handle">, In<"components", TypeList<"Tcomponents">>>;
  static constexpr std::tuple kAttrs{Field{"timeout_ms", &EnqueueOp::timeout_ms}};

  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    const auto& op = static_cast<const op_internal::Decoded<EnqueueOp>*>(request.op.get())->op;
    return MakeEnqueueKernel(op.timeout_ms, Many);
  }
};

// What comes out is known once it comes out: another graph may have made the queue.
template <FixedString Name, class Form>
struct DequeueOp {
  static constexpr std::string_view kName = Name.view();
  static constexpr bool kStateful = Form::kStatefulAccess;
  static constexpr bool kAsync = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  int64_t timeout_ms = -1;
  using Sig = Signature<typename Form::template Input<"handle">,
                        Out<"components", TypeList<"component_types">>>;
  static constexpr std::tuple kAttrs{Field{"timeout_ms", &DequeueOp::timeout_ms}};

  Result<Shape> InferShape(const Shape&) const { return Shape::Unknown(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    const auto& op = static_cast<const op_internal::Decoded<DequeueOp>*>(request.op.get())->op;
    return MakeDequeueKernel(op.timeout_ms, request.outputs);
  }
};

template <FixedString Name, class Form, bool UpTo>
struct DequeueManyOp {
  static constexpr std::string_view kName = Name.view();
  static constexpr bool kStateful = Form::kStatefulAccess;
  static constexpr bool kAsync = true;
  static constexpr bool kNoGradient = true;
  int64_t timeout_ms = -1;
  using Sig = Signature<typename Form::template Input<"handle">, In<"n", int32_t>,
                        Out<"components", TypeList<"component_types">>>;
  static constexpr std::tuple kAttrs{Field{"timeout_ms", &DequeueManyOp::timeout_ms}};

  Result<Shape> InferShape(const Shape&, const Shape& n) const {
    TRY(CheckScalar(n, "n"));
    return Shape::Unknown();
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    const auto& op = static_cast<const op_internal::Decoded<DequeueManyOp>*>(request.op.get())->op;
    return MakeDequeueManyKernel(op.timeout_ms, UpTo, request.outputs);
  }
};

template <FixedString Name, class Form>
struct QueueCloseOp {
  static constexpr std::string_view kName = Name.view();
  static constexpr bool kStateful = Form::kStatefulAccess;
  static constexpr bool kAsync = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  bool cancel_pending_enqueues = false;
  using Sig = Signature<typename Form::template Input<"handle">>;
  static constexpr std::tuple kAttrs{
      Field{"cancel_pending_enqueues", &QueueCloseOp::cancel_pending_enqueues}};

  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    const auto& op = static_cast<const op_internal::Decoded<QueueCloseOp>*>(request.op.get())->op;
    return MakeQueueCloseKernel(op.cancel_pending_enqueues);
  }
};

template <FixedString Name, class Form>
struct QueueSizeOp {
  static constexpr std::string_view kName = Name.view();
  static constexpr bool kStateful = Form::kStatefulAccess;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<typename Form::template Input<"handle">, Out<"size", int32_t>>;

  Result<Shape> InferShape(const Shape&) const { return Shape(); }
  Status ComputeCpu(CpuContext& context, const Tensor& handle, std::span<int32_t> size) const {
    return ComputeQueueSize(context, handle, size.data());
  }
};

template <FixedString Name, class Form>
struct QueueIsClosedOp {
  static constexpr std::string_view kName = Name.view();
  static constexpr bool kStateful = Form::kStatefulAccess;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<typename Form::template Input<"handle">, Out<"is_closed", bool>>;

  Result<Shape> InferShape(const Shape&) const { return Shape(); }
  Status ComputeCpu(CpuContext& context, const Tensor& handle, std::span<bool> is_closed) const {
    return ComputeQueueIsClosed(context, handle, is_closed.data());
  }
};

using QueueEnqueue = EnqueueOp<"QueueEnqueue", ByReference, false>;
using QueueEnqueueV2 = EnqueueOp<"QueueEnqueueV2", ByResource, false>;
using QueueEnqueueMany = EnqueueOp<"QueueEnqueueMany", ByReference, true>;
using QueueEnqueueManyV2 = EnqueueOp<"QueueEnqueueManyV2", ByResource, true>;
using QueueDequeue = DequeueOp<"QueueDequeue", ByReference>;
using QueueDequeueV2 = DequeueOp<"QueueDequeueV2", ByResource>;
using QueueDequeueMany = DequeueManyOp<"QueueDequeueMany", ByReference, false>;
using QueueDequeueManyV2 = DequeueManyOp<"QueueDequeueManyV2", ByResource, false>;
using QueueDequeueUpTo = DequeueManyOp<"QueueDequeueUpTo", ByReference, true>;
using QueueDequeueUpToV2 = DequeueManyOp<"QueueDequeueUpToV2", ByResource, true>;
using QueueClose = QueueCloseOp<"QueueClose", ByReference>;
using QueueCloseV2 = QueueCloseOp<"QueueCloseV2", ByResource>;
using QueueSize = QueueSizeOp<"QueueSize", ByReference>;
using QueueSizeV2 = QueueSizeOp<"QueueSizeV2", ByResource>;
using QueueIsClosed = QueueIsClosedOp<"QueueIsClosed", ByReference>;
using QueueIsClosedV2 = QueueIsClosedOp<"QueueIsClosedV2", ByResource>;

}  // namespace penstock::ops
