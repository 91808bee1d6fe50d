#pragma once

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// A tensor as the bytes of a TensorProto, and back.

namespace penstock::ops {

// The elements as they lie in memory (tensor_content), strings one by one (string_val).
Result<std::string> SerializedTensor(const Tensor& tensor);

struct SerializeTensor {
  static constexpr auto kName = "SerializeTensor";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"tensor", AnyType<"T">>, Out<"serialized", std::string>>;

  Result<Shape> InferShape(const Shape&) const { return Shape(); }
  Status ComputeCpu(CpuContext& context, const Tensor& tensor, Tensor& serialized) const;
};

struct ParseTensor {
  static constexpr auto kName = "ParseTensor";
  static constexpr bool kNoGradient = true;
  DType out_type = DType::kInvalid;
  using Sig = Signature<In<"serialized", std::string>, Out<"output", AnyType<"out_type">>>;
  static constexpr std::tuple kAttrs{Field{"out_type", &ParseTensor::out_type}.Required()};

  Result<Shape> InferShape(const Shape& serialized) const;
  Status ComputeCpu(CpuContext& context, const Tensor& serialized) const;
};

}  // namespace penstock::ops
