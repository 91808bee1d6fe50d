#include "penstock/core/tensor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "penstock/core/checked.h"
#include "penstock/core/host_memory.h"
#include "penstock/core/resource.h"

namespace penstock {
namespace {

class PlainHostAllocator final : public Allocator {
 public:
  void* Allocate(size_t bytes) override { return AllocateHostMemory(bytes); }
  void Deallocate(void* memory, size_t) override { std::free(memory); }
};

// Runs `f` with the C++ type of a dtype whose elements have constructors.
template <class F>
void WithObjectType(DType dtype, F f) {
  switch (dtype) {
    case DType::kString:
      return f(static_cast<std::string*>(nullptr));
    case DType::kResource:
      return f(static_cast<ResourceHandle*>(nullptr));
    case DType::kVariant:
      return f(static_cast<Variant*>(nullptr));
    default:
      return;
  }
}

// The header of an allocated tensor lies at the front of its block, so that a tensor costs one
// allocation.
class AllocatedBuffer final : public Buffer {
 public:
  static constexpr size_t kHeader = Allocator::kAlignment;

  static AllocatedBuffer* New(Allocator* allocator, DType dtype, int64_t count, size_t bytes) {
    void* block = allocator->Allocate(bytes + kHeader);
    if (block == nullptr) return nullptr;
    auto* buffer = new (block) AllocatedBuffer(allocator, dtype, count, bytes);
    WithObjectType(dtype, [&](auto* type) {
      using T = std::remove_pointer_t<decltype(type)>;
      std::uninitialized_value_construct_n(static_cast<T*>(buffer->data()), count);
    });
    return buffer;
  }

 private:
  AllocatedBuffer(Allocator* allocator, DType dtype, int64_t count, size_t bytes)
      : Buffer(reinterpret_cast<char*>(this) + kHeader, bytes, &Free),
        allocator_(allocator),
        count_(count),
        dtype_(dtype) {}

  static void Free(Buffer* base) {
    auto* buffer = static_cast<AllocatedBuffer*>(base);
    WithObjectType(buffer->dtype_, [&](auto* type) {
      using T = std::remove_pointer_t<decltype(type)>;
      std::destroy_n(static_cast<T*>(buffer->data()), buffer->count_);
    });
    Allocator* allocator = buffer->allocator_;
    const size_t bytes = buffer->bytes();
    buffer->~AllocatedBuffer();
    allocator->Deallocate(buffer, bytes + kHeader);
  }

  Allocator* const allocator_;
  const int64_t count_;
  const DType dtype_;
};
static_assert(sizeof(AllocatedBuffer) <= AllocatedBuffer::kHeader);

class ForeignBuffer final : public Buffer {
 public:
  ForeignBuffer(void* data, size_t bytes, std::function<void()> release)
      : Buffer(
            data, bytes,
            [](Buffer* base) {
              auto* buffer = static_cast<ForeignBuffer*>(base);
              if (buffer->owner_) buffer->owner_();
              delete buffer;
            },
            /*foreign=*/true),
        owner_(std::move(release)) {}

