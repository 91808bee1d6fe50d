#include "penstock/train/inspect/parameter_count.h"

#include "penstock/client/error.h"
#include "penstock/core/checked.h"
#include "penstock/train/parameters.h"

namespace penstock {
namespace {

// The elements of all; their bytes are added to *bytes.
int64_t SizeOfAll(const std::vector<Parameter>& variables, int64_t* bytes) {
  int64_t count = 0;
  for (const Parameter& variable : variables) {
    const std::optional<int64_t> size = variable.shape.CheckedNumElements();
    const std::optional<int64_t> size_bytes =
        size ? CheckedMul(*size, static_cast<int64_t>(SizeOf(variable.dtype))) : std::nullopt;
    const std::optional<int64_t> sum = size_bytes ? CheckedAdd(*bytes, *size_bytes) : std::nullopt;
    if (!sum)
      throw Error(InvalidArgument("the elements of variable {} of shape {} cannot be counted",
                                  variable.name, variable.shape));
    *bytes = *sum;
    count += *size;  // fits: there are no more than bytes
  }
  return count;
}

// With a comma after each three digits.
std::string WithCommas(int64_t number) {
  std::string text = std::to_string(number);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) text.insert(at, ",");
  return text;
}

std::string Bytes(int64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1000 && unit < 4; ++unit) value /= 1000;
  return Format("{} {}",
                unit == 0 ? value : static_cast<double>(static_cast<int64_t>(value * 10)) / 10,
                kUnits[unit]);
}

}  // namespace

std::string ParameterCount::ToString() const {
  return Format("{} parameters are trained; with all state {} numbers, {}", WithCommas(trainable),
                WithCommas(all), Bytes(bytes));
}

ParameterCount CountParameters(const Graph& graph) {
  ParameterCount count;
  int64_t trainable_bytes = 0;
  count.trainable = SizeOfAll(TrainableVariables(graph), &trainable_bytes);
  count.all = SizeOfAll(AllVariables(graph), &count.bytes);
  return count;
}

}  // namespace penstock
