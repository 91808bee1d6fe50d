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
template <FixedString Name, bool kTellsSigns>
struct NumericsCheck {
  static constexpr const char* kName = Name.text;
  static constexpr bool kStateful = true;
  static constexpr bool kAliases = true;
  std::string message;
  using Sig = Signature<In<"tensor", FloatType<"T">>, Out<"output", FloatType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"message", &NumericsCheck::message}.Required()};

  Result<Shape> InferShape(const Shape& tensor) const { return tensor; }
  void Gradient(Gradients& g) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& tensor) const;
};

using CheckNumerics = NumericsCheck<"CheckNumerics", false>;
// Says of infinities whether they are positive or negative.
using CheckNumericsV2 = NumericsCheck<"CheckNumericsV2", true>;

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

// Writes a text to one of the process's streams or to the log. (TensorFlow's also appends to files;
// here a graph writes no file that its user has not named.)
struct PrintV2 {
  static constexpr auto kName = "PrintV2";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  std::string output_stream = "stderr";
  std::string end = "\n";
  using Sig = Signature<In<"input", std::string>>;
  static constexpr std::tuple kAttrs{Field{"output_stream", &PrintV2::output_stream},
                                     Field{"end", &PrintV2::end}};

  Status CheckAttrs() const;
  Result<std::vector<Shape>> InferShape(const Shape& input) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input) const;
};

}  // namespace penstock::ops
