#include "penstock/kernels/broadcast_plan.h"

namespace penstock::kernels {

BroadcastPlan::BroadcastPlan(std::span<const int64_t> shape, std::span<const Operand> operands)
    : num_operands_(static_cast<int>(operands.size())),
      strides_(operands.size() * kMaxRank),
      classes_(operands.size()) {
  const auto stride_at = [&](size_t operand, size_t d) {
    const Operand& o = operands[operand];
    return o.is_scalar ? 0 : o.strides != nullptr ? o.strides[d] : num_elements_;
  };
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1) continue;
    bool merges = rank_ > 0;
    for (size_t k = 0; merges && k < operands.size(); ++k) {
      const int64_t last = strides_[k * kMaxRank + rank_ - 1];
      merges = stride_at(k, d) == last * dims_[rank_ - 1];
    }
    if (merges) {
      dims_[rank_ - 1] *= shape[d];
    } else {
      for (size_t k = 0; k < operands.size(); ++k) {
        strides_[k * kMaxRank + rank_] = stride_at(k, d);
      }
      dims_[rank_++] = shape[d];
    }
    num_elements_ *= shape[d];
  }
  if (rank_ == 0) {
    dims_[rank_++] = 1;
    for (size_t k = 0; k < operands.size(); ++k) strides_[k * kMaxRank] = 0;
  }
  for (int k = 0; k < num_operands_; ++k) classes_[k] = Classify(k);
}

BroadcastPlan::Class BroadcastPlan::Classify(int operand) const {
  int64_t below = 1;  // the elements of one step along the dimension at hand
  int64_t period = 1;
  bool is_dense = true;
  for (int d = 0; d < rank_; ++d) {
    const int64_t s = stride(operand, d);
    is_dense = is_dense && s == below;
    below *= dims_[d];
    if (s != 0) period = below;
  }
  if (period == 1) return {Kind::kScalar, 1};
  if (is_dense) return {Kind::kDense, period};
  return {period < num_elements_ ? Kind::kPeriodic : Kind::kGeneral, period};
}

}  // namespace penstock::kernels
