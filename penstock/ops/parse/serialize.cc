#include "penstock/ops/parse/serialize.h"

#include "penstock/graph/tensor_proto.h"
#include "penstock/io/wire_writer.h"

namespace penstock::ops {

//   TensorProto      = 1: dtype  2: TensorShapeProto  4: tensor_content | (8: string_val)*
//   TensorShapeProto = (2: (1: extent))*
Result<std::string> SerializedTensor(const Tensor& tensor) {
  const DType dtype = tensor.dtype();
  if (dtype == DType::kResource || dtype == DType::kVariant)
    return Unimplemented("a tensor of {} cannot be serialized", dtype);
  io::WireWriter shape;
  for (const int64_t extent : tensor.shape().dims()) {
    io::WireWriter dim;
    if (extent != 0) dim.Varint(1, static_cast<uint64_t>(extent));
    shape.Bytes(2, dim.text());
  }
  io::WireWriter proto;
  proto.Varint(1, static_cast<uint64_t>(dtype)).Bytes(2, shape.text());
  if (dtype == DType::kString) {
    for (const std::string& text : tensor.values<std::string>()) proto.Bytes(8, text);
  } else if (tensor.bytes() > 0) {
    proto.Bytes(4, {static_cast<const char*>(tensor.raw()), tensor.bytes()});
  }
  return proto.text();
}

Status SerializeTensor::ComputeCpu(CpuContext&, const Tensor& tensor, Tensor& serialized) const {
  TRY_ASSIGN(*serialized.mutable_data<std::string>(), SerializedTensor(tensor));
  return OkStatus();
}

Result<Shape> ParseTensor::InferShape(const Shape& serialized) const {
  TRY(CheckScalar(serialized, "serialized"));
  return Shape::Unknown();
}

Status ParseTensor::ComputeCpu(CpuContext& context, const Tensor& serialized) const {
  Result<Tensor> tensor = ParseTensorProto(serialized.scalar<std::string>());
  if (!tensor.ok()) {
    return InvalidArgument("Could not parse `serialized` as TensorProto: {}",
                           tensor.status().message());
  }
  if (tensor->dtype() != out_type)
    return InvalidArgument("Type mismatch between parsed tensor ({}) and dtype ({})",
                           tensor->dtype(), out_type);
  context.SetOutput(0, *std::move(tensor));
  return OkStatus();
}

void RegisterSerialize(Registrar& registrar) { registrar.AddAll<SerializeTensor, ParseTensor>(); }

}  // namespace penstock::ops
