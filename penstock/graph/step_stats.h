#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace penstock {

// One row of a step's record: when a node was queued, ran and ended, in nanoseconds.
struct NodeStat {
  std::string name;
  std::string label;  // "z = Add(x, y)"
  int32_t thread = 0;
  int64_t queued = 0;
  int64_t started = 0;
  int64_t ended = 0;
  int64_t bytes = 0;
};

// A serialized StepStats message, as TensorFlow's tools read it.
std::string SerializeStepStats(std::string_view device, std::span<const NodeStat> rows);

}  // namespace penstock
