#include "penstock/train/data/element_bytes.h"

#include <cstring>

#include "penstock/io/varint.h"

namespace penstock::data {
namespace {

using io::AppendVarint;
using io::TakeVarint;

void AppendTensor(const Tensor& tensor, std::string* out) {
  AppendVarint(static_cast<uint64_t>(tensor.dtype()), out);
  AppendVarint(static_cast<uint64_t>(tensor.shape().rank()), out);
  for (const int64_t extent : tensor.shape().dims())
    AppendVarint(static_cast<uint64_t>(extent), out);
  if (tensor.dtype() != DType::kString) {
    out->append(static_cast<const char*>(tensor.raw()), tensor.bytes());
    return;
  }
  for (const std::string& value : tensor.values<std::string>()) AppendVarint(value.size(), out);
  for (const std::string& value : tensor.values<std::string>()) out->append(value);
}

Status Malformed() { return DataLoss("an element of a cache file is malformed"); }

Status FillStrings(std::string_view* bytes, Tensor* tensor) {
  for (std::string& value : tensor->mutable_values<std::string>()) {
    uint64_t length = 0;
    // The sum of the lengths is checked where they are used.
    if (!TakeVarint(bytes, &length) || length > bytes->size()) return Malformed();
    value.resize(static_cast<size_t>(length));
  }
  for (std::string& value : tensor->mutable_values<std::string>()) {
    if (value.size() > bytes->size()) return Malformed();
    value = bytes->substr(0, value.size());
    bytes->remove_prefix(value.size());
  }
  return OkStatus();
}

Result<Tensor> TakeTensor(std::string_view* bytes) {
  uint64_t dtype = 0, rank = 0;
  if (!TakeVarint(bytes, &dtype) || !TakeVarint(bytes, &rank)) return Malformed();
  if (dtype == 0 || dtype >= kNumDTypes ||
      !IsPlain(static_cast<DType>(dtype) == DType::kString ? DType::kInt8
                                                           : static_cast<DType>(dtype)))
    return Malformed();
  std::vector<int64_t> dims;
  for (uint64_t i = 0; i < rank; ++i) {
    uint64_t extent = 0;
    if (!TakeVarint(bytes, &extent) || extent > INT64_MAX || i >= Shape::kMaxRank)
      return Malformed();
    dims.push_back(static_cast<int64_t>(extent));
  }
  const Result<Shape> shape = Shape::Make(dims);
  if (!shape.ok()) return Malformed();
  const bool strings = static_cast<DType>(dtype) == DType::kString;
  // A string takes a byte at least, for its length.
  const size_t size = strings ? 1 : SizeOf(static_cast<DType>(dtype));
  if (static_cast<uint64_t>(shape->num_elements()) > bytes->size() / size) return Malformed();
  TRY_ASSIGN(Tensor tensor, Tensor::Make(HostAllocator(), static_cast<DType>(dtype), *shape));
  if (strings) {
    TRY(FillStrings(bytes, &tensor));
  } else if (tensor.bytes() > 0) {
    std::memcpy(tensor.mutable_raw(), bytes->data(), tensor.bytes());
    bytes->remove_prefix(tensor.bytes());
  }
  return tensor;
}

}  // namespace

Result<std::string> ElementToBytes(const Element& element) {
  std::string out;
  AppendVarint(element.size(), &out);
  for (const Tensor& tensor : element) {
    if (!IsPlain(tensor.dtype()) && tensor.dtype() != DType::kString)
      return InvalidArgument("elements of {} cannot be kept in a file", tensor.dtype());
    AppendTensor(tensor, &out);
  }
  return out;
}

Result<Element> ElementFromBytes(std::string_view bytes) {
  uint64_t count = 0;
  if (!TakeVarint(&bytes, &count)) return Malformed();
  Element element;
  for (uint64_t i = 0; i < count; ++i) {
    TRY_ASSIGN(Tensor tensor, TakeTensor(&bytes));
    element.push_back(std::move(tensor));
  }
  if (!bytes.empty()) return Malformed();
  return element;
}

}  // namespace penstock::data
