#pragma once

#include <array>
#include <span>
#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Branches and loops. The executor itself does what these say (execute/frame_step.cc), so they have
// no kernels; graph/flow.h tells it which op is which.

namespace penstock::ops {

// Both forms of an op: over values, and over references to variables.
template <bool kIsRef, FixedString Name>
struct FlowType {
  using Type = AnyType<Name>;
};
template <FixedString Name>
struct FlowType<true, Name> {
  using Type = Ref<AnyType<Name>>;
};
template <bool kIsRef>
using Flowing = typename FlowType<kIsRef, "T">::Type;

// Sends `data` to the output that `pred` chooses; the other one is dead.
template <bool kIsRef>
struct SwitchForm {
  static constexpr auto kName = kIsRef ? "RefSwitch" : "Switch";
  static constexpr bool kCheap = true;
  static constexpr bool kAllowsUninitialized = kIsRef;
  using Sig = Signature<In<"data", Flowing<kIsRef>>, In<"pred", bool>,
                        Out<"output_false", Flowing<kIsRef>>, Out<"output_true", Flowing<kIsRef>>>;

  Result<std::array<Shape, 2>> InferShape(const Shape& data, const Shape& pred) const {
    TRY(CheckScalar(pred, "pred"));
    return std::array<Shape, 2>{data, data};
  }
  void Gradient(Gradients& g) const;
};

// Passes on the first live value that arrives, and says which input it was.
template <bool kIsRef>
struct MergeForm {
  static constexpr auto kName = kIsRef ? "RefMerge" : "Merge";
  static constexpr bool kCheap = true;
  using Sig = Signature<In<"inputs", List<"N", Flowing<kIsRef>, 1>>, Out<"output", Flowing<kIsRef>>,
                        Out<"value_index", int32_t>>;

  Result<std::array<Shape, 2>> InferShape(std::span<const Known> inputs) const;
  void Gradient(Gradients& g) const;
};

// Brings a value into the loop `frame_name`: into its first iteration, or into all of them.
template <bool kIsRef>
struct EnterForm {
  static constexpr auto kName = kIsRef ? "RefEnter" : "Enter";
  static constexpr bool kCheap = true;
  std::string frame_name;
  bool is_constant = false;
  int64_t parallel_iterations = 10;
  using Sig = Signature<In<"data", Flowing<kIsRef>>, Out<"output", Flowing<kIsRef>>>;
  static constexpr std::tuple kAttrs{Field{"frame_name", &EnterForm::frame_name}.Required(),
                                     Field{"is_constant", &EnterForm::is_constant},
                                     Field{"parallel_iterations", &EnterForm::parallel_iterations}};

  Status CheckAttrs() const {
    if (parallel_iterations > 0) return OkStatus();
    return InvalidArgument("parallel_iterations must be positive, got {}", parallel_iterations);
  }
  Result<Shape> InferShape(const Shape& data) const { return data; }
  void Gradient(Gradients& g) const;
};

template <bool kIsRef>
struct ExitForm {
  static constexpr auto kName = kIsRef ? "RefExit" : "Exit";
  static constexpr bool kCheap = true;
  using Sig = Signature<In<"data", Flowing<kIsRef>>, Out<"output", Flowing<kIsRef>>>;
  Result<Shape> InferShape(const Shape& data) const { return data; }
  void Gradient(Gradients& g) const;
};

template <bool kIsRef>
struct NextIterationForm {
  static constexpr auto kName = kIsRef ? "RefNextIteration" : "NextIteration";
  static constexpr bool kCheap = true;
  using Sig = Signature<In<"data", Flowing<kIsRef>>, Out<"output", Flowing<kIsRef>>>;
  Result<Shape> InferShape(const Shape& data) const { return data; }
  void Gradient(Gradients& g) const;
};

using Switch = SwitchForm<false>;
using RefSwitch = SwitchForm<true>;
using Merge = MergeForm<false>;
using RefMerge = MergeForm<true>;
using Enter = EnterForm<false>;
using RefEnter = EnterForm<true>;
using Exit = ExitForm<false>;
using RefExit = ExitForm<true>;
using NextIteration = NextIterationForm<false>;
using RefNextIteration = NextIterationForm<true>;

// Marks the value that decides whether a loop goes on.
struct LoopCond {
  static constexpr auto kName = "LoopCond";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"input", bool>, Out<"output", bool>>;
  Result<Shape> InferShape(const Shape& input) const {
    TRY(CheckScalar(input, "input"));
    return Shape{};
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input) const {
    context.SetOutput(0, input);
    return OkStatus();
  }
};

// Fails its step when it is reached.
struct Abort {
  static constexpr auto kName = "Abort";
  static constexpr bool kNoGradient = true;
  std::string error_msg;
  bool exit_without_error = false;
  using Sig = Signature<>;
  static constexpr std::tuple kAttrs{Field{"error_msg", &Abort::error_msg},
                                     Field{"exit_without_error", &Abort::exit_without_error}};
  Status ComputeCpu(CpuContext&) const;
};

}  // namespace penstock::ops
