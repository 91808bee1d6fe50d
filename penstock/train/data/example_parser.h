#pragma once

#include <string_view>
#include <vector>

#include "penstock/train/data/tf_examples.h"

namespace penstock::data {

// Reads features out of serialized Examples, straight into the rows of a batch.
// Threads: immutable.
class ExampleParser {
 public:
  // InvalidArgument when a feature makes no sense.
  static Result<ExampleParser> Make(std::vector<FeatureSpec> features);

  // True when every feature has as many values in each Example: then batches can be made.
  bool fixed() const { return fixed_; }
  // Memory for a batch. REQUIRES: fixed().
  Result<Element> NewRows(int64_t rows) const;
  // Writes the features of an Example to row `row`; after an error some of them. REQUIRES: fixed(),
  // NewRows.
  Status ParseTo(std::string_view example, int64_t row, Element* rows) const;
  // One Example alone.
  Result<Element> Parse(std::string_view example) const;

 private:
  explicit ExampleParser(std::vector<FeatureSpec> features);

  std::vector<FeatureSpec> features_;
  std::vector<int64_t> sizes_;  // of each feature; of an entry of the first axis where that is free
  bool fixed_ = true;
};

}  // namespace penstock::data
