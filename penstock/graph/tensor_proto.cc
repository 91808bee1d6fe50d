#include "penstock/graph/tensor_proto.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

#include "penstock/core/checked.h"
#include "penstock/core/resource.h"
#include "penstock/graph/wire.h"
#include "penstock/proto/tensor.pb.h"

namespace penstock {
namespace {

static_assert(std::endian::native == std::endian::little, "tensor_content is copied as it is");

// Values of at most this many bytes go to typed fields, as TensorFlow's do.
constexpr int64_t kMaxTypedBytes = 64;

template <class T>
inline constexpr bool kIsQuantized =
    std::is_same_v<T, qint8> || std::is_same_v<T, quint8> || std::is_same_v<T, qint16> ||
    std::is_same_v<T, quint16> || std::is_same_v<T, qint32>;

// One value of a typed field as an element. Integers wrap, as TensorFlow's do.
template <class T, class V>
T FromField(V value) {
  if constexpr (kIsFloat16<T>) {
    return T::FromBits(static_cast<uint16_t>(value));
  } else if constexpr (kIsQuantized<T>) {
    return T{static_cast<decltype(T::value)>(value)};
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
auto ToField(const T& element) {
  if constexpr (kIsFloat16<T>) {
    return element.bits;
  } else if constexpr (kIsQuantized<T>) {
    return element.value;
  } else {
    return element;
  }
}

ResourceHandle HandleFromProto(const tf::ResourceHandleProto& proto) {
  ResourceHandle handle;
  handle.device = proto.device();
  handle.container = proto.container();
  handle.name = proto.name();
  handle.type_name = proto.maybe_type_name();
  if (proto.dtypes_and_shapes_size() > 0) {
    const auto& value = proto.dtypes_and_shapes(0);
    handle.dtype = DTypeFromNumber(value.dtype()).value_or(DType::kInvalid);
    // A hint, no more: what does not read as a shape says nothing.
    Result<Shape> shape = ShapeFromProto(value.shape());
    if (shape.ok()) handle.shape = *std::move(shape);
  }
  return handle;
}

void HandleToProto(const ResourceHandle& handle, tf::ResourceHandleProto* proto) {
  proto->set_device(handle.device);
  proto->set_container(handle.container);
  proto->set_name(handle.name);
  proto->set_maybe_type_name(handle.type_name);
  if (handle.dtype != DType::kInvalid) {
    auto* value = proto->add_dtypes_and_shapes();
    value->set_dtype(static_cast<tf::DataType>(handle.dtype));
    ShapeToProto(handle.shape, value->mutable_shape());
  }
}

// What a copy of an element takes beside the element itself.
template <class T>
int64_t HeapBytes(const T&) {
  return 0;
}
int64_t HeapBytes(const std::string& text) { return static_cast<int64_t>(text.size()); }
int64_t HeapBytes(const ResourceHandle& handle) {
  return HeapBytes(handle.device) + HeapBytes(handle.container) + HeapBytes(handle.name) +
         HeapBytes(handle.type_name);
}

// Knows dtype, shape and number of elements of the tensor that a message describes.
class Reader {
 public:
  Reader(const tf::TensorProto& proto, DType dtype, Shape shape, int64_t count,
         ImportBudget* budget)
      : proto_(proto), dtype_(dtype), shape_(std::move(shape)), count_(count), budget_(budget) {}

  Result<Tensor> Read() const {
    if (!proto_.tensor_content().empty()) {
      return dtype_ == DType::kString ? ReadStringContent() : ReadContent();
    }
    switch (dtype_) {
      case DType::kFloat:
        return ReadField<float>(proto_.float_val());
      case DType::kDouble:
        return ReadField<double>(proto_.double_val());
      case DType::kInt32:
        return ReadField<int32_t>(proto_.int_val());
      case DType::kUint8:
        return ReadField<uint8_t>(proto_.int_val());
      case DType::kInt16:
        return ReadField<int16_t>(proto_.int_val());
      case DType::kInt8:
        return ReadField<int8_t>(proto_.int_val());
      case DType::kComplex64:
        return ReadComplex<complex64>(proto_.scomplex_val());
      case DType::kInt64:
        return ReadField<int64_t>(proto_.int64_val());
      case DType::kBool:
        return ReadField<bool>(proto_.bool_val());
      case DType::kQint8:
        return ReadField<qint8>(proto_.int_val());
      case DType::kQuint8:
        return ReadField<quint8>(proto_.int_val());
      case DType::kQint32:
        return ReadField<qint32>(proto_.int_val());
      case DType::kBfloat16:
        return ReadField<bfloat16>(proto_.half_val());
      case DType::kQint16:
        return ReadField<qint16>(proto_.int_val());
      case DType::kQuint16:
        return ReadField<quint16>(proto_.int_val());
      case DType::kUint16:
        return ReadField<uint16_t>(proto_.int_val());
      case DType::kComplex128:
        return ReadComplex<complex128>(proto_.dcomplex_val());
      case DType::kHalf:
        return ReadField<half>(proto_.half_val());
      case DType::kUint32:
        return ReadField<uint32_t>(proto_.uint32_val());
      case DType::kUint64:
        return ReadField<uint64_t>(proto_.uint64_val());
      case DType::kString:
        return ReadValues<std::string>(proto_.string_val_size(),
                                       [&](int i) { return proto_.string_val(i); });
      case DType::kResource:
        return ReadValues<ResourceHandle>(proto_.resource_handle_val_size(), [&](int i) {
          return HandleFromProto(proto_.resource_handle_val(i));
        });
      case DType::kVariant:
      case DType::kInvalid:
        break;
    }
    return Unimplemented("tensors of dtype {} are not supported in messages", dtype_);
  }

 private:
  template <class T, class Field>
  Result<Tensor> ReadField(const Field& field) const {
    return ReadValues<T>(field.size(), [&](int i) { return FromField<T>(field[i]); });
  }

  template <class T, class Field>
  Result<Tensor> ReadComplex(const Field& field) const {
    if (field.size() % 2 != 0) {
      return InvalidArgument("a {} tensor has {} numbers, which is odd", dtype_, field.size());
    }
    return ReadValues<T>(field.size() / 2,
                         [&](int i) { return T(field[2 * i], field[2 * i + 1]); });
  }

  // `at(i)` is the i-th of the `given` values of the message.
  template <class T, class At>
  Result<Tensor> ReadValues(int given, At at) const {
    if (given > std::max<int64_t>(count_, 1)) {
      return InvalidArgument("a {} tensor of shape {} has {} elements, got {} values", dtype_,
                             shape_, count_, given);
    }
    const T last = given == 0 ? T() : at(given - 1);
    TRY(budget_->Charge(count_ - given, static_cast<int64_t>(sizeof(T)) + HeapBytes(last)));
    TRY_ASSIGN(Tensor tensor, Tensor::Make(HostAllocator(), dtype_, shape_));
    T* out = tensor.mutable_data<T>();
    const int64_t copied = std::min<int64_t>(given, count_);
    for (int i = 0; i < copied; ++i) out[i] = at(i);
    std::fill(out + copied, out + count_, last);
    return tensor;
  }

  Result<Tensor> ReadContent() const {
    if (!IsPlain(dtype_)) {
      return Unimplemented("tensor_content of dtype {} is not supported", dtype_);
    }
    const std::string& content = proto_.tensor_content();
    const auto bytes = CheckedMul(count_, static_cast<int64_t>(SizeOf(dtype_)));
    if (!bytes || *bytes != static_cast<int64_t>(content.size())) {
      return InvalidArgument("a {} tensor of shape {} does not fit tensor_content of {} bytes",
                             dtype_, shape_, content.size());
    }
    TRY_ASSIGN(Tensor tensor, Tensor::Make(HostAllocator(), dtype_, shape_));
    if (dtype_ == DType::kBool) {
      // A bool that is neither 0 nor 1 is undefined behaviour wherever it is read.
      std::transform(content.begin(), content.end(), tensor.mutable_data<bool>(),
                     [](char c) { return c != 0; });
    } else {
      std::memcpy(tensor.mutable_raw(), content.data(), content.size());
    }
    return tensor;
  }

  // A varint64 length for each string, then all bytes.
  Result<Tensor> ReadStringContent() const {
    std::string_view content = proto_.tensor_content();
    // A length takes a byte at least: a count above that is refused before anything is allocated.
    if (count_ > static_cast<int64_t>(content.size())) return BadStringContent();
    TRY(budget_->Charge(count_, sizeof(std::string)));
    TRY_ASSIGN(Tensor tensor, Tensor::Make(HostAllocator(), dtype_, shape_));
    std::vector<uint64_t> lengths(static_cast<size_t>(count_));
    for (uint64_t& length : lengths) {
      if (!TakeVarint(&content, &length)) return BadStringContent();
    }
    std::string* out = tensor.mutable_data<std::string>();
    for (const uint64_t length : lengths) {
      if (length > content.size()) return BadStringContent();
      *out++ = content.substr(0, length);
      content.remove_prefix(length);
    }
    if (!content.empty()) return BadStringContent();
    return tensor;
  }

  Status BadStringContent() const {
    return InvalidArgument("tensor_content of {} bytes does not hold {} strings",
                           proto_.tensor_content().size(), count_);
  }

  static bool TakeVarint(std::string_view* from, uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64 && !from->empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(from->front());
      from->remove_prefix(1);
      *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  const tf::TensorProto& proto_;
  const DType dtype_;
  const Shape shape_;
  const int64_t count_;
  ImportBudget* const budget_;
};

// The number of elements up to and including the first of the run of equal ones at the end.
template <class Same>
int64_t WithoutRun(int64_t count, Same same_as_last) {
  if (count == 0) return 0;
  int64_t needed = count;
  while (needed > 1 && same_as_last(needed - 2)) --needed;
  return needed;
}

template <class T, class Field>
void WriteField(const Tensor& tensor, int64_t count, Field* field) {
  field->Reserve(static_cast<int>(count));
  for (int64_t i = 0; i < count; ++i) field->Add(ToField(tensor.data<T>()[i]));
}

template <class T, class Field>
void WriteComplex(const Tensor& tensor, int64_t count, Field* field) {
  for (int64_t i = 0; i < count; ++i) {
    field->Add(tensor.data<T>()[i].real());
    field->Add(tensor.data<T>()[i].imag());
  }
}

// The first `count` elements of a plain tensor.
void WriteTyped(const Tensor& tensor, int64_t count, tf::TensorProto* proto) {
  switch (tensor.dtype()) {
    case DType::kFloat:
      return WriteField<float>(tensor, count, proto->mutable_float_val());
    case DType::kDouble:
      return WriteField<double>(tensor, count, proto->mutable_double_val());
    case DType::kInt32:
      return WriteField<int32_t>(tensor, count, proto->mutable_int_val());
    case DType::kUint8:
      return WriteField<uint8_t>(tensor, count, proto->mutable_int_val());
    case DType::kInt16:
      return WriteField<int16_t>(tensor, count, proto->mutable_int_val());
    case DType::kInt8:
      return WriteField<int8_t>(tensor, count, proto->mutable_int_val());
    case DType::kComplex64:
      return WriteComplex<complex64>(tensor, count, proto->mutable_scomplex_val());
    case DType::kInt64:
      return WriteField<int64_t>(tensor, count, proto->mutable_int64_val());
    case DType::kBool:
      return WriteField<bool>(tensor, count, proto->mutable_bool_val());
    case DType::kQint8:
      return WriteField<qint8>(tensor, count, proto->mutable_int_val());
    case DType::kQuint8:
      return WriteField<quint8>(tensor, count, proto->mutable_int_val());
    case DType::kQint32:
      return WriteField<qint32>(tensor, count, proto->mutable_int_val());
    case DType::kBfloat16:
      return WriteField<bfloat16>(tensor, count, proto->mutable_half_val());
    case DType::kQint16:
      return WriteField<qint16>(tensor, count, proto->mutable_int_val());
    case DType::kQuint16:
      return WriteField<quint16>(tensor, count, proto->mutable_int_val());
    case DType::kUint16:
      return WriteField<uint16_t>(tensor, count, proto->mutable_int_val());
    case DType::kComplex128:
      return WriteComplex<complex128>(tensor, count, proto->mutable_dcomplex_val());
    case DType::kHalf:
      return WriteField<half>(tensor, count, proto->mutable_half_val());
    case DType::kUint32:
      return WriteField<uint32_t>(tensor, count, proto->mutable_uint32_val());
    case DType::kUint64:
      return WriteField<uint64_t>(tensor, count, proto->mutable_uint64_val());
    case DType::kString:
    case DType::kResource:
    case DType::kVariant:
    case DType::kInvalid:
      return;
  }
}

void WritePlain(const Tensor& tensor, tf::TensorProto* proto) {
  const int64_t count = tensor.num_elements();
  const auto bytes = static_cast<int64_t>(tensor.bytes());
  if (bytes <= kMaxTypedBytes) return WriteTyped(tensor, count, proto);
  const auto size = static_cast<int64_t>(SizeOf(tensor.dtype()));
  const char* raw = static_cast<const char*>(tensor.raw());
  const char* last = raw + bytes - size;
  const int64_t needed = WithoutRun(count, [&](int64_t i) {
    return std::memcmp(raw + i * size, last, static_cast<size_t>(size)) == 0;
  });
  if (needed * size <= kMaxTypedBytes) return WriteTyped(tensor, needed, proto);
  proto->set_tensor_content(raw, static_cast<size_t>(bytes));
}

void WriteStrings(const Tensor& tensor, tf::TensorProto* proto) {
  const auto values = tensor.values<std::string>();
  int64_t count = tensor.num_elements();
  int64_t bytes = 0;
  for (int64_t i = 0; i < count && bytes <= kMaxTypedBytes; ++i) bytes += HeapBytes(values[i]) + 2;
  if (bytes > kMaxTypedBytes) {
    count = WithoutRun(count, [&](int64_t i) { return values[i] == values.back(); });
  }
  for (int64_t i = 0; i < count; ++i) proto->add_string_val(values[i]);
}

}  // namespace

Status ImportBudget::Charge(int64_t count, int64_t bytes_each) {
  if (count <= 0 || bytes_each <= 0) return OkStatus();
  const auto bytes = CheckedMul(count, bytes_each);
  if (!bytes || *bytes > left_) {
    return ResourceExhausted(
        "{} values of {} bytes exceed what an import may expand to: {} of {} bytes are left", count,
        bytes_each, left_, limit_);
  }
  left_ -= *bytes;
  return OkStatus();
}

std::optional<DType> DTypeFromNumber(int number) {
  if (number <= 0 || number >= kNumDTypes) return std::nullopt;
  return static_cast<DType>(number);
}

Result<Shape> ShapeFromProto(const tf::TensorShapeProto& proto) {
  if (proto.unknown_rank()) {
    if (proto.dim_size() == 0) return Shape::Unknown();
    return InvalidArgument("a shape of unknown rank has {} dimensions", proto.dim_size());
  }
  // Before anything is copied: a message can have millions.
  if (proto.dim_size() > Shape::kMaxRank) {
    return InvalidArgument("a shape has at most {} dimensions, got {}", Shape::kMaxRank,
                           proto.dim_size());
  }
  int64_t dims[Shape::kMaxRank];
  for (int i = 0; i < proto.dim_size(); ++i) dims[i] = proto.dim(i).size();
  return Shape::Make({dims, static_cast<size_t>(proto.dim_size())});
}

void ShapeToProto(const Shape& shape, tf::TensorShapeProto* proto) {
  if (!shape.has_rank()) proto->set_unknown_rank(true);
  for (const int64_t dim : shape.dims()) proto->add_dim()->set_size(dim);
}

Result<Tensor> TensorFromProto(const tf::TensorProto& proto, ImportBudget* budget) {
  const auto dtype = DTypeFromNumber(proto.dtype());
  if (!dtype) {
    if (proto.dtype() != tf::DT_INVALID && tf::DataType_IsValid(proto.dtype())) {
      return Unimplemented("tensors of dtype {} are not supported",
                           tf::DataType_Name(proto.dtype()));
    }
    return InvalidArgument("a tensor has no valid dtype: {}", static_cast<int>(proto.dtype()));
  }
  TRY_ASSIGN(Shape shape, ShapeFromProto(proto.tensor_shape()));
  const auto count = shape.CheckedNumElements();
  if (!count) return InvalidArgument("the shape of a tensor must be known, got {}", shape);
  return Reader(proto, *dtype, std::move(shape), *count, budget).Read();
}

Result<Tensor> TensorFromProto(const tf::TensorProto& proto, const ImportLimits& limits) {
  ImportBudget budget(limits);
  return TensorFromProto(proto, &budget);
}

Result<Tensor> ParseTensorProto(std::string_view wire, const ImportLimits& limits) {
  tf::TensorProto proto;
  TRY(FromWire(wire, limits.max_wire_bytes, &proto));
  return TensorFromProto(proto, limits);
}

Status TensorToProto(const Tensor& tensor, tf::TensorProto* proto) {
  proto->Clear();
  proto->set_dtype(static_cast<tf::DataType>(tensor.dtype()));
  ShapeToProto(tensor.shape(), proto->mutable_tensor_shape());
  switch (tensor.dtype()) {
    case DType::kInvalid:
      return InvalidArgument("a tensor that holds nothing cannot be written");
    case DType::kVariant:
      return Unimplemented("tensors of dtype variant are not supported in messages");
    case DType::kString:
      WriteStrings(tensor, proto);
      break;
    case DType::kResource:
      for (const ResourceHandle& handle : tensor.values<ResourceHandle>()) {
        HandleToProto(handle, proto->add_resource_handle_val());
      }
      break;
    default:
      WritePlain(tensor, proto);
  }
  return OkStatus();
}

}  // namespace penstock
