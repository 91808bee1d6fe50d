#pragma once

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Values as summaries: the bytes of a Summary, for an event file.

namespace penstock::ops {

// A number for each tag.
struct ScalarSummary {
  static constexpr auto kName = "ScalarSummary";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"tags", std::string>, In<"values", RealNumberType<"T">>,
                        Out<"summary", std::string>>;

  Result<Shape> InferShape(const Shape& tags, const Shape& values) const;
  Status ComputeCpu(CpuContext& context, const Tensor& tags, const Tensor& values,
                    Tensor& summary) const;
};

struct HistogramSummary {
  static constexpr auto kName = "HistogramSummary";
  static constexpr bool kNoGradient = true;
  using Sig =
      Signature<In<"tag", std::string>,
                In<"values", TypeVarOr<"T", float, float, double, int32_t, uint8_t, int16_t, int8_t,
                                       int64_t, bfloat16, uint16_t, half, uint32_t, uint64_t>>,
                Out<"summary", std::string>>;

  Result<Shape> InferShape(const Shape& tag, const Shape& values) const;
  Status ComputeCpu(CpuContext& context, const Tensor& tag, const Tensor& values,
                    Tensor& summary) const;
};

// All values of several summaries; a tag may come once.
struct MergeSummary {
  static constexpr auto kName = "MergeSummary";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"inputs", List<"N", std::string>>, Out<"summary", std::string>>;

  Result<Shape> InferShape(std::span<const Known>) const { return Shape(); }
  Status ComputeCpu(CpuContext& context, std::span<Tensor* const> inputs, Tensor& summary) const;
};

struct TensorSummaryV2 {
  static constexpr auto kName = "TensorSummaryV2";
  static constexpr bool kNoGradient = true;
  using Sig =
      Signature<In<"tag", std::string>, In<"tensor", AnyType<"T">>,
                In<"serialized_summary_metadata", std::string>, Out<"summary", std::string>>;

  Result<Shape> InferShape(const Shape& tag, const Shape& tensor, const Shape& metadata) const;
  Status ComputeCpu(CpuContext& context, const Tensor& tag, const Tensor& tensor,
                    const Tensor& metadata, Tensor& summary) const;
};

// The older form, which names its node. The attributes are of no effect, as in TensorFlow.
struct TensorSummary {
  static constexpr auto kName = "TensorSummary";
  static constexpr bool kNoGradient = true;
  std::string description;
  std::vector<std::string> labels;
  std::string display_name;
  using Sig = Signature<In<"tensor", AnyType<"T">>, Out<"summary", std::string>>;
  static constexpr std::tuple kAttrs{Field{"description", &TensorSummary::description},
                                     Field{"labels", &TensorSummary::labels},
                                     Field{"display_name", &TensorSummary::display_name}};

  Result<Shape> InferShape(const Shape&) const { return Shape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

}  // namespace penstock::ops
