// Bytes as a tf.Example and as an element of a cache file:
// what is wrong is an error, and nothing is read or written past its end.

#include <cstdint>
#include <string_view>

#include "penstock/core/check.h"
#include "penstock/train/data/element_bytes.h"
#include "penstock/train/data/example_parser.h"

namespace penstock::data {
namespace {

const ExampleParser& Parser(bool fixed) {
  const auto make = [](const Shape& strings) {
    Result<ExampleParser> parser = ExampleParser::Make(
        {SpecOf(Feature<float>{.name = "f", .shape = {2}, .otherwise = {1, 2}}),
         SpecOf(Feature<int32_t>{.name = "i", .shape = {1}, .otherwise = {3}, .limit = 10}),
         SpecOf(Feature<int64_t>{.name = "j", .shape = {1}, .otherwise = {3}}),
         SpecOf(Feature<uint8_t>{.name = "b", .shape = {3}, .otherwise = {1, 2, 3}}),
         SpecOf(Feature<std::string>{.name = "s", .shape = strings, .otherwise = {"a"}})});
    CHECK(parser.ok());
    return *std::move(parser);
  };
  static const ExampleParser of_fixed = make({1}), of_free = make({-1});
  return fixed ? of_fixed : of_free;
}

void Check(std::string_view bytes) {
  (void)Parser(false).Parse(bytes).ok();
  Result<Element> rows = Parser(true).NewRows(2);
  CHECK(rows.ok());
  (void)Parser(true).ParseTo(bytes, 1, &*rows).ok();
  const Result<Element> element = ElementFromBytes(bytes);
  if (!element.ok()) return;
  // What was read is written back to what can be read again.
  const Result<std::string> again = ElementToBytes(*element);
  CHECK(again.ok() && ElementFromBytes(*again).ok());
}

}  // namespace
}  // namespace penstock::data

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  penstock::data::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
