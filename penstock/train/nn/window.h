#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

// The windows of convolutions and pools.

namespace penstock::nn {

// One number for each spatial axis; a single one stands for all.
class Sizes {
 public:
  Sizes(int64_t all) : values_{all} {}
  Sizes(std::initializer_list<int64_t> values) : values_(values) {}
  explicit Sizes(std::vector<int64_t> values) : values_(std::move(values)) {}

  const std::vector<int64_t>& values() const { return values_; }

 private:
  std::vector<int64_t> values_;
};

// What is put around the input: nothing (kValid), so much that a stride of 1 keeps the size
// (kSame), before the beginning alone so that no place sees a later one (kCausal, along one axis),
// or numbers of the user's.
class Padding {
 public:
  enum class Kind { kValid, kSame, kCausal, kExplicit };
  struct Sides {
    int64_t before = 0;
    int64_t after = 0;
  };

  Padding(Kind kind) : kind_(kind) {}
  // As much on both sides of every axis.
  Padding(int64_t all) : kind_(Kind::kExplicit), sides_{{all, all}} {}
  // For each axis: {{0, 1}, {0, 1}}.
  Padding(std::initializer_list<Sides> sides) : kind_(Kind::kExplicit), sides_(sides) {}

  Kind kind() const { return kind_; }
  const std::vector<Sides>& sides() const { return sides_; }

 private:
  Kind kind_;
  std::vector<Sides> sides_;
};
inline constexpr Padding::Kind kValid = Padding::Kind::kValid;
inline constexpr Padding::Kind kSame = Padding::Kind::kSame;
inline constexpr Padding::Kind kCausal = Padding::Kind::kCausal;

}  // namespace penstock::nn
