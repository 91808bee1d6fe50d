#pragma once

#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/state/accumulator_ops.h"
#include "penstock/ops/type_sets.h"

// The ops on accumulators of sparse gradients. Their step and count are set and read by the ops of
// the dense ones.

namespace penstock::ops {

struct SparseConditionalAccumulator {
  static constexpr auto kName = "SparseConditionalAccumulator";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  DType dtype = DType::kInvalid;
  Shape shape = Shape::Unknown();
  std::string container;
  std::string shared_name;
  std::string reduction_type = "MEAN";
  using Sig = Signature<Out<"handle", Ref<std::string>>>;
  static constexpr std::tuple kAttrs{
      Field{"dtype", &SparseConditionalAccumulator::dtype}.Required().OneOf(kAccumulatorTypes),
      Field{"shape", &SparseConditionalAccumulator::shape}.Required(),
      Field{"container", &SparseConditionalAccumulator::container},
      Field{"shared_name", &SparseConditionalAccumulator::shared_name},
      Field{"reduction_type", &SparseConditionalAccumulator::reduction_type}.OneOf("MEAN|SUM")};

  Result<Shape> InferShape() const { return Shape{2}; }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct SparseAccumulatorApplyGradient {
  static constexpr auto kName = "SparseAccumulatorApplyGradient";
  static constexpr bool kNoGradient = true;
  bool has_known_shape = false;
  using Sig = Signature<In<"handle", Ref<std::string>>, In<"local_step", int64_t>,
                        In<"gradient_indices", int64_t>, In<"gradient_values", NumberType<"dtype">>,
                        In<"gradient_shape", int64_t>>;
  static constexpr std::tuple kAttrs{
      Field{"has_known_shape", &SparseAccumulatorApplyGradient::has_known_shape}.Required()};

  Result<std::vector<Shape>> InferShape(const Shape&, const Shape& local_step, const Shape& indices,
                                        const Shape& values, const Shape&) const;
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct SparseAccumulatorTakeGradient {
  static constexpr auto kName = "SparseAccumulatorTakeGradient";
  static constexpr bool kAsync = true;
  static constexpr bool kNoGradient = true;
  DType dtype = DType::kInvalid;
  using Sig =
      Signature<In<"handle", Ref<std::string>>, In<"num_required", int32_t>,
                Out<"indices", int64_t>, Out<"values", NumberType<"dtype">>, Out<"shape", int64_t>>;
  static constexpr std::tuple kAttrs{Field{"dtype", &SparseAccumulatorTakeGradient::dtype}};

  Result<std::array<Shape, 3>> InferShape(const Shape&, const Shape& num_required) const;
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

}  // namespace penstock::ops
