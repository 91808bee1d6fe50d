#include "penstock/kernels/operand_feed.h"

#include <algorithm>

#include "penstock/kernels/expand.h"

namespace penstock::kernels {
namespace {

using Kind = BroadcastPlan::Kind;

bool LiesLikeTheOutput(const BroadcastPlan& plan, int operand) {
  return plan.kind(operand) == Kind::kScalar || plan.kind(operand) == Kind::kDense;
}

// Tiles win over rows of middling length where each is written but once.
bool ByRows(const BroadcastPlan& plan, const OperandFeed::Limits& limits) {
  constexpr int64_t kAlwaysLong = 512;
  if (plan.rank() == 1 || plan.dim(0) >= kAlwaysLong) return true;
  if (plan.dim(0) < limits.long_row) return false;
  for (int k = 0; k < plan.num_operands(); ++k) {
    const bool kept = plan.kind(k) == Kind::kPeriodic && plan.period(k) <= limits.tile;
    if (!kept && !LiesLikeTheOutput(plan, k)) return true;
  }
  return false;
}

bool NeedsTile(const BroadcastPlan& plan, int operand, bool by_rows) {
  if (!by_rows) return !LiesLikeTheOutput(plan, operand);
  return plan.stride(operand, 0) != 0 && plan.stride(operand, 0) != 1;
}

size_t BytesOfTile(int element_bytes, int64_t elements) {
  return (static_cast<size_t>(elements) * element_bytes + 63) / 64 * 64;
}

}  // namespace

size_t OperandFeed::TileBytes(const BroadcastPlan& plan, std::span<const Operand> operands,
                              const Limits& limits) {
  const bool by_rows = ByRows(plan, limits);
  size_t bytes = 0;
  for (int k = 0; k < plan.num_operands(); ++k) {
    if (NeedsTile(plan, k, by_rows)) bytes += BytesOfTile(operands[k].element_bytes, limits.tile);
  }
  return bytes;
}

int64_t OperandFeed::PreferredRun(const BroadcastPlan& plan, const Limits& limits) {
  int64_t unit = 1;  // periods divide each other, being products of the innermost dimensions
  for (int k = 0; k < plan.num_operands(); ++k) {
    const bool kept = plan.kind(k) == Kind::kPeriodic && plan.period(k) <= limits.tile;
    if (kept) unit = std::max(unit, plan.period(k));
  }
  return limits.tile / unit * unit;
}

OperandFeed::OperandFeed(const BroadcastPlan& plan, std::span<const Operand> operands,
                         const Limits& limits, std::byte* tiles)
    : plan_(plan),
      by_rows_(ByRows(plan, limits)),
      max_run_(limits.max_run),
      sources_(operands.size()) {
  if (!by_rows_) max_run_ = std::min(max_run_, PreferredRun(plan, limits));
  for (int k = 0; k < plan.num_operands(); ++k) {
    const Operand& operand = operands[k];
    const bool needs_tile = NeedsTile(plan, k, by_rows_);
    sources_[k] = {static_cast<const std::byte*>(operand.data), operand.element_bytes,
                   needs_tile ? tiles : nullptr, -1, 0};
    if (!needs_tile) continue;
    tiles += BytesOfTile(operand.element_bytes, limits.tile);
    max_run_ = std::min(max_run_, limits.tile);
  }
}

int64_t OperandFeed::Next(int64_t begin, int64_t end, Run* runs) {
  int64_t n = std::min(end - begin, max_run_);
  if (by_rows_) {
    if (begin != position_) Seek(begin);
    n = std::min(n, plan_.dim(0) - column_);
  }
  for (int k = 0; k < plan_.num_operands(); ++k) {
    const Source& source = sources_[k];
    if (source.tile != nullptr) {
      runs[k] = {Expand(k, begin, n), false};
    } else if (by_rows_) {
      const bool is_scalar = plan_.stride(k, 0) == 0;
      runs[k] = {source.data + (source.offset + (is_scalar ? 0 : column_)) * source.bytes,
                 is_scalar};
    } else {
      const bool is_scalar = plan_.kind(k) == Kind::kScalar;
      runs[k] = {source.data + (is_scalar ? 0 : begin) * source.bytes, is_scalar};
    }
  }
  if (by_rows_) {
    column_ += n;
    position_ += n;
    if (column_ == plan_.dim(0)) NextRow();
  }
  return n;
}

void OperandFeed::Seek(int64_t begin) {
  position_ = begin;
  column_ = begin % plan_.dim(0);
  int64_t rest = begin / plan_.dim(0);
  for (int k = 0; k < plan_.num_operands(); ++k) sources_[k].offset = 0;
  for (int d = 1; d < plan_.rank(); ++d) {
    coordinates_[d] = rest % plan_.dim(d);
    rest /= plan_.dim(d);
    for (int k = 0; k < plan_.num_operands(); ++k) {
      sources_[k].offset += coordinates_[d] * plan_.stride(k, d);
    }
  }
}

void OperandFeed::NextRow() {
  column_ = 0;
  for (int d = 1; d < plan_.rank(); ++d) {
    const bool carries = ++coordinates_[d] == plan_.dim(d);
    for (int k = 0; k < plan_.num_operands(); ++k) {
      const int64_t s = plan_.stride(k, d);
      sources_[k].offset += carries ? s - coordinates_[d] * s : s;
    }
    if (!carries) return;
    coordinates_[d] = 0;
  }
}

const void* OperandFeed::Expand(int operand, int64_t begin, int64_t n) {
  Source& source = sources_[operand];
  const bool keeps = plan_.kind(operand) == Kind::kPeriodic && plan_.period(operand) <= max_run_;
  if (!keeps) {
    kernels::Expand(plan_, operand, source.data, source.bytes, begin, n, source.tile);
    return source.tile;
  }
  const int64_t phase = begin % plan_.period(operand);
  if (phase != source.phase) {
    source.phase = phase;
    const int64_t all = std::min(max_run_, plan_.num_elements());
    kernels::Expand(plan_, operand, source.data, source.bytes, phase, all, source.tile);
  }
  return source.tile;
}

}  // namespace penstock::kernels
