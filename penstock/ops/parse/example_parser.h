#pragma once

#include <span>
#include <string>
#include <vector>

#include "penstock/ops/parse/example_columns.h"

namespace penstock::ops {

// The features that a node wants.
struct ExampleSpec {
  std::vector<ListSpec> sparse;
  std::vector<DenseSpec> dense;
  std::vector<ListSpec> ragged;

  // What data decide; keys and types come from attributes and inputs.
  Status Check() const;
};

struct ExampleTensors {
  std::vector<Tensor> sparse_indices, sparse_values, sparse_shapes;
  std::vector<Tensor> dense;
  std::vector<Tensor> ragged_values, ragged_splits;

  // Sets the outputs of a node, in the order of TensorFlow's ops.
  void SetOutputs(KernelContext& context);
};

// Parses a batch of Examples. `names` are for messages: none, or one an example. Not `batched`:
// there is one example, and what comes out has no axis for it. REQUIRES: spec.Check() is OK;
// serialized.size() == 1 unless batched.
Result<ExampleTensors> ParseExamples(KernelContext& context, const ExampleSpec& spec,
                                     std::span<const std::string> serialized,
                                     std::span<const std::string> names, bool batched);

}  // namespace penstock::ops
