#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/core/status.h"

namespace penstock {

// The extent of a tensor. A dimension may be unknown (kUnknownDim), and so may the rank. Values at
// run time are always fully known; partial shapes are what inference works on.
class Shape {
 public:
  static constexpr int64_t kUnknownDim = -1;
  static constexpr int kUnknownRank = -1;
  static constexpr int kMaxRank = 254;  // TensorFlow's

  // A scalar.
  Shape() = default;
  // Any negative extent means unknown.
  Shape(std::initializer_list<int64_t> dims)
      : Shape(std::span<const int64_t>(dims.begin(), dims.size())) {}
  // REQUIRES: at most kMaxRank dims. Data from outside goes through Make.
  explicit Shape(std::span<const int64_t> dims);
  explicit Shape(const std::vector<int64_t>& dims) : Shape(std::span<const int64_t>(dims)) {}
  static Shape Unknown() {
    Shape shape;
    shape.rank_ = kUnknownRank;
    return shape;
  }
  static Shape UnknownOfRank(int rank);
  // Checks rank and, for known dims, that the product fits in an int64. A dim of -1 is unknown,
  // below is an error.
  static Result<Shape> Make(std::span<const int64_t> dims);

  Shape(const Shape& other) { CopyFrom(other); }
  Shape(Shape&& other) noexcept { MoveFrom(other); }
  Shape& operator=(const Shape& other) {
    if (this != &other) {
      Free();
      CopyFrom(other);
    }
    return *this;
  }
  Shape& operator=(Shape&& other) noexcept {
    if (this != &other) {
      Free();
      MoveFrom(other);
    }
    return *this;
  }
  ~Shape() { Free(); }

  bool has_rank() const { return rank_ >= 0; }
  int rank() const { return rank_; }
  // REQUIRES: 0 <= axis < rank().
  int64_t dim(int axis) const { return data()[axis]; }
  int64_t operator[](int axis) const { return data()[axis]; }
  void set_dim(int axis, int64_t extent) { data()[axis] = extent < 0 ? kUnknownDim : extent; }
  void Append(int64_t extent);
  std::span<const int64_t> dims() const {
    return {data(), static_cast<size_t>(rank_ < 0 ? 0 : rank_)};
  }

  bool IsFullyKnown() const;
  bool IsScalar() const { return rank_ == 0; }
  // The number of elements. REQUIRES: IsFullyKnown() and made by Make or within its limits.
  int64_t num_elements() const;
  // The same, or nothing when unknown or not representable.
  std::optional<int64_t> CheckedNumElements() const;

  // The axes [begin, end).
  Shape Slice(int begin, int end) const;
  // True when a tensor of shape `other` could be described by this one: known parts agree.
  bool IsCompatibleWith(const Shape& other) const;
  // Equal as descriptions: unknown equals unknown.
  bool operator==(const Shape& other) const;
  // "[2,?,3]", "<unknown>".
  std::string ToString() const;

 private:
  static constexpr int kInline = 4;

  const int64_t* data() const { return rank_ > kInline ? heap_ : inline_; }
  int64_t* data() { return rank_ > kInline ? heap_ : inline_; }
  void Free() {
    if (rank_ > kInline) delete[] heap_;
  }
  void CopyFrom(const Shape& other) {
    if (other.rank_ > kInline) return CopyHeap(other);
    rank_ = other.rank_;
    std::memcpy(inline_, other.inline_, sizeof inline_);
  }
  void CopyHeap(const Shape& other);
  void MoveFrom(Shape& other) {
    rank_ = other.rank_;
    std::memcpy(inline_, other.inline_, sizeof inline_);
    other.rank_ = 0;
  }

  union {
    int64_t inline_[kInline] = {0, 0, 0, 0};
    int64_t* heap_;
  };
  int32_t rank_ = 0;
};

// The most specific shape that both describe, or an error naming both.
Result<Shape> MergeShapes(const Shape& a, const Shape& b);
// NumPy broadcasting of two partial shapes.
Result<Shape> BroadcastShapes(const Shape& a, const Shape& b);
// Maps a possibly negative axis into [0, rank), or says what was expected.
Result<int> ResolveAxis(int64_t axis, int rank);

}  // namespace penstock
