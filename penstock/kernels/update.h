#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "penstock/core/dtype.h"
#include "penstock/core/parallel.h"

// One step of training on variables and their slots, in one pass over memory. The rules are in
// update_rules.h.

namespace penstock::kernels {

enum class UpdateRule {
  kGradientDescent,
  kProximalGradientDescent,
  kMomentum,
  kKerasMomentum,
  kAdagrad,
  kAdagradV2,
  kProximalAdagrad,
  kAdagradDA,
  kAdadelta,
  kRmsProp,
  kCenteredRmsProp,
  kAdam,
  kAdamWithAmsgrad,
  kAdamW,
  kLamb,
  kAdaMax,
  kAddSign,
  kPowerSign,
  kFtrl,
};

inline constexpr int kMostSlots = 4;       // the variable included
inline constexpr int kMostParameters = 7;  // numbers beside the gradient

struct UpdateParameters {
  std::array<double, kMostParameters> values = {};
  bool flag = false;  // the rule's switch, where it has one
};

struct Update {
  UpdateRule rule = UpdateRule::kGradientDescent;
  DType dtype = DType::kFloat;  // float, double, half or bfloat16
  UpdateParameters parameters;
  std::array<void*, kMostSlots> slots = {};
  const void* gradient = nullptr;
};

// All n elements of each.
void UpdateAll(const Update& update, int64_t n, const ParallelFor& each);

// Several variables with slots of one kind: their elements are spread over the threads as if they
// lay one behind the other. REQUIRES: one rule, which moves each element by itself, one dtype.
struct SizedUpdate {
  Update update;
  int64_t n = 0;
};
void UpdateMany(std::span<const SizedUpdate> updates, const ParallelFor& each);

// The rows that `rows` names, by a row of the gradient each, in this order: a row that is named
// twice is moved twice. The result has the same bits for any number of threads. REQUIRES: rows are
// in range.
void UpdateRows(const Update& update, const int64_t* rows, int64_t num_rows, int64_t row_elements,
                const ParallelFor& each);

}  // namespace penstock::kernels
