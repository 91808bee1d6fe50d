#pragma once

#include "penstock/ops/random/stream.h"

// Where the random streams of a session stand, as a value: a program that stops and goes on later
// draws the numbers that it would have drawn.
//
//   state  = (1: stream)*          protobuf's wire format
//   stream = 1: name  2: key  3: lower and 4: upper half of the counter

namespace penstock::ops {

std::string SerializePositions(const std::map<std::string, kernels::Philox>& positions);
// DataLoss when the bytes are no state.
Result<std::map<std::string, kernels::Philox>> ParsePositions(std::string_view state);

// All streams that were drawn from so far.
struct ReadRandomStreams {
  static constexpr auto kName = "_ReadRandomStreams";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<Out<"state", std::string>>;

  Result<Shape> InferShape() const { return Shape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

// Puts the streams of `state` where they were; others stay where they are.
struct WriteRandomStreams {
  static constexpr auto kName = "_WriteRandomStreams";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"state", std::string>>;

  Result<std::vector<Shape>> InferShape(const Shape& state) const;
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

}  // namespace penstock::ops
