#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "penstock/kernels/broadcast.h"
#include "penstock/kernels/inline_array.h"

namespace penstock::kernels {

// The output's shape and the operands' strides with dimensions of 1 dropped and adjacent ones
// merged wherever all operands walk through them as through one. Dimension 0 is the innermost.
class BroadcastPlan {
 public:
  // How an operand's elements relate to the output's, counted in row-major order.
  enum class Kind {
    kScalar,    // one for all
    kDense,     // the same
    kPeriodic,  // the same again after every period() elements
    kGeneral,
  };

  // REQUIRES: no dimension of `shape` is 0, and their product fits in int64_t.
  BroadcastPlan(std::span<const int64_t> shape, std::span<const Operand> operands);

  int rank() const { return rank_; }  // at least 1
  int64_t dim(int d) const { return dims_[d]; }
  int64_t num_elements() const { return num_elements_; }
  int num_operands() const { return num_operands_; }
  int64_t stride(int operand, int d) const { return strides_[operand * kMaxRank + d]; }
  Kind kind(int operand) const { return classes_[operand].kind; }
  int64_t period(int operand) const { return classes_[operand].period; }

  // Each dimension left is at least 2, and 2^63 elements are too many.
  static constexpr int kMaxRank = 63;

 private:
  struct Class {
    Kind kind;
    int64_t period;
  };
  Class Classify(int operand) const;

  const int num_operands_;
  int rank_ = 0;
  int64_t num_elements_ = 1;
  std::array<int64_t, kMaxRank> dims_;
  InlineArray<int64_t, kMaxOperands * kMaxRank> strides_;  // [operand][dimension]
  InlineArray<Class, kMaxOperands> classes_;
};

}  // namespace penstock::kernels
