#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

namespace penstock::ops {

// What nearly every dataset op says of its elements: a base of their structs.
struct ElementSpec {
  std::vector<DType> output_types;
  std::vector<Shape> output_shapes;
  static constexpr std::tuple kElementAttrs{
      Field{"output_types", &ElementSpec::output_types}.Required().Min(1),
      Field{"output_shapes", &ElementSpec::output_shapes}.Required().Min(1)};
  static constexpr bool kNoGradient = true;

  Status CheckAttrs() const {
    if (output_types.size() == output_shapes.size()) return OkStatus();
    return InvalidArgument("output_types and output_shapes must be of one length, got {} and {}",
                           output_types.size(), output_shapes.size());
  }
};

// The same with a note of the writer's, which means nothing here.
struct NotedElementSpec : ElementSpec {
  std::string metadata;
  static constexpr std::tuple kNotedAttrs =
      std::tuple_cat(kElementAttrs, std::tuple{Field{"metadata", &NotedElementSpec::metadata}});
  static constexpr std::tuple kAttrs = kNotedAttrs;
};

// For shape rules: a dataset, from inputs that must all be scalars.
template <class... Shapes>
Result<Shape> DatasetOfScalars(const Shapes&... inputs) {
  Status status;
  ((status.ok() ? void(status = CheckScalar(inputs, "each input of a dataset")) : void()), ...);
  TRY(status);
  return Shape();
}

}  // namespace penstock::ops
