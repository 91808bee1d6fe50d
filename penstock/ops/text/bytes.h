#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"

// Strings as bytes that stand for something else.

namespace penstock::ops {

// Base64 with the alphabet that is safe in addresses of the web ('-' and '_').
struct EncodeBase64 {
  static constexpr auto kName = "EncodeBase64";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 100;
  bool pad = false;
  using Sig = Signature<In<"input", std::string>, Out<"output", std::string>>;
  static constexpr std::tuple kAttrs{Field{"pad", &EncodeBase64::pad}};
  Result<Shape> InferShape(const Shape& input) const { return input; }
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};
struct DecodeBase64 {
  static constexpr auto kName = "DecodeBase64";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 100;
  using Sig = Signature<In<"input", std::string>, Out<"output", std::string>>;
  Result<Shape> InferShape(const Shape& input) const { return input; }
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};

// The bytes of numbers; every string has as many.
struct DecodeRaw {
  static constexpr auto kName = "DecodeRaw";
  static constexpr bool kNoGradient = true;
  bool little_endian = true;
  using Sig = Signature<
      In<"bytes", std::string>,
      Out<"output", TypeVar<"out_type", half, float, double, int32_t, uint16_t, uint8_t, int16_t,
                            int8_t, int64_t, complex64, complex128, bool, bfloat16>>>;
  DType out_type = DType::kInvalid;
  static constexpr std::tuple kAttrs{Field{"out_type", &DecodeRaw::out_type}.Required(),
                                     Field{"little_endian", &DecodeRaw::little_endian}};
  Result<Shape> InferShape(const Known& bytes) const;
  Status ComputeCpu(CpuContext& context, const Tensor& bytes, Tensor& output) const;
};

// The same for strings of any length, cut or filled with zeros to `fixed_length` bytes.
struct DecodePaddedRaw {
  static constexpr auto kName = "DecodePaddedRaw";
  static constexpr bool kNoGradient = true;
  bool little_endian = true;
  using Sig = Signature<In<"input_bytes", std::string>, In<"fixed_length", int32_t>,
                        Out<"output", TypeVar<"out_type", half, float, double, int32_t, uint16_t,
                                              uint8_t, int16_t, int8_t, int64_t, bfloat16>>>;
  DType out_type = DType::kInvalid;
  static constexpr std::tuple kAttrs{Field{"out_type", &DecodePaddedRaw::out_type}.Required(),
                                     Field{"little_endian", &DecodePaddedRaw::little_endian}};
  Result<Shape> InferShape(const Shape& input_bytes, const Integers& fixed_length) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input_bytes, const Integers& fixed_length,
                    Tensor& output) const;
};

struct DecodeCompressed {
  static constexpr auto kName = "DecodeCompressed";
  static constexpr bool kNoGradient = true;
  std::string compression_type;
  using Sig = Signature<In<"bytes", std::string>, Out<"output", std::string>>;
  static constexpr std::tuple kAttrs{
      Field{"compression_type", &DecodeCompressed::compression_type}};
  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& input) const { return input; }
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};

}  // namespace penstock::ops
