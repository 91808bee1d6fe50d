#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "penstock/core/shape.h"
#include "penstock/core/status.h"
#include "penstock/core/tensor.h"

namespace penstock::tf {
class TensorProto;
class TensorShapeProto;
}  // namespace penstock::tf

namespace penstock {

// What an import may cost beyond what came over the wire. A message of 20 bytes can describe a
// tensor of any size.
struct ImportLimits {
  // Memory that values, repeated by a short encoding, may take in all.
  int64_t max_expanded_bytes = int64_t{1} << 30;
  // The longest message that is parsed at all. protobuf itself stops at 2 GiB.
  int64_t max_wire_bytes = INT32_MAX;
};

// What is left of the limits during one import.
class ImportBudget {
 public:
  explicit ImportBudget(const ImportLimits& limits)
      : limit_(limits.max_expanded_bytes), left_(limit_) {}
  // Takes count * bytes_each, or says ResourceExhausted. Neither needs to be checked before;
  // negative ones cost nothing.
  Status Charge(int64_t count, int64_t bytes_each);

 private:
  int64_t limit_;
  int64_t left_;
};

// Reads either encoding of a TensorProto: tensor_content (little endian; for strings a varint64
// length each, then the bytes), or the typed field of its dtype, where fewer values than elements
// repeat the last and none at all means zero or empty. More values than elements are an error (but
// one value for an empty tensor, which Python writes). Variants and the types below 8 bits are
// Unimplemented.
Result<Tensor> TensorFromProto(const tf::TensorProto& proto, ImportBudget* budget);
Result<Tensor> TensorFromProto(const tf::TensorProto& proto, const ImportLimits& limits = {});
// The same from the bytes of a message.
Result<Tensor> ParseTensorProto(std::string_view wire, const ImportLimits& limits = {});

// Writes typed values up to 64 bytes, tensor_content above. Values that end in a long run are cut
// there, and strings always go to string_val: Python cannot read them elsewhere. REQUIRES: `tensor`
// is initialized and in host memory.
Status TensorToProto(const Tensor& tensor, tf::TensorProto* proto);

// A shape that may be partial; -1 is an unknown extent.
Result<Shape> ShapeFromProto(const tf::TensorShapeProto& proto);
void ShapeToProto(const Shape& shape, tf::TensorShapeProto* proto);

// The dtype with that number of TensorFlow's, or nothing when we do not know it. Reference types
// are not dtypes.
std::optional<DType> DTypeFromNumber(int number);

}  // namespace penstock
