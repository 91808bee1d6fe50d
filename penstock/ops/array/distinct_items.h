#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "penstock/device/kernel.h"

// Finds items that are equal, by a hash table over their numbers. An item is an element, or all
// elements at one place of an axis.

namespace penstock::ops {

// The items [0, n) of one or several tensors of a type: how they hash, and which are equal. Floats
// are equal by value: 0 equals -0, and NaN equals nothing.
class Items {
 public:
  // The places of `axis`; of a vector, its elements.
  static Result<Items> Make(KernelContext& context, const Tensor& values, int axis);
  // The elements of two vectors, one after the other.
  static Result<Items> MakeFromTwo(KernelContext& context, const Tensor& first,
                                   const Tensor& second);

  int64_t size() const { return size_; }
  uint64_t Hash(int64_t i) const;
  bool Equal(int64_t i, int64_t j) const;

 private:
  Status AddKeys(const Tensor& values, int axis, int64_t at);

  int64_t size_ = 0;
  int64_t width_ = 1;  // elements an item
  bool is_text_ = false;
  // [size, width]: the bits of each element, equal for equal values; for strings, their address.
  Tensor keys_;
  // [size]: whether an item has a NaN. Not initialized when no item can.
  Tensor is_nan_;
};

// The items seen so far.
class ItemTable {
 public:
  static constexpr int64_t kNone = -1;

  // REQUIRES: `items` outlives it.
  static Result<ItemTable> Make(KernelContext& context, const Items& items);
  // The item equal to i that was added before, or i itself, which is added.
  int64_t FindOrAdd(int64_t i);
  // The item equal to i, or kNone.
  int64_t Find(int64_t i) const;

 private:
  explicit ItemTable(const Items& items) : items_(items) {}
  // The slot that holds an item equal to i, or the free one where i belongs.
  uint64_t SlotOf(int64_t i) const;

  const Items& items_;
  Tensor slots_;  // items, or kNone
  uint64_t mask_ = 0;
};

}  // namespace penstock::ops
