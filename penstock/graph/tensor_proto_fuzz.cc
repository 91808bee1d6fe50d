// Bytes as a TensorProto: an error, or a tensor that is written and read again as the same.

#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/core/check.h"
#include "penstock/graph/attr_value.h"
#include "penstock/graph/tensor_proto.h"
#include "penstock/proto/tensor.pb.h"

namespace penstock {
namespace {

void Check(std::string_view wire) {
  ImportLimits limits;
  limits.max_expanded_bytes = 16 << 20;
  const Result<Tensor> tensor = ParseTensorProto(wire, limits);
  if (!tensor.ok()) return;
  tensor->ToString();
  tf::TensorProto written;
  const Status status = TensorToProto(*tensor, &written);
  CHECK(status.ok()) << status.ToString();
  const Result<Tensor> again = TensorFromProto(written, limits);
  CHECK(again.ok()) << again.status().ToString();
  CHECK(tensor->dtype() == DType::kResource || SameContent(*tensor, *again)) << tensor->ToString();
}

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  penstock::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