 private:
  std::function<void()> owner_;
};

template <class T>
std::string NumberToString(T value) {
  return FormatArg(value).text();
}

}  // namespace

Allocator* HostAllocator() {
  static PlainHostAllocator* const allocator = new PlainHostAllocator;
  return allocator;
}

Result<Tensor> Tensor::Make(Allocator* allocator, DType dtype, const Shape& shape) {
  const auto count = shape.CheckedNumElements();
  if (!count) return InvalidArgument("cannot allocate a tensor of shape {}", shape);
  const size_t size = SizeOf(dtype);
  if (size == 0) return InvalidArgument("cannot allocate a tensor of dtype {}", dtype);
  const auto bytes = CheckedMul(*count, static_cast<int64_t>(size));
  if (!bytes || *bytes > INT64_MAX / 2) {
    return InvalidArgument("a tensor of dtype {} and shape {} is too large to address", dtype,
                           shape);
  }
  auto* buffer = AllocatedBuffer::New(allocator, dtype, *count, static_cast<size_t>(*bytes));
  if (buffer == nullptr) {
    return ResourceExhausted(
        "out of memory allocating {} bytes for a tensor of dtype {} and shape {}", *bytes, dtype,
        shape);
  }
  Tensor tensor = Borrowed(dtype, shape, buffer->data());
  tensor.buffer_ = buffer;
  return tensor;
}

Tensor::Tensor(DType dtype, const Shape& shape) {
  Result<Tensor> made = Make(HostAllocator(), dtype, shape);
  CHECK(made.ok()) << made.status().ToString();
  *this = *std::move(made);
}

Tensor Tensor::FromMemory(DType dtype, const Shape& shape, void* data,
                          std::function<void()> release) {
  Tensor tensor = Borrowed(dtype, shape, data);
  tensor.buffer_ = new ForeignBuffer(data, tensor.bytes(), std::move(release));
  return tensor;
}

Tensor Tensor::Reshaped(const Shape& shape) const {
  CHECK_EQ(shape.num_elements(), num_elements());
  Tensor out = *this;
  out.shape_ = shape;
  return out;
}

Tensor Tensor::Rows(int64_t begin, int64_t end) const {
  CHECK(shape_.rank() >= 1 && begin >= 0 && begin <= end && end <= shape_.dim(0))
      << begin << ".." << end;
  Tensor out = *this;
  const int64_t rows = shape_.dim(0);
  const size_t row_bytes = rows == 0 ? 0 : bytes() / static_cast<size_t>(rows);
  out.data_ = static_cast<char*>(data_) + static_cast<size_t>(begin) * row_bytes;
  out.shape_.set_dim(0, end - begin);
  return out;
}

Tensor Tensor::BitcastTo(DType dtype) const {
  CHECK(IsPlain(dtype) && IsPlain(dtype_) && SizeOf(dtype) == SizeOf(dtype_));
  Tensor out = *this;
  out.dtype_ = dtype;
  return out;
}

Tensor Tensor::Clone() const {
  if (!initialized()) return {};
  Tensor out(dtype_, shape_);
  if (IsPlain(dtype_)) {
    if (bytes() > 0) std::memcpy(out.data_, data_, bytes());
    return out;
  }
  WithObjectType(dtype_, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    std::copy_n(data<T>(), num_elements(), out.mutable_data<T>());
  });
  return out;
}

std::string ElementToString(const Tensor& tensor, int64_t index) {
  switch (tensor.dtype()) {
    case DType::kString:
      return "\"" + Printable(tensor.data<std::string>()[index]) + "\"";
    case DType::kResource:
      return tensor.data<ResourceHandle>()[index].ToString();
    case DType::kVariant:
      return "<variant>";
    case DType::kComplex64: {
      const complex64 v = tensor.data<complex64>()[index];
      return "(" + NumberToString(v.real()) + "," + NumberToString(v.imag()) + ")";
    }
    case DType::kComplex128: {
      const complex128 v = tensor.data<complex128>()[index];
      return "(" + NumberToString(v.real()) + "," + NumberToString(v.imag()) + ")";
    }
    case DType::kQint8:
      return NumberToString(tensor.data<qint8>()[index].value);
    case DType::kQuint8:
      return NumberToString(tensor.data<quint8>()[index].value);
    case DType::kQint16:
      return NumberToString(tensor.data<qint16>()[index].value);
    case DType::kQuint16:
      return NumberToString(tensor.data<quint16>()[index].value);
    case DType::kQint32:
      return NumberToString(tensor.data<qint32>()[index].value);
    case DType::kHalf:
      return NumberToString(static_cast<float>(tensor.data<half>()[index]));
    case DType::kBfloat16:
      return NumberToString(static_cast<float>(tensor.data<bfloat16>()[index]));
#define PENSTOCK_NUMBER(type, value) \
  case DType::value:                 \
    return NumberToString(tensor.data<type>()[index]);
      PENSTOCK_NUMBER(float, kFloat)
      PENSTOCK_NUMBER(double, kDouble)
      PENSTOCK_NUMBER(bool, kBool)
      PENSTOCK_NUMBER(int8_t, kInt8)
      PENSTOCK_NUMBER(int16_t, kInt16)
      PENSTOCK_NUMBER(int32_t, kInt32)
      PENSTOCK_NUMBER(int64_t, kInt64)
      PENSTOCK_NUMBER(uint8_t, kUint8)
      PENSTOCK_NUMBER(uint16_t, kUint16)
      PENSTOCK_NUMBER(uint32_t, kUint32)
      PENSTOCK_NUMBER(uint64_t, kUint64)
#undef PENSTOCK_NUMBER
    case DType::kInvalid:
      break;
  }
  return "?";
}

std::string Tensor::ToString(int64_t limit) const {
  if (!initialized()) return "<uninitialized>";
  std::string out = Format("{} {} {", dtype_, shape_);
  const int64_t count = std::min(limit, num_elements());
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) out += ", ";
    out += ElementToString(*this, i);
  }
  if (count < num_elements()) out += ", ...";
  return out + "}";
}

}  // namespace penstock
