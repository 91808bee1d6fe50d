#pragma once

#include "penstock/ops/op_kernel.h"

// Text as numbers.

namespace penstock::ops {

// A number and nothing else, but for white space around it: decimal, or for floating types also
// hexadecimal, "inf" and "nan". A floating number out of range becomes infinite or zero.
template <class T>
bool ParseNumber(std::string_view text, T* value);

struct StringToNumber {
  static constexpr auto kName = "StringToNumber";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 100;
  using Sig = Signature<In<"string_tensor", std::string>,
                        Out<"output", TypeVarOr<"out_type", float, float, double, int32_t, int64_t,
                                                uint32_t, uint64_t>>>;

  Result<Shape> InferShape(const Shape& input) const { return input; }
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};

}  // namespace penstock::ops
