#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/core/allocator.h"
#include "penstock/core/check.h"
#include "penstock/core/dtype.h"
#include "penstock/core/shape.h"
#include "penstock/core/status.h"

namespace penstock {

// Memory shared by tensors, counted intrusively.
// Threads: the count is atomic; the bytes belong to whoever the program says may write them.
class Buffer {
 public:
  using Release = void (*)(Buffer*);

  // `foreign`: memory that somebody outside the library can see.
  Buffer(void* data, size_t bytes, Release release, bool foreign = false)
      : data_(data), bytes_(bytes), release_(release), foreign_(foreign) {}
  void Ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    // The last owner must see what the others wrote before it frees: release on the way down,
    // acquire at zero.
    if (refs_.load(std::memory_order_acquire) == 1 ||
        refs_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      release_(this);
  }
  bool IsUnique() const { return refs_.load(std::memory_order_acquire) == 1; }
  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  bool foreign() const { return foreign_; }

 protected:
  ~Buffer() = default;

 private:
  std::atomic<int32_t> refs_{1};
  void* const data_;
  const size_t bytes_;
  const Release release_;
  const bool foreign_;
};

// A dense value: dtype, full shape, and a counted buffer that slices share. 64 bytes; copying is
// cheap and shares. A default Tensor holds nothing: not initialized(). Threads: distinct Tensor
// objects may be used concurrently, also when they share a buffer that nobody writes.
class Tensor {
 public:
  Tensor() = default;
  // Plain host memory; zero-filled only where elements have constructors (strings). Aborts when the
  // shape is not fully known or memory runs out: sizes that come from data go through Make.
  Tensor(DType dtype, const Shape& shape);
  // Checks the size before it allocates: InvalidArgument for shapes that are not full or too large
  // to address, ResourceExhausted when `allocator` refuses.
  static Result<Tensor> Make(Allocator* allocator, DType dtype, const Shape& shape);
  // One value.
  template <class T>
  static Tensor Scalar(T value);
  // REQUIRES: as many values as the shape has elements.
  template <class T>
  static Tensor FromValues(const Shape& shape, std::span<const T> values);
  template <class T>
  static Tensor FromValues(const Shape& shape, std::initializer_list<T> values) {
    return FromValues<T>(shape, std::span<const T>(values.begin(), values.size()));
  }
  // A view of memory that the caller owns; `release` runs when the last tensor that shares it is
  // gone.
  static Tensor FromMemory(DType dtype, const Shape& shape, void* data,
                           std::function<void()> release);
  // A view without ownership: the step's arena keeps the memory. REQUIRES: it outlives the tensor.
  static Tensor Borrowed(DType dtype, const Shape& shape, void* data) {
    Tensor tensor;
    tensor.dtype_ = dtype;
    tensor.shape_ = shape;
    tensor.data_ = data;
    return tensor;
  }

  Tensor(const Tensor& other)
      : shape_(other.shape_), data_(other.data_), buffer_(other.buffer_), dtype_(other.dtype_) {
    if (buffer_) buffer_->Ref();
  }
  Tensor(Tensor&& other) noexcept
      : shape_(std::move(other.shape_)),
        data_(other.data_),
        buffer_(other.buffer_),
        dtype_(other.dtype_) {
    other.buffer_ = nullptr;
    other.data_ = nullptr;
    other.dtype_ = DType::kInvalid;
  }
  Tensor& operator=(const Tensor& other) {
    Tensor copy(other);
    return *this = std::move(copy);
  }
  Tensor& operator=(Tensor&& other) noexcept {
    if (this == &other) return *this;
    if (buffer_) buffer_->Unref();
    shape_ = std::move(other.shape_);
    data_ = std::exchange(other.data_, nullptr);
    buffer_ = std::exchange(other.buffer_, nullptr);
    dtype_ = std::exchange(other.dtype_, DType::kInvalid);
    return *this;
  }
  ~Tensor() {
    if (buffer_) buffer_->Unref();
  }

  bool initialized() const { return dtype_ != DType::kInvalid; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t num_elements() const { return shape_.num_elements(); }
  size_t bytes() const { return static_cast<size_t>(num_elements()) * SizeOf(dtype_); }
  const void* raw() const { return data_; }
  void* mutable_raw() { return data_; }

  // REQUIRES: T matches dtype().
  template <class T>
  const T* data() const {
    return static_cast<const T*>(data_);
  }
  template <class T>
  T* mutable_data() {
    return static_cast<T*>(data_);
  }
  template <class T>
  std::span<const T> values() const {
    return {data<T>(), static_cast<size_t>(num_elements())};
  }
  template <class T>
  std::span<T> mutable_values() {
    return {mutable_data<T>(), static_cast<size_t>(num_elements())};
  }
  // The only element. REQUIRES: num_elements() == 1 and T matches.
  template <class T>
  const T& scalar() const {
    return *data<T>();
  }

  // The same elements under another shape. REQUIRES: equal number of elements.
  Tensor Reshaped(const Shape& shape) const;
  // Rows [begin, end) of axis 0, sharing the buffer. REQUIRES: rank >= 1 and 0 <= begin <= end <=
  // dim(0).
  Tensor Rows(int64_t begin, int64_t end) const;
  // Reads the bytes as another plain type of the same size.
  Tensor BitcastTo(DType dtype) const;
  // A tensor with memory of its own.
  Tensor Clone() const;
  // True when nobody else shares the buffer: it may be overwritten in place. Borrowed memory and
  // memory that the caller of FromMemory owns are never the tensor's own.
  bool OwnsUniquely() const {
    return buffer_ != nullptr && !buffer_->foreign() && buffer_->IsUnique();
  }
  bool SharesBufferWith(const Tensor& other) const {
    return buffer_ != nullptr && buffer_ == other.buffer_;
  }
  bool IsBorrowed() const { return initialized() && buffer_ == nullptr; }
  // True when the tensor may be kept as it is: its memory lasts as long as the tensor, and no one
  // writes it meanwhile.
  bool MayBeKept() const { return buffer_ != nullptr && !buffer_->foreign(); }

  // "float [2] {1, 2}", with at most `limit` elements.
  std::string ToString(int64_t limit = 16) const;

 private:
  Shape shape_;
  void* data_ = nullptr;
  Buffer* buffer_ = nullptr;
  DType dtype_ = DType::kInvalid;
};

template <class T>
Tensor Tensor::Scalar(T value) {
  Tensor tensor(kDTypeOf<T>, Shape());
  *tensor.mutable_data<T>() = std::move(value);
  return tensor;
}

template <class T>
Tensor Tensor::FromValues(const Shape& shape, std::span<const T> values) {
  Tensor tensor(kDTypeOf<T>, shape);
  CHECK_EQ(static_cast<size_t>(tensor.num_elements()), values.size());
  for (size_t i = 0; i < values.size(); ++i) tensor.mutable_data<T>()[i] = values[i];
  return tensor;
}

// One element as text, as it appears in messages.
std::string ElementToString(const Tensor& tensor, int64_t index);

}  // namespace penstock
