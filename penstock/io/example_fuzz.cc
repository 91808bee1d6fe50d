// Bytes as an Example and as a SequenceExample: what is counted is what is copied, and nothing is
// read past the end.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/check.h"
#include "penstock/io/example.h"

namespace penstock::io {
namespace {

void CheckFeature(const Feature& feature) {
  int64_t count = 0;
  if (feature.kind == Feature::Kind::kNone || !CountValues(feature, &count)) return;
  const auto size = static_cast<size_t>(count);
  // Exactly as large as was said: a sanitizer sees a value too many.
  if (feature.kind == Feature::Kind::kFloat) {
    std::vector<float> values(size);
    CopyValues(feature, values.data());
  } else if (feature.kind == Feature::Kind::kInt64) {
    std::vector<int64_t> values(size);
    CopyValues(feature, values.data());
  } else {
    std::vector<std::string> values(size);
    CopyValues(feature, values.data());
    size_t bytes = 0;
    for (const std::string& value : values) bytes += value.size();
    CHECK(bytes <= feature.list.size());
  }
}

void CheckMessage(std::string_view message) {
  Feature feature;
  if (ParseFeature(message, &feature)) CheckFeature(feature);
}

void Check(std::string_view bytes) {
  const auto check = [](std::string_view, std::string_view message) { CheckMessage(message); };
  ForEachFeature(bytes, check);
  ForEachSequenceFeature(bytes, check, [](std::string_view, std::string_view message) {
    std::vector<Feature> steps;
    if (!ParseFeatureList(message, &steps)) return;
    for (const Feature& step : steps) CheckFeature(step);
  });
}

}  // namespace
}  // namespace penstock::io

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  penstock::io::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
