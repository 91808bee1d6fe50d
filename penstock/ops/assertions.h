#pragma once

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// What looks at values for the user's sake: assertions, checks, printing.

namespace penstock::ops {

// Fails the step with a summary of `data` unless `condition` is true.
struct Assert {
  static constexpr auto kName = "Assert";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  int64_t summarize = 3;
  using Sig = Signature<In<"condition", bool>, In<"data", TypeList<"T">>>;
  static constexpr std::tuple kAttrs{Field{"summarize", &Assert::summarize}};

  Result<std::vector<Shape>> InferShape(const Shape& condition, std::span<const Known> data) const;
  Status ComputeCpu(CpuContext& context, bool condition, std::span<Tensor* const> data) const;
};

// Passes the tensor on; fails when it holds an infinity or a NaN.
struct CheckNumerics {
  static constexpr auto kName = "CheckNumerics";
  static constexpr bool kStateful = true;
  static constexpr bool kAliases = true;
  std::string message;
  using Sig = Signature<In<"tensor", FloatType<"T">>, Out<"output", FloatType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"message", &CheckNumerics::message}.Required()};

  Result<Shape> InferShape(const Shape& tensor) const { return tensor; }
  void Gradient(Gradients& g) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& tensor) const;
};

// Passes the input on and logs `data`, the first `first_n` times or always.
struct Print {
  static constexpr auto kName = "Print";
  static constexpr bool kStateful = true;
  static constexpr bool kAliases = true;
  std::string message;
  int64_t first_n = -1;
  int64_t summarize = 3;
  using Sig = Signature<In<"input", AnyType<"T">>, In<"data", TypeList<"U", 0>>,
                        Out<"output", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"message", &Print::message},
                                     Field{"first_n", &Print::first_n},
                                     Field{"summarize", &Print::summarize}};

  Result<Shape> InferShape(const Shape& input, std::span<const Known> data) const;
  void Gradient(Gradients& g) const { g.Set(0, g.dy()); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

}  // namespace penstock::ops
