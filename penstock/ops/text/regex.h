#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"

// Regular expressions, of RE2's syntax. The static forms have the pattern as an attribute.

namespace penstock::ops {

struct RegexReplace {
  static constexpr auto kName = "RegexReplace";
  static constexpr bool kNoGradient = true;
  bool replace_global = true;
  using Sig = Signature<In<"input", std::string>, In<"pattern", std::string>,
                        In<"rewrite", std::string>, Out<"output", std::string>>;
  static constexpr std::tuple kAttrs{Field{"replace_global", &RegexReplace::replace_global}};

  Result<Shape> InferShape(const Shape& input, const Shape& pattern, const Shape& rewrite) const;
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct StaticRegexReplace {
  static constexpr auto kName = "StaticRegexReplace";
  static constexpr bool kNoGradient = true;
  std::string pattern;
  std::string rewrite;
  bool replace_global = true;
  using Sig = Signature<In<"input", std::string>, Out<"output", std::string>>;
  static constexpr std::tuple kAttrs{Field{"pattern", &StaticRegexReplace::pattern}.Required(),
                                     Field{"rewrite", &StaticRegexReplace::rewrite}.Required(),
                                     Field{"replace_global", &StaticRegexReplace::replace_global}};

  Result<Shape> InferShape(const Shape& input) const { return input; }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct RegexFullMatch {
  static constexpr auto kName = "RegexFullMatch";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"input", std::string>, In<"pattern", std::string>, Out<"output", bool>>;

  Result<Shape> InferShape(const Shape& input, const Shape& pattern) const;
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct StaticRegexFullMatch {
  static constexpr auto kName = "StaticRegexFullMatch";
  static constexpr bool kNoGradient = true;
  std::string pattern;
  using Sig = Signature<In<"input", std::string>, Out<"output", bool>>;
  static constexpr std::tuple kAttrs{Field{"pattern", &StaticRegexFullMatch::pattern}.Required()};

  Result<Shape> InferShape(const Shape& input) const { return input; }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

}  // namespace penstock::ops
