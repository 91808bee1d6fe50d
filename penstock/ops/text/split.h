#pragma once

#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Strings taken apart: their pieces as a sparse matrix with a row for each string.

namespace penstock::ops {

using SplitOutputs = std::array<Shape, 3>;

// At any byte of the delimiter; at every byte when there is none.
struct StringSplit {
  static constexpr auto kName = "StringSplit";
  static constexpr bool kNoGradient = true;
  bool skip_empty = true;
  using Sig = Signature<In<"input", std::string>, In<"delimiter", std::string>,
                        Out<"indices", int64_t>, Out<"values", std::string>, Out<"shape", int64_t>>;
  static constexpr std::tuple kAttrs{Field{"skip_empty", &StringSplit::skip_empty}};

  Result<SplitOutputs> InferShape(const Shape& input, const Shape& delimiter) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& delimiter) const;
};

// At the separator as a whole, as Python does; at runs of white space when there is none.
struct StringSplitV2 {
  static constexpr auto kName = "StringSplitV2";
  static constexpr bool kNoGradient = true;
  int64_t maxsplit = -1;
  using Sig = Signature<In<"input", std::string>, In<"sep", std::string>, Out<"indices", int64_t>,
                        Out<"values", std::string>, Out<"shape", int64_t>>;
  static constexpr std::tuple kAttrs{Field{"maxsplit", &StringSplitV2::maxsplit}};

  Result<SplitOutputs> InferShape(const Shape& input, const Shape& sep) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& sep) const;
};

// For each row of tokens and each width, the runs of that many tokens, joined.
struct StringNGrams {
  static constexpr auto kName = "StringNGrams";
  static constexpr bool kNoGradient = true;
  std::string separator;
  std::vector<int64_t> ngram_widths;
  std::string left_pad;
  std::string right_pad;
  int64_t pad_width = 0;
  bool preserve_short_sequences = false;
  using Splits = TypeVarOr<"Tsplits", int64_t, int32_t, int64_t>;
  using Sig = Signature<In<"data", std::string>, In<"data_splits", Splits>,
                        Out<"ngrams", std::string>, Out<"ngrams_splits", Splits>>;
  static constexpr std::tuple kAttrs{
      Field{"separator", &StringNGrams::separator}.Required(),
      Field{"ngram_widths", &StringNGrams::ngram_widths}.Required().Min(0),
      Field{"left_pad", &StringNGrams::left_pad}.Required(),
      Field{"right_pad", &StringNGrams::right_pad}.Required(),
      Field{"pad_width", &StringNGrams::pad_width}.Required(),
      Field{"preserve_short_sequences", &StringNGrams::preserve_short_sequences}.Required()};

  Status CheckAttrs() const;
  Result<std::array<Shape, 2>> InferShape(const Shape& data, const Shape& data_splits) const;
  Status ComputeCpu(CpuContext& context, const Tensor& data, const Tensor& data_splits) const;

 private:
  int64_t PadOf(int64_t width) const;
};

}  // namespace penstock::ops
