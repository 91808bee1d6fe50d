#pragma once

#include <array>
#include <cstddef>
#include <memory>

namespace penstock::kernels {

// `size` values, not initialised; on the stack when there are at most N of them. It can be neither
// copied nor moved.
template <class T, size_t N>
class InlineArray {
 public:
  explicit InlineArray(size_t size)
      : heap_(size > N ? std::make_unique_for_overwrite<T[]>(size) : nullptr),
        data_(size > N ? heap_.get() : inline_.data()) {}
  InlineArray(const InlineArray&) = delete;
  InlineArray& operator=(const InlineArray&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  alignas(std::max_align_t) std::array<T, N> inline_;
  std::unique_ptr<T[]> heap_;
  T* data_;
};

}  // namespace penstock::kernels
