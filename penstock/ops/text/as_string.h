#pragma once

#include <span>
#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Values as text.

namespace penstock::ops {

// Each element, by the rules of C's printf.
struct AsString {
  static constexpr auto kName = "AsString";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 300;
  int64_t precision = -1;
  bool scientific = false;
  bool shortest = false;
  int64_t width = -1;
  std::string fill = {};
  using Sig = Signature<In<"input", TypeVar<"T", float, double, int32_t, uint8_t, int16_t, int8_t,
                                            int64_t, bfloat16, uint16_t, half, uint32_t, uint64_t,
                                            complex64, complex128, bool, Variant, std::string>>,
                        Out<"output", std::string>>;
  static constexpr std::tuple kAttrs{
      Field{"precision", &AsString::precision}, Field{"scientific", &AsString::scientific},
      Field{"shortest", &AsString::shortest}, Field{"width", &AsString::width},
      Field{"fill", &AsString::fill}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& input) const { return input; }
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};

// The template with each placeholder replaced by an input, shown as Python shows arrays: of each
// axis the first and last `summarize` entries.
struct StringFormat {
  static constexpr auto kName = "StringFormat";
  static constexpr bool kNoGradient = true;
  std::string pattern = "%s";
  std::string placeholder = "%s";
  int64_t summarize = 3;
  using Sig = Signature<In<"inputs", TypeList<"T", 0>>, Out<"output", std::string>>;
  static constexpr std::tuple kAttrs{Field{"template", &StringFormat::pattern},
                                     Field{"placeholder", &StringFormat::placeholder},
                                     Field{"summarize", &StringFormat::summarize}};

  Result<Shape> InferShape(std::span<const Known> inputs) const;
  Status ComputeCpu(CpuContext& context, std::span<Tensor* const> inputs, Tensor& output) const;
};

}  // namespace penstock::ops
