#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/queue/handle_form.h"
#include "penstock/ops/queue/queue.h"

// The nodes that stand for a queue: made by the first step that runs one, and found by its
// container and name from then on.

namespace penstock::ops {

// The kernel of such a node. InvalidArgument when no queue can be as `spec` says.
Result<std::unique_ptr<Kernel>> MakeQueueKernel(const KernelRequest& request, QueueSpec spec,
                                                const std::string& container,
                                                const std::string& shared_name);

template <FixedString Name, class Form, QueueKind Kind>
struct FifoQueueOp {
  static constexpr std::string_view kName = Name.view();
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  std::vector<DType> component_types;
  std::vector<Shape> shapes;
  int64_t capacity = -1;
  std::string container;
  std::string shared_name;
  using Sig = Signature<typename Form::template Output<"handle">>;
  static constexpr std::tuple kAttrs{
      Field{"component_types", &FifoQueueOp::component_types}.Required().Min(1),
      Field{"shapes", &FifoQueueOp::shapes}.Min(0), Field{"capacity", &FifoQueueOp::capacity},
      Field{"container", &FifoQueueOp::container}, Field{"shared_name", &FifoQueueOp::shared_name}};

  Result<Shape> InferShape() const { return Form::HandleShape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    const auto& op = static_cast<const op_internal::Decoded<FifoQueueOp>*>(request.op.get())->op;
    QueueSpec spec;
    spec.kind = Kind;
    spec.dtypes = op.component_types;
    spec.shapes = op.shapes;
    spec.capacity = op.capacity;
    return MakeQueueKernel(request, std::move(spec), op.container, op.shared_name);
  }
};

template <FixedString Name, class Form>
struct RandomShuffleQueueOp {
  static constexpr std::string_view kName = Name.view();
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  std::vector<DType> component_types;
  std::vector<Shape> shapes;
  int64_t capacity = -1;
  int64_t min_after_dequeue = 0;
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string container;
  std::string shared_name;
  using Sig = Signature<typename Form::template Output<"handle">>;
  static constexpr std::tuple kAttrs{
      Field{"component_types", &RandomShuffleQueueOp::component_types}.Required().Min(1),
      Field{"shapes", &RandomShuffleQueueOp::shapes}.Min(0),
      Field{"capacity", &RandomShuffleQueueOp::capacity},
      Field{"min_after_dequeue", &RandomShuffleQueueOp::min_after_dequeue},
      Field{"seed", &RandomShuffleQueueOp::seed},
      Field{"seed2", &RandomShuffleQueueOp::seed2},
      Field{"container", &RandomShuffleQueueOp::container},
      Field{"shared_name", &RandomShuffleQueueOp::shared_name}};

  Result<Shape> InferShape() const { return Form::HandleShape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    const auto& op =
        static_cast<const op_internal::Decoded<RandomShuffleQueueOp>*>(request.op.get())->op;
    QueueSpec spec;
    spec.kind = QueueKind::kShuffle;
    spec.dtypes = op.component_types;
    spec.shapes = op.shapes;
    spec.capacity = op.capacity;
    spec.min_after_dequeue = op.min_after_dequeue;
    spec.seed = op.seed;
    spec.seed2 = op.seed2;
    return MakeQueueKernel(request, std::move(spec), op.container, op.shared_name);
  }
};

// The attributes leave the priority out: it is component 0, an int64 scalar.
template <FixedString Name, class Form>
struct PriorityQueueOp {
  static constexpr std::string_view kName = Name.view();
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  std::vector<DType> component_types;
  std::vector<Shape> shapes;
  int64_t capacity = -1;
  std::string container;
  std::string shared_name;
  using Sig = Signature<typename Form::template Output<"handle">>;
  static constexpr std::tuple kAttrs{
      Field{"component_types", &PriorityQueueOp::component_types}.Min(0),
      Field{"shapes", &PriorityQueueOp::shapes}.Required().Min(0),
      Field{"capacity", &PriorityQueueOp::capacity},
      Field{"container", &PriorityQueueOp::container},
      Field{"shared_name", &PriorityQueueOp::shared_name}};

  Result<Shape> InferShape() const { return Form::HandleShape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    const auto& op =
        static_cast<const op_internal::Decoded<PriorityQueueOp>*>(request.op.get())->op;
    QueueSpec spec;
    spec.kind = QueueKind::kPriority;
    spec.dtypes = op.component_types;
    spec.dtypes.insert(spec.dtypes.begin(), DType::kInt64);
    spec.shapes = op.shapes;
    if (!spec.shapes.empty() || op.component_types.empty()) {
      spec.shapes.insert(spec.shapes.begin(), Shape());
    }
    spec.capacity = op.capacity;
    return MakeQueueKernel(request, std::move(spec), op.container, op.shared_name);
  }
};

// A queue of the newer form for ops of the older.
struct FakeQueue {
  static constexpr auto kName = "FakeQueue";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"resource", ResourceHandle>, Out<"handle", Ref<std::string>>>;

  Result<Shape> InferShape(const Shape& resource) const {
    TRY(CheckScalar(resource, "resource"));
    return ByReference::HandleShape();
  }
  Status ComputeCpu(CpuContext& context, const Tensor& resource) const {
    context.SetOutput(0, resource);
    return OkStatus();
  }
};

using FifoQueue = FifoQueueOp<"FIFOQueue", ByReference, QueueKind::kFifo>;
using FifoQueueV2 = FifoQueueOp<"FIFOQueueV2", ByResource, QueueKind::kFifo>;
using PaddingFifoQueue = FifoQueueOp<"PaddingFIFOQueue", ByReference, QueueKind::kPadding>;
using PaddingFifoQueueV2 = FifoQueueOp<"PaddingFIFOQueueV2", ByResource, QueueKind::kPadding>;
using RandomShuffleQueue = RandomShuffleQueueOp<"RandomShuffleQueue", ByReference>;
using RandomShuffleQueueV2 = RandomShuffleQueueOp<"RandomShuffleQueueV2", ByResource>;
using PriorityQueue = PriorityQueueOp<"PriorityQueue", ByReference>;
using PriorityQueueV2 = PriorityQueueOp<"PriorityQueueV2", ByResource>;

}  // namespace penstock::ops
