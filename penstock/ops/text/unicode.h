#pragma once

#include <array>
#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Strings as code points of Unicode and back. What is malformed is replaced, left out or refused,
// as the attribute `errors` says.

namespace penstock::ops {

// How strings are read.
struct UnicodeReading {
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 200;
  std::string input_encoding;
  std::string errors = "replace";
  int64_t replacement_char = 65533;
  bool replace_control_characters = false;
  static constexpr std::tuple kAttrs{
      Field{"input_encoding", &UnicodeReading::input_encoding}.Required(),
      Field{"errors", &UnicodeReading::errors}.OneOf("strict|replace|ignore"),
      Field{"replacement_char", &UnicodeReading::replacement_char},
      Field{"replace_control_characters", &UnicodeReading::replace_control_characters}};

  Status CheckAttrs() const;
};

struct UnicodeTranscode : UnicodeReading {
  static constexpr auto kName = "UnicodeTranscode";
  std::string output_encoding;
  using Sig = Signature<In<"input", std::string>, Out<"output", std::string>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      UnicodeReading::kAttrs,
      std::tuple{Field{"output_encoding", &UnicodeTranscode::output_encoding}.Required().OneOf(
          "UTF-8|UTF-16-BE|UTF-32-BE")});

  Result<Shape> InferShape(const Shape& input) const { return input; }
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};

// The code points of all strings, and where those of each begin; also at which byte each lay.
using UnicodeSplits = TypeVarOr<"Tsplits", int64_t, int32_t, int64_t>;
struct UnicodeDecode : UnicodeReading {
  static constexpr auto kName = "UnicodeDecode";
  using Sig = Signature<In<"input", std::string>, Out<"row_splits", UnicodeSplits>,
                        Out<"char_values", int32_t>>;
  Result<std::array<Shape, 2>> InferShape(const Shape& input) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input) const;
  DType splits_type = DType::kInvalid;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      UnicodeReading::kAttrs, std::tuple{Field{"Tsplits", &UnicodeDecode::splits_type}});
};
struct UnicodeDecodeWithOffsets : UnicodeReading {
  static constexpr auto kName = "UnicodeDecodeWithOffsets";
  using Sig = Signature<In<"input", std::string>, Out<"row_splits", UnicodeSplits>,
                        Out<"char_values", int32_t>, Out<"char_to_byte_starts", int64_t>>;
  Result<std::array<Shape, 3>> InferShape(const Shape& input) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input) const;
  DType splits_type = DType::kInvalid;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      UnicodeReading::kAttrs, std::tuple{Field{"Tsplits", &UnicodeDecodeWithOffsets::splits_type}});
};

struct UnicodeEncode {
  static constexpr auto kName = "UnicodeEncode";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 200;
  std::string errors = "replace";
  std::string output_encoding;
  int64_t replacement_char = 65533;
  using Sig = Signature<In<"input_values", int32_t>, In<"input_splits", UnicodeSplits>,
                        Out<"output", std::string>>;
  static constexpr std::tuple kAttrs{
      Field{"errors", &UnicodeEncode::errors}.OneOf("ignore|replace|strict"),
      Field{"output_encoding", &UnicodeEncode::output_encoding}.Required().OneOf(
          "UTF-8|UTF-16-BE|UTF-32-BE"),
      Field{"replacement_char", &UnicodeEncode::replacement_char}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& input_values, const Shape& input_splits) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input_values, const Tensor& input_splits,
                    Tensor& output) const;
};

// The script that each code point belongs to, by ICU's numbers.
struct UnicodeScript {
  static constexpr auto kName = "UnicodeScript";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 20;
  using Sig = Signature<In<"input", int32_t>, Out<"output", int32_t>>;
  Result<Shape> InferShape(const Shape& input) const { return input; }
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};

}  // namespace penstock::ops
