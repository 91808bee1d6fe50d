#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// The two ends of an edge that crosses devices or leaves the step: the rendezvous of the step takes
// the tensor from one to the other.

namespace penstock::ops {

// Sends its input. Ends when the value was handed over, not when it was received.
template <FixedString Name>
struct SendTo {
  static constexpr const char* kName = Name.text;
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kKeepsInputs = true;  // the receiver may come after the step's end
  static constexpr bool kNoGradient = true;
  std::string tensor_name;
  std::string send_device;
  int64_t send_device_incarnation = 0;
  std::string recv_device;
  bool client_terminated = false;
  using Sig = Signature<In<"tensor", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{
      Field{"tensor_name", &SendTo::tensor_name}.Required(),
      Field{"send_device", &SendTo::send_device}.Required(),
      Field{"send_device_incarnation", &SendTo::send_device_incarnation}.Required(),
      Field{"recv_device", &SendTo::recv_device}.Required(),
      Field{"client_terminated", &SendTo::client_terminated}};

  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};
using Send = SendTo<"_Send">;
using HostSend = SendTo<"_HostSend">;  // between hosts' memories; the same where all memory is one

// Waits for the value of its key; dead when a dead one was sent.
template <FixedString Name>
struct RecvFrom {
  static constexpr const char* kName = Name.text;
  static constexpr bool kStateful = true;
  static constexpr bool kAsync = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  DType tensor_type = DType::kInvalid;
  std::string tensor_name;
  std::string send_device;
  int64_t send_device_incarnation = 0;
  std::string recv_device;
  bool client_terminated = false;
  using Sig = Signature<Out<"tensor", AnyType<"tensor_type">>>;
  static constexpr std::tuple kAttrs{
      Field{"tensor_type", &RecvFrom::tensor_type},
      Field{"tensor_name", &RecvFrom::tensor_name}.Required(),
      Field{"send_device", &RecvFrom::send_device}.Required(),
      Field{"send_device_incarnation", &RecvFrom::send_device_incarnation}.Required(),
      Field{"recv_device", &RecvFrom::recv_device}.Required(),
      Field{"client_terminated", &RecvFrom::client_terminated}};

  Result<Shape> InferShape() const { return Shape::Unknown(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};
using Recv = RecvFrom<"_Recv">;
using HostRecv = RecvFrom<"_HostRecv">;

}  // namespace penstock::ops
