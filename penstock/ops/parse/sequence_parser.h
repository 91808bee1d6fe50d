#pragma once

#include <span>
#include <string>
#include <vector>

#include "penstock/ops/parse/example_columns.h"

namespace penstock::ops {

// The feature lists of SequenceExamples that a node wants: a feature for each step of time.
struct FeatureListSpec {
  struct Dense {
    std::string key;
    DType dtype = DType::kInvalid;
    Shape shape;            // of one step
    bool may_miss = false;  // a list that is missing has no steps; else it is an error
  };
  std::vector<ListSpec> sparse;
  std::vector<Dense> dense;
  std::vector<ListSpec> ragged;
};

struct FeatureListTensors {
  std::vector<Tensor> sparse_indices, sparse_values, sparse_shapes;
  std::vector<Tensor> dense, dense_lengths;
  std::vector<Tensor> ragged_values, ragged_outer_splits, ragged_inner_splits;
};

// Parses the feature lists of a batch, or of one example without an axis for it. Dense lists are
// filled up with zeros or empty strings to the longest. REQUIRES: full shapes.
Result<FeatureListTensors> ParseFeatureLists(KernelContext& context, const FeatureListSpec& spec,
                                             std::span<const std::string> serialized,
                                             std::span<const std::string> names, bool batched);

}  // namespace penstock::ops
