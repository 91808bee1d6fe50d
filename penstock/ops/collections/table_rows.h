#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "penstock/device/kernel.h"

namespace penstock::ops {

// The entries of a table: a key and a value of fixed shapes in each row, rows without holes, and
// where the row of a key is. Keys are numbers, strings, or vectors of these.
// Threads: const methods may be called concurrently.
class TableRows {
 public:
  TableRows(DType key_dtype, Shape key_shape, DType value_dtype, Shape value_shape);

  int64_t size() const { return size_; }
  const Shape& key_shape() const { return key_shape_; }
  const Shape& value_shape() const { return value_shape_; }

  // The row of key i of `keys`, or -1.
  int64_t Find(const Tensor& keys, int64_t i) const;
  // Makes room for `more` rows beyond those that are there.
  Status Reserve(KernelContext& context, int64_t more);
  // The row of the key, which is new, and whose value is not set yet, when it was size() before.
  // REQUIRES: there is room.
  int64_t FindOrAdd(const Tensor& keys, int64_t i);
  void SetValue(int64_t row, const Tensor& values, int64_t i);
  void CopyValue(int64_t row, Tensor& to, int64_t i) const;
  // True when value i of `values` is that of the row, bit for bit.
  bool HasValue(int64_t row, const Tensor& values, int64_t i) const;
  // Says that a row and a new value of its key differ.
  std::string TextOfConflict(int64_t row, const Tensor& values, int64_t i) const;
  // Drops the key, if it is there.
  void Remove(const Tensor& keys, int64_t i);

  // REQUIRES: both hold keys and values of the same dtypes and shapes.
  void Swap(TableRows& other);

  // The rows as they are now: [size()] + key or value shape.
  Result<Tensor> Keys(KernelContext& context) const;
  Result<Tensor> Values(KernelContext& context) const;
  size_t MemoryBytes() const;

 private:
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  bool by_number() const { return key_elements_ == 1 && key_dtype_ != DType::kString; }
  int64_t NumberOf(const Tensor& keys, int64_t i) const;
  // Points into `keys` where it can, else at what it wrote to `scratch`.
  std::string_view TextOf(const Tensor& keys, int64_t i, std::string* scratch) const;
  void MoveRow(int64_t from, int64_t to);

  const DType key_dtype_;
  const Shape key_shape_;
  const int64_t key_elements_;
  const DType value_dtype_;
  const Shape value_shape_;
  const int64_t value_elements_;
  int64_t size_ = 0;
  int64_t capacity_ = 0;
  Tensor keys_;
  Tensor values_;
  std::unordered_map<int64_t, int64_t> numbers_;
  std::unordered_map<std::string, int64_t, TextHash, std::equal_to<>> texts_;
};

// Elements i of a and k of b, of one dtype, have the same bits.
bool SameElement(const Tensor& a, int64_t i, const Tensor& b, int64_t k);

}  // namespace penstock::ops
