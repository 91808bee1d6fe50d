#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/mutex.h"
#include "penstock/core/resource.h"
#include "penstock/kernels/philox.h"
#include "penstock/ops/op_kernel.h"
#include "penstock/ops/shared_state.h"

// Where random ops get their numbers from: stateful ones from a stream that the node keeps from
// step to step, stateless ones from their inputs. Both are TensorFlow's, seed for seed.

namespace penstock::ops {

// The numbers that a stateful node has yet to draw.
// Threads: all methods may be called concurrently.
class RandomStream {
 public:
  // Seeds that are both 0 stand for seeds of chance.
  RandomStream(int64_t seed, int64_t seed2);
  explicit RandomStream(const kernels::Philox& next) : next_(next) {}

  // Takes the next `blocks` blocks; the caller's alone.
  kernels::Philox Reserve(uint64_t blocks) {
    MutexLock lock(mu_);
    const kernels::Philox start = next_;
    next_.Skip(blocks);
    return start;
  }
  kernels::Philox next() const {
    MutexLock lock(mu_);
    return next_;
  }
  void Set(const kernels::Philox& next) {
    MutexLock lock(mu_);
    next_ = next;
  }

 private:
  mutable Mutex mu_;
  kernels::Philox next_ GUARDED_BY(mu_);
};

// The streams of all stateful nodes of a session, by name: what has to be kept, besides variables,
// to draw the same numbers again later (stream_state.h).
// Threads: all methods may be called concurrently.
class RandomStreams final : public Resource {
 public:
  static constexpr char kContainer[] = "_random";
  static constexpr char kResourceName[] = "streams";

  // The stream of that name, made from the seeds when there is none.
  std::shared_ptr<RandomStream> FindOrMake(const std::string& name, int64_t seed, int64_t seed2);
  // Where each stream stands.
  std::map<std::string, kernels::Philox> Positions() const;
  // Moves streams that exist, and makes those that do not. Others are left alone.
  void SetPositions(const std::map<std::string, kernels::Philox>& positions);

  std::string DebugString() const override;
  size_t MemoryBytes() const override;

 private:
  mutable Mutex mu_;
  std::map<std::string, std::shared_ptr<RandomStream>> streams_ GUARDED_BY(mu_);
};

// The stream of a stateful node: one for all plans of a session that the node is part of. Threads:
// may be used concurrently.
class NodeStream {
 public:
  NodeStream(const KernelRequest& request, int64_t seed, int64_t seed2);

  Result<kernels::Philox> ReserveBlocks(KernelContext& context, uint64_t blocks) {
    TRY_ASSIGN(const std::shared_ptr<RandomStream> stream, Get(context));
    return stream->Reserve(blocks);
  }
  Result<kernels::Philox> ReserveWords(KernelContext& context, uint64_t words) {
    return ReserveBlocks(context, words / 4 + (words % 4 != 0 ? 1 : 0));
  }
  // Enough for `count` numbers of any distribution.
  Result<kernels::Philox> ReserveNumbers(KernelContext& context, int64_t count) {
    return ReserveBlocks(context, static_cast<uint64_t>(count) * 256);
  }

 private:
  Result<std::shared_ptr<RandomStream>> Get(KernelContext& context);

  // Constant after construction.
  const std::string name_;
  const int64_t seed_, seed2_;
  SharedState<RandomStreams> streams_;
  Mutex mu_;
  // What was found last, and where: a session that was reset has other streams.
  std::shared_ptr<RandomStreams> found_in_ GUARDED_BY(mu_);
  std::shared_ptr<RandomStream> found_ GUARDED_BY(mu_);
};

// The stream of a stateless op with an input `seed` of two integers. REQUIRES: CheckSeed.
Status CheckSeed(const Shape& seed);
kernels::Philox StreamOfSeed(const Tensor& seed);

// The stream of a stateless op with inputs `key`, `counter` and `alg`, or why there is none.
Status CheckKey(const Shape& key, const Shape& counter, const Shape& alg);
Result<kernels::Philox> StreamOfKey(const Tensor& key, const Tensor& counter, const Tensor& alg);
inline constexpr int32_t kPhiloxAlgorithm = 1;
inline constexpr int32_t kAnyAlgorithm = 3;  // the device's choice

// The shape that an input `shape` holds.
Result<Shape> DrawnShape(const Integers& shape);

// Runs an op that draws from its node's stream: infers and allocates its outputs, then calls
//   Status Draw(CpuContext&, NodeStream&) const.
template <class Op>
class DrawingKernel final : public Kernel {
 public:
  explicit DrawingKernel(const KernelRequest& request)
      : decoded_(request.op),
        output_types_(request.outputs.begin(), request.outputs.end()),
        stream_(request, op().seed, op().seed2) {}

  Status Compute(KernelContext& context) override {
    std::vector<Shape> shapes(output_types_.size());
    const Shape* settled = context.settled_shapes();
    if (settled == nullptr) {
      TRY(op_internal::InferFromInputs(context, decoded_.get(), &op_internal::Infer<Op>, shapes));
      settled = shapes.data();
    }
    TRY(op_internal::AllocateOutputs(context, output_types_, settled, false));
    return op().Draw(context, stream_);
  }

 private:
  const Op& op() const { return static_cast<const op_internal::Decoded<Op>*>(decoded_.get())->op; }

  const std::shared_ptr<const void> decoded_;
  const std::vector<DType> output_types_;
  NodeStream stream_;
};

template <class Op>
Result<std::unique_ptr<Kernel>> MakeDrawingKernel(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(std::make_unique<DrawingKernel<Op>>(request));
}

}  // namespace penstock::ops
