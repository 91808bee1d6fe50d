#include "penstock/ops/array/distinct_items.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <type_traits>

#include "penstock/core/checked.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/index_rows.h"

namespace penstock::ops {
namespace {

using KeyTypes = Types<float, double, half, bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t,
                       uint16_t, uint32_t, uint64_t, bool>;

template <class T>
uint64_t KeyOf(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return reinterpret_cast<uintptr_t>(&value);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<uint64_t>(value);
  } else {
    const auto wide =
        static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value);
    return wide == 0 ? 0 : std::bit_cast<uint64_t>(static_cast<double>(wide));
  }
}

uint64_t Mix(uint64_t x) {
  x *= 0x9E3779B97F4A7C15;
  return x ^ x >> 32;
}

const std::string& TextAt(uint64_t key) {
  return *reinterpret_cast<const std::string*>(static_cast<uintptr_t>(key));
}

}  // namespace

Result<Items> Items::Make(KernelContext& context, const Tensor& values, int axis) {
  Items items;
  items.size_ = values.shape()[axis];
  items.width_ = ProductOf(values.shape(), 0, axis) *
                 ProductOf(values.shape(), axis + 1, values.shape().rank());
  TRY_ASSIGN(items.keys_, context.Allocate(DType::kUint64, Shape{items.size_, items.width_}));
  if (IsFloating(values.dtype())) {
    TRY_ASSIGN(items.is_nan_, context.Allocate(DType::kUint8, Shape{items.size_}));
    std::memset(items.is_nan_.mutable_raw(), 0, items.is_nan_.bytes());
  }
  TRY(items.AddKeys(values, axis, 0));
  return items;
}

Result<Items> Items::MakeFromTwo(KernelContext& context, const Tensor& first,
                                 const Tensor& second) {
  Items items;
  items.size_ = first.num_elements() + second.num_elements();
  TRY_ASSIGN(items.keys_, context.Allocate(DType::kUint64, Shape{items.size_}));
  if (IsFloating(first.dtype())) {
    TRY_ASSIGN(items.is_nan_, context.Allocate(DType::kUint8, Shape{items.size_}));
    std::memset(items.is_nan_.mutable_raw(), 0, items.is_nan_.bytes());
  }
  TRY(items.AddKeys(first, 0, 0));
  TRY(items.AddKeys(second, 0, first.num_elements()));
  return items;
}

Status Items::AddKeys(const Tensor& values, int axis, int64_t at) {
  const int64_t outer = ProductOf(values.shape(), 0, axis);
  const int64_t n = values.shape()[axis];
  const int64_t inner = ProductOf(values.shape(), axis + 1, values.shape().rank());
  uint64_t* const keys = keys_.mutable_data<uint64_t>() + at * width_;
  uint8_t* const is_nan = is_nan_.initialized() ? is_nan_.mutable_data<uint8_t>() + at : nullptr;
  const auto add = [&]<class T>() {
    const T* from = values.data<T>();
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t k = 0; k < n; ++k) {
        for (int64_t i = 0; i < inner; ++i, ++from) {
          keys[k * width_ + o * inner + i] = KeyOf(*from);
          if constexpr (!std::is_integral_v<T> && !std::is_same_v<T, std::string>)
            is_nan[k] |= static_cast<uint8_t>(*from != *from);
        }
      }
    }
    return OkStatus();
  };
  is_text_ = values.dtype() == DType::kString;
  return is_text_ ? add.template operator()<std::string>()
                  : ForDType(values.dtype(), KeyTypes(), add);
}

uint64_t Items::Hash(int64_t i) const {
  const uint64_t* keys = keys_.data<uint64_t>() + i * width_;
  uint64_t hash = 0;
  for (int64_t k = 0; k < width_; ++k) {
    const uint64_t one = is_text_ ? std::hash<std::string_view>()(TextAt(keys[k])) : keys[k];
    hash = Mix(hash ^ one);
  }
  return hash;
}

bool Items::Equal(int64_t i, int64_t j) const {
  if (is_nan_.initialized() && is_nan_.data<uint8_t>()[i] != 0) return false;
  const uint64_t* a = keys_.data<uint64_t>() + i * width_;
  const uint64_t* b = keys_.data<uint64_t>() + j * width_;
  if (!is_text_) return std::equal(a, a + width_, b);
  return std::equal(a, a + width_, b,
                    [](uint64_t x, uint64_t y) { return TextAt(x) == TextAt(y); });
}

Result<ItemTable> ItemTable::Make(KernelContext& context, const Items& items) {
  ItemTable table(items);
  const auto twice = CheckedMul(items.size(), 2);
  if (!twice) return InvalidArgument("{} elements are too many", items.size());
  const auto slots = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(*twice) + 1));
  TRY_ASSIGN(table.slots_, context.Allocate(DType::kInt64, Shape{slots}));
  std::memset(table.slots_.mutable_raw(), 0xff, table.slots_.bytes());
  table.mask_ = static_cast<uint64_t>(slots) - 1;
  return table;
}

uint64_t ItemTable::SlotOf(int64_t i) const {
  const int64_t* slots = slots_.data<int64_t>();
  uint64_t slot = items_.Hash(i) & mask_;
  while (slots[slot] != kNone && !items_.Equal(i, slots[slot])) slot = (slot + 1) & mask_;
  return slot;
}

int64_t ItemTable::FindOrAdd(int64_t i) {
  int64_t& item = slots_.mutable_data<int64_t>()[SlotOf(i)];
  if (item == kNone) item = i;
  return item;
}

int64_t ItemTable::Find(int64_t i) const { return slots_.data<int64_t>()[SlotOf(i)]; }

}  // namespace penstock::ops
