#pragma once

#include <concepts>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

// What a run was started with, as TensorBoard's hparams plugin shows it. Messages are protobuf's;
// the number of a field stands before it.
//
//   PluginData = 2: Experiment | 3: Start | 4: End
//   Experiment = (4: 1: name  4: type)*  (5: Metric)*
//   Metric     = 1: (1: group  2: tag)
//   Start      = (1: 1: name  2: Value)*  5: time:double
//   End        = 1: status  2: time:double
//   Value      = 2: number:double | 3: string | 4: bool

namespace penstock {

// One setting: {"rate", 1e-3}, {"layers", 3}, {"nesterov", true}, {"activation", "relu"}.
class HyperParameter {
 public:
  HyperParameter(bool value) : value_(value) {}
  template <class T>
  requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>) HyperParameter(T value)
      : value_(static_cast<double>(value)) {}
  HyperParameter(std::string value) : value_(std::move(value)) {}
  HyperParameter(std::string_view value) : value_(std::string(value)) {}
  HyperParameter(const char* value) : value_(std::string(value)) {}

  const std::variant<bool, double, std::string>& value() const { return value_; }

 private:
  std::variant<bool, double, std::string> value_;
};
using HyperParameters = std::map<std::string, HyperParameter>;

// Summaries of what there is to compare (settings and the tags of metrics), of a run that starts
// and of one that ended. Times are seconds since 1970.
std::string ExperimentSummary(const HyperParameters& parameters,
                              const std::vector<std::string>& metrics);
std::string RunStartSummary(const HyperParameters& parameters, double time);
std::string RunEndSummary(bool succeeded, double time);

}  // namespace penstock
