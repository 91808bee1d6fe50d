#include "penstock/ops/parse/example_ops.h"

#include "penstock/ops/parse/example_parser.h"

namespace penstock::ops {
namespace {

Status CheckNames(const Shape& names, const Shape& serialized) {
  // Names of which too little is known may be none.
  if (!names.IsFullyKnown() || names.CheckedNumElements() == 0 ||
      names.IsCompatibleWith(serialized))
    return OkStatus();
  return InvalidArgument(
      "Expected names have the same shape as serialized: name.shape={}, serialized.shape={}", names,
      serialized);
}

// The dense features of a node and their defaults.
void AddDense(const ExampleTypes& types, size_t i, std::string key, const Tensor& default_value,
              ExampleSpec* spec) {
  spec->dense.push_back(
      {std::move(key), types.dense_types[i], types.dense_shapes[i], default_value});
}

std::span<const std::string> Strings(const Tensor& tensor) { return tensor.values<std::string>(); }

}  // namespace

Status ExampleTypes::CheckCounts(size_t num_sparse, size_t num_dense) const {
  if (sparse_types.size() != num_sparse)
    return InvalidArgument("Expected len(sparse_keys) == len(sparse_types) but got: {} vs. {}",
                           num_sparse, sparse_types.size());
  if (dense_types.size() != num_dense || dense_shapes.size() != num_dense)
    return InvalidArgument(
        "Expected len(dense_keys) == len(dense_types) == len(dense_shapes) but got: {} vs. {} vs. "
        "{}",
        num_dense, dense_types.size(), dense_shapes.size());
  for (size_t i = 0; i < num_dense; ++i) TRY(CheckDenseShape(dense_shapes[i], i));
  return OkStatus();
}

Result<std::vector<Shape>> ExampleTypes::OutputShapes(const Shape& batch) const {
  const bool batched = batch.rank() == 1;
  const size_t num_sparse = sparse_types.size();
  std::vector<Shape> shapes(num_sparse, Shape{Shape::kUnknownDim, batched ? 2 : 1});
  shapes.insert(shapes.end(), num_sparse, Shape{Shape::kUnknownDim});
  shapes.insert(shapes.end(), num_sparse, Shape{batched ? 2 : 1});
  for (const Shape& shape : dense_shapes) {
    TRY_ASSIGN(Shape dense, batched ? Prepend(batch.dim(0), shape) : Result<Shape>(shape));
    shapes.push_back(std::move(dense));
  }
  return shapes;
}

Result<std::vector<Shape>> ParseExample::InferShape(const Shape& serialized, const Shape& names,
                                                    std::span<const Known> sparse_keys,
                                                    std::span<const Known> dense_keys,
                                                    std::span<const Known> dense_defaults) const {
  TRY(CheckVector(serialized, "serialized"));
  TRY(CheckNames(names, serialized));
  TRY(CheckCounts(sparse_keys.size(), dense_keys.size()));
  for (const Known& key : sparse_keys) TRY(CheckScalar(*key.shape, "sparse_keys"));
  for (const Known& key : dense_keys) TRY(CheckScalar(*key.shape, "dense_keys"));
  (void)dense_defaults;
  return OutputShapes(serialized.has_rank() ? serialized : Shape{Shape::kUnknownDim});
}

Status ParseExample::ComputeCpu(CpuContext& context, const Tensor& serialized, const Tensor& names,
                                std::span<Tensor* const> sparse_keys,
                                std::span<Tensor* const> dense_keys,
                                std::span<Tensor* const> dense_defaults) const {
  ExampleSpec spec;
  for (size_t i = 0; i < sparse_keys.size(); ++i)
    spec.sparse.push_back({sparse_keys[i]->scalar<std::string>(), sparse_types[i], {}});
  for (size_t i = 0; i < dense_keys.size(); ++i)
    AddDense(*this, i, dense_keys[i]->scalar<std::string>(), *dense_defaults[i], &spec);
  TRY(spec.Check());
  TRY_ASSIGN(ExampleTensors parsed,
             ParseExamples(context, spec, Strings(serialized), Strings(names), true));
  parsed.SetOutputs(context);
  return OkStatus();
}

Status ParseExampleV2::CheckAttrs() const {
  if (static_cast<int64_t>(sparse_types.size()) != num_sparse)
    return InvalidArgument("Expected len(sparse_types) == num_sparse but got: {} vs. {}",
                           sparse_types.size(), num_sparse);
  if (ragged_value_types.size() != ragged_split_types.size())
    return InvalidArgument(
        "Expected len(ragged_value_types) == len(ragged_split_types) but got: {} vs. {}",
        ragged_value_types.size(), ragged_split_types.size());
  return CheckCounts(sparse_types.size(), dense_types.size());
}

Result<std::vector<Shape>> ParseExampleV2::InferShape(const Shape& serialized, const Shape& names,
                                                      const Shape& sparse_keys,
                                                      const Shape& dense_keys,
                                                      const Shape& ragged_keys,
                                                      std::span<const Known>) const {
  const size_t num_ragged = ragged_value_types.size();
  const auto check_keys = [](const Shape& keys, size_t count, std::string_view what) -> Status {
    TRY(CheckVector(keys, what));
    if (keys.IsCompatibleWith(Shape{static_cast<int64_t>(count)})) return OkStatus();
    return InvalidArgument("Expected {} {} but got: {}", count, what, keys.dim(0));
  };
  TRY(check_keys(sparse_keys, sparse_types.size(), "sparse_keys"));
  TRY(check_keys(dense_keys, dense_types.size(), "dense_keys"));
  TRY(check_keys(ragged_keys, num_ragged, "ragged_keys"));
  TRY(CheckNames(names, serialized));
  if (!serialized.has_rank()) {
    return std::vector<Shape>(3 * sparse_types.size() + dense_types.size() + 2 * num_ragged,
                              Shape::Unknown());
  }
  if (serialized.rank() > 1)
    return InvalidArgument("Expected serialized to be a scalar or vector, got shape: {}",
                           serialized);
  TRY_ASSIGN(std::vector<Shape> shapes, OutputShapes(serialized));
  shapes.insert(shapes.end(), num_ragged, Shape{Shape::kUnknownDim});
  int64_t splits = 0;
  if (serialized.rank() == 1) {
    splits = serialized.dim(0) == Shape::kUnknownDim ? serialized.dim(0) : serialized.dim(0) + 1;
  }
  shapes.insert(shapes.end(), num_ragged, Shape{splits});
  return shapes;
}

Status ParseExampleV2::ComputeCpu(CpuContext& context, const Tensor& serialized,
                                  const Tensor& names, const Tensor& sparse_keys,
                                  const Tensor& dense_keys, const Tensor& ragged_keys,
                                  std::span<Tensor* const> dense_defaults) const {
  ExampleSpec spec;
  for (size_t i = 0; i < sparse_types.size(); ++i)
    spec.sparse.push_back({Strings(sparse_keys)[i], sparse_types[i], {}});
  for (size_t i = 0; i < dense_types.size(); ++i)
    AddDense(*this, i, Strings(dense_keys)[i], *dense_defaults[i], &spec);
  for (size_t i = 0; i < ragged_value_types.size(); ++i)
    spec.ragged.push_back({Strings(ragged_keys)[i], ragged_value_types[i], ragged_split_types[i]});
  TRY(spec.Check());
  TRY_ASSIGN(ExampleTensors parsed, ParseExamples(context, spec, Strings(serialized),
                                                  Strings(names), serialized.shape().rank() == 1));
  parsed.SetOutputs(context);
  return OkStatus();
}

Status ParseSingleExample::CheckAttrs() const {
  if (static_cast<int64_t>(sparse_keys.size()) != num_sparse)
    return InvalidArgument("Expected len(sparse_keys) == num_sparse but got: {} vs. {}",
                           sparse_keys.size(), num_sparse);
  return CheckCounts(sparse_keys.size(), dense_keys.size());
}

Result<std::vector<Shape>> ParseSingleExample::InferShape(const Shape& serialized,
                                                          std::span<const Known>) const {
  TRY(CheckScalar(serialized, "serialized"));
  return OutputShapes(Shape());
}

Status ParseSingleExample::ComputeCpu(CpuContext& context, const Tensor& serialized,
                                      std::span<Tensor* const> dense_defaults) const {
  ExampleSpec spec;
  for (size_t i = 0; i < sparse_keys.size(); ++i)
    spec.sparse.push_back({sparse_keys[i], sparse_types[i], {}});
  for (size_t i = 0; i < dense_keys.size(); ++i)
    AddDense(*this, i, dense_keys[i], *dense_defaults[i], &spec);
  TRY(spec.Check());
  TRY_ASSIGN(ExampleTensors parsed, ParseExamples(context, spec, Strings(serialized), {}, false));
  parsed.SetOutputs(context);
  return OkStatus();
}

void RegisterExamples(Registrar& registrar) {
  registrar.AddAll<ParseExample, ParseExampleV2, ParseSingleExample>();
}

}  // namespace penstock::ops
