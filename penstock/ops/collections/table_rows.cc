#include "penstock/ops/collections/table_rows.h"

#include <algorithm>
#include <cstring>

#include "penstock/core/checked.h"
#include "penstock/core/resource.h"
#include "penstock/ops/collections/pieces.h"

namespace penstock::ops {
namespace {

// Strings stand without quotes, as in TensorFlow's messages.
std::string TextOfElement(const Tensor& tensor, int64_t i) {
  if (tensor.dtype() == DType::kString) return Printable(tensor.data<std::string>()[i]);
  return ElementToString(tensor, i);
}

std::string TextOfElements(const Tensor& tensor, int64_t begin, int64_t count) {
  if (count == 1) return TextOfElement(tensor, begin);
  std::string text = "[";
  for (int64_t i = 0; i < std::min<int64_t>(count, 8); ++i) {
    text += (i == 0 ? "" : " ") + TextOfElement(tensor, begin + i);
  }
  return text + (count > 8 ? " ...]" : "]");
}

Result<Tensor> Grown(KernelContext& context, DType dtype, const Shape& row, const Tensor& old,
                     int64_t rows, int64_t capacity) {
  TRY_ASSIGN(Tensor grown, context.Allocate(dtype, Prepended(capacity, row)));
  if (rows > 0) CopyPiece(old, 0, grown, 0, rows * row.num_elements());
  return grown;
}

}  // namespace

bool SameElement(const Tensor& a, int64_t i, const Tensor& b, int64_t k) {
  if (a.dtype() == DType::kString) return a.data<std::string>()[i] == b.data<std::string>()[k];
  if (a.dtype() == DType::kVariant) {
    return a.data<Variant>()[i].value() == b.data<Variant>()[k].value();
  }
  if (a.dtype() == DType::kResource) {
    return a.data<ResourceHandle>()[i].resource == b.data<ResourceHandle>()[k].resource;
  }
  const size_t bytes = SizeOf(a.dtype());
  return std::memcmp(static_cast<const char*>(a.raw()) + static_cast<size_t>(i) * bytes,
                     static_cast<const char*>(b.raw()) + static_cast<size_t>(k) * bytes,
                     bytes) == 0;
}

TableRows::TableRows(DType key_dtype, Shape key_shape, DType value_dtype, Shape value_shape)
    : key_dtype_(key_dtype),
      key_shape_(std::move(key_shape)),
      key_elements_(key_shape_.num_elements()),
      value_dtype_(value_dtype),
      value_shape_(std::move(value_shape)),
      value_elements_(value_shape_.num_elements()) {}

int64_t TableRows::NumberOf(const Tensor& keys, int64_t i) const {
  return key_dtype_ == DType::kInt32 ? keys.data<int32_t>()[i] : keys.data<int64_t>()[i];
}

std::string_view TableRows::TextOf(const Tensor& keys, int64_t i, std::string* scratch) const {
  if (key_dtype_ != DType::kString) {
    const size_t bytes = static_cast<size_t>(key_elements_) * SizeOf(key_dtype_);
    return {static_cast<const char*>(keys.raw()) + static_cast<size_t>(i) * bytes, bytes};
  }
  const std::string* parts = keys.data<std::string>() + i * key_elements_;
  if (key_elements_ == 1) return parts[0];
  scratch->clear();
  for (int64_t k = 0; k < key_elements_; ++k) {
    // The length first: ["ab", "c"] and ["a", "bc"] differ.
    *scratch += std::to_string(parts[k].size()) + ":" + parts[k];
  }
  return *scratch;
}

int64_t TableRows::Find(const Tensor& keys, int64_t i) const {
  if (by_number()) {
    const auto found = numbers_.find(NumberOf(keys, i));
    return found == numbers_.end() ? -1 : found->second;
  }
  std::string scratch;
  const auto found = texts_.find(TextOf(keys, i, &scratch));
  return found == texts_.end() ? -1 : found->second;
}

Status TableRows::Reserve(KernelContext& context, int64_t more) {
  const std::optional<int64_t> needed = CheckedAdd(size_, more);
  if (!needed) return InvalidArgument("a table of {} entries cannot take {} more", size_, more);
  if (*needed <= capacity_) return OkStatus();
  const int64_t capacity = std::max({*needed, capacity_ + capacity_ / 2, int64_t{8}});
  TRY_ASSIGN(Tensor keys, Grown(context, key_dtype_, key_shape_, keys_, size_, capacity));
  TRY_ASSIGN(Tensor values, Grown(context, value_dtype_, value_shape_, values_, size_, capacity));
  keys_ = std::move(keys);
  values_ = std::move(values);
  capacity_ = capacity;
  return OkStatus();
}

int64_t TableRows::FindOrAdd(const Tensor& keys, int64_t i) {
  int64_t row;
  if (by_number()) {
    row = numbers_.try_emplace(NumberOf(keys, i), size_).first->second;
  } else {
    std::string scratch;
    row = texts_.try_emplace(std::string(TextOf(keys, i, &scratch)), size_).first->second;
  }
  if (row < size_) return row;
  CopyPiece(keys, i * key_elements_, keys_, row * key_elements_, key_elements_);
  ++size_;
  return row;
}

void TableRows::SetValue(int64_t row, const Tensor& values, int64_t i) {
  CopyPiece(values, i * value_elements_, values_, row * value_elements_, value_elements_);
}

void TableRows::CopyValue(int64_t row, Tensor& to, int64_t i) const {
  CopyPiece(values_, row * value_elements_, to, i * value_elements_, value_elements_);
}

bool TableRows::HasValue(int64_t row, const Tensor& values, int64_t i) const {
  for (int64_t k = 0; k < value_elements_; ++k) {
    if (!SameElement(values_, row * value_elements_ + k, values, i * value_elements_ + k)) {
      return false;
    }
  }
  return true;
}

std::string TableRows::TextOfConflict(int64_t row, const Tensor& values, int64_t i) const {
  return Format("Key {} has {} and trying to add value {}",
                TextOfElements(keys_, row * key_elements_, key_elements_),
                TextOfElements(values_, row * value_elements_, value_elements_),
                TextOfElements(values, i * value_elements_, value_elements_));
}

void TableRows::Remove(const Tensor& keys, int64_t i) {
  const int64_t row = Find(keys, i);
  if (row < 0) return;
  if (by_number()) {
    numbers_.erase(NumberOf(keys, i));
  } else {
    std::string scratch;
    texts_.erase(texts_.find(TextOf(keys, i, &scratch)));
  }
  const int64_t last = --size_;
  if (row != last) MoveRow(last, row);
  // What the row held is let go.
  ZeroPiece(keys_, last * key_elements_, key_elements_);
  ZeroPiece(values_, last * value_elements_, value_elements_);
}

void TableRows::MoveRow(int64_t from, int64_t to) {
  if (by_number()) {
    numbers_[NumberOf(keys_, from)] = to;
  } else {
    std::string scratch;
    texts_.find(TextOf(keys_, from, &scratch))->second = to;
  }
  CopyPiece(keys_, from * key_elements_, keys_, to * key_elements_, key_elements_);
  CopyPiece(values_, from * value_elements_, values_, to * value_elements_, value_elements_);
}

void TableRows::Swap(TableRows& other) {
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  std::swap(keys_, other.keys_);
  std::swap(values_, other.values_);
  std::swap(numbers_, other.numbers_);
  std::swap(texts_, other.texts_);
}

Result<Tensor> TableRows::Keys(KernelContext& context) const {
  return Grown(context, key_dtype_, key_shape_, keys_, size_, size_);
}

Result<Tensor> TableRows::Values(KernelContext& context) const {
  return Grown(context, value_dtype_, value_shape_, values_, size_, size_);
}

size_t TableRows::MemoryBytes() const {
  size_t bytes = (numbers_.size() + texts_.size()) * (sizeof(std::string) + 4 * sizeof(void*));
  if (capacity_ > 0) bytes += keys_.bytes() + values_.bytes();
  if (key_dtype_ == DType::kString) {
    for (int64_t i = 0; i < size_ * key_elements_; ++i)
      bytes += keys_.data<std::string>()[i].size();
  }
  return bytes;
}

}  // namespace penstock::ops
