#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Strings from strings, one by one.

namespace penstock::ops {

// What ops on each string have in common.
struct EachString {
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 50;
};
using StringToString = Signature<In<"input", std::string>, Out<"output", std::string>>;

// Without an encoding, the letters of ASCII; with "utf-8", those of Unicode.
template <FixedString Name, bool Upper>
struct ChangeCase : EachString {
  static constexpr std::string_view kName = Name.view();
  std::string encoding;
  using Sig = StringToString;
  static constexpr std::tuple kAttrs{Field{"encoding", &ChangeCase::encoding}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& input) const { return input; }
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};
using StringLower = ChangeCase<"StringLower", false>;
using StringUpper = ChangeCase<"StringUpper", true>;

// Without ASCII's white space at both ends.
struct StringStrip : EachString {
  static constexpr auto kName = "StringStrip";
  using Sig = StringToString;
  Result<Shape> InferShape(const Shape& input) const { return input; }
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};

struct StringLength : EachString {
  static constexpr auto kName = "StringLength";
  std::string unit = "BYTE";
  using Sig = Signature<In<"input", std::string>, Out<"output", int32_t>>;
  static constexpr std::tuple kAttrs{Field{"unit", &StringLength::unit}.OneOf("BYTE|UTF8_CHAR")};

  Result<Shape> InferShape(const Shape& input) const { return input; }
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};

// The `len` units from `pos` on, which counts from the end when it is negative; strings broadcast
// against the positions.
struct Substr {
  static constexpr auto kName = "Substr";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 50;
  std::string unit = "BYTE";
  using Sig = Signature<In<"input", std::string>, In<"pos", IndexType<"T">>,
                        In<"len", IndexType<"T">>, Out<"output", std::string>>;
  static constexpr std::tuple kAttrs{Field{"unit", &Substr::unit}.OneOf("BYTE|UTF8_CHAR")};

  Result<Shape> InferShape(const Shape& input, const Shape& pos, const Shape& len) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& pos, const Tensor& len,
                    Tensor& output) const;
};

}  // namespace penstock::ops
