#pragma once

#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Changes of type: of the numbers, and of how their bits are read.

namespace penstock::ops {

// With Truncate, a float that becomes a shorter one is cut to its bits, not rounded.
struct Cast {
  static constexpr auto kName = "Cast";
  static constexpr bool kAliases = true;  // when there is nothing to convert
  DType SrcT = DType::kInvalid;
  DType DstT = DType::kInvalid;
  bool Truncate = false;
  using Sig = Signature<In<"x", AnyType<"SrcT">>, Out<"y", AnyType<"DstT">>>;
  static constexpr std::tuple kAttrs{Field{"SrcT", &Cast::SrcT}, Field{"DstT", &Cast::DstT},
                                     Field{"Truncate", &Cast::Truncate}};

  Result<Shape> InferShape(const Shape& x) const { return x; }
  void Gradient(Gradients& g) const;
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

// Reads the bits as another type. To a smaller one the shape grows by a last axis, to a larger one
// it loses its last.
struct Bitcast {
  static constexpr auto kName = "Bitcast";
  static constexpr bool kAliases = true;
  static constexpr bool kNoGradient = true;
  DType T = DType::kInvalid;
  DType type = DType::kInvalid;
  template <FixedString Name>
  using Bits = TypeVar<Name, bfloat16, half, float, double, int64_t, int32_t, uint8_t, uint16_t,
                       uint32_t, uint64_t, int8_t, int16_t, complex64, complex128, qint8, quint8,
                       qint16, quint16, qint32>;
  using Sig = Signature<In<"input", Bits<"T">>, Out<"output", Bits<"type">>>;
  static constexpr std::tuple kAttrs{Field{"T", &Bitcast::T}, Field{"type", &Bitcast::type}};

  Result<Shape> InferShape(const Shape& input) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input) const;
};

}  // namespace penstock::ops
