#include "penstock/ops/parse/sequence_ops.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "penstock/ops/parse/example_parser.h"
#include "penstock/ops/parse/sequence_parser.h"

namespace penstock::ops {
namespace {

using Strings = std::span<const std::string>;

Strings StringsOf(const Tensor& tensor) { return tensor.values<std::string>(); }
std::vector<std::string> ScalarsOf(std::span<Tensor* const> keys) {
  std::vector<std::string> strings;
  for (const Tensor* key : keys) strings.push_back(key->scalar<std::string>());
  return strings;
}

std::vector<ListSpec> ListsOf(Strings keys, const std::vector<DType>& types,
                              const std::vector<DType>& splits = {}) {
  std::vector<ListSpec> lists;
  for (size_t i = 0; i < types.size(); ++i)
    lists.push_back({keys[i], types[i], i < splits.size() ? splits[i] : DType::kInvalid});
  return lists;
}

Result<ExampleSpec> ContextOf(const SequenceTypes& types, Strings sparse_keys, Strings dense_keys,
                              std::span<Tensor* const> defaults) {
  ExampleSpec spec;
  spec.sparse = ListsOf(sparse_keys, types.context_sparse_types);
  for (size_t i = 0; i < types.context_dense_types.size(); ++i)
    spec.dense.push_back(
        {dense_keys[i], types.context_dense_types[i], types.context_dense_shapes[i], *defaults[i]});
  return spec;
}

template <class MayMiss>
FeatureListSpec FeatureListsOf(const SequenceTypes& types, Strings sparse_keys, Strings dense_keys,
                               MayMiss&& may_miss) {
  FeatureListSpec spec;
  spec.sparse = ListsOf(sparse_keys, types.list_sparse_types);
  for (size_t i = 0; i < types.list_dense_types.size(); ++i)
    spec.dense.push_back(
        {dense_keys[i], types.list_dense_types[i], types.list_dense_shapes[i], may_miss(i)});
  return spec;
}

// Parses both parts of each example; the context is laid out as the features of an Example.
Status Parse(CpuContext& context, const ExampleSpec& of_context, const FeatureListSpec& of_lists,
             const Tensor& serialized, const Tensor& names, bool batched, bool with_lengths) {
  TRY(of_context.Check());
  TRY_ASSIGN(ExampleTensors first,
             ParseExamples(context, of_context, StringsOf(serialized), StringsOf(names), batched));
  TRY_ASSIGN(FeatureListTensors lists, ParseFeatureLists(context, of_lists, StringsOf(serialized),
                                                         StringsOf(names), batched));
  if (!with_lengths) lists.dense_lengths.clear();
  if (!batched) {
    for (Tensor& length : lists.dense_lengths) length = length.Reshaped(Shape());
    // A single example has no rows to split; TensorFlow's ops give a scalar that means nothing.
    for (std::vector<Tensor>* splits : {&first.ragged_splits, &lists.ragged_outer_splits}) {
      for (Tensor& split : *splits) {
        TRY_ASSIGN(split, context.Allocate(split.dtype(), Shape()));
        std::memset(split.mutable_raw(), 0, split.bytes());
      }
    }
  }
  int output = 0;
  for (std::vector<Tensor>* part :
       {&first.sparse_indices, &first.sparse_values, &first.sparse_shapes, &first.dense,
        &first.ragged_values, &first.ragged_splits, &lists.sparse_indices, &lists.sparse_values,
        &lists.sparse_shapes, &lists.dense, &lists.dense_lengths, &lists.ragged_values,
        &lists.ragged_outer_splits, &lists.ragged_inner_splits})
    for (Tensor& tensor : *part) context.SetOutput(output++, std::move(tensor));
  return OkStatus();
}

// The shapes of the outputs of a node, one part after the other.
class ShapeList {
 public:
  // `batch`: the extent of the axis for examples; none when there is no such axis.
  ShapeList(const SequenceTypes& types, std::optional<int64_t> batch)
      : types_(types), batch_(batch) {}

  void Add(size_t count, const Shape& shape) { shapes_.insert(shapes_.end(), count, shape); }
  void AddSparse(size_t count, int64_t rank) {
    Add(count, Shape{Shape::kUnknownDim, rank});
    Add(count, Shape{Shape::kUnknownDim});
    Add(count, Shape{rank});
  }
  Status AddDense(const Shape& shape) {
    TRY_ASSIGN(Shape dense, batch_.has_value() ? Prepend(*batch_, shape) : Result<Shape>(shape));
    shapes_.push_back(std::move(dense));
    return OkStatus();
  }
  Status AddContext() {
    AddSparse(types_.context_sparse_types.size(), batch_.has_value() ? 2 : 1);
    for (const Shape& shape : types_.context_dense_shapes) TRY(AddDense(shape));
    return OkStatus();
  }
  Status AddLists() {
    AddSparse(types_.list_sparse_types.size(), batch_.has_value() ? 3 : 2);
    for (const Shape& shape : types_.list_dense_shapes) {
      TRY_ASSIGN(const Shape steps, Prepend(Shape::kUnknownDim, shape));
      TRY(AddDense(steps));
    }
    return OkStatus();
  }
  std::vector<Shape> Take() { return std::move(shapes_); }

 private:
  const SequenceTypes& types_;
  const std::optional<int64_t> batch_;
  std::vector<Shape> shapes_;
};

Status CheckNames(const Shape& names, const Shape& serialized) {
  if (!names.IsFullyKnown() || names.CheckedNumElements() == 0 ||
      names.IsCompatibleWith(serialized))
    return OkStatus();
  return InvalidArgument("debug_name must be empty or of the shape of serialized: {} vs {}", names,
                         serialized);
}

Status CheckCount(size_t keys, size_t types, std::string_view what) {
  if (keys == types) return OkStatus();
  return InvalidArgument("expected as many {} as types of them: {} vs {}", what, keys, types);
}

}  // namespace

Status SequenceTypes::CheckAttrs() const {
  TRY(CheckCount(static_cast<size_t>(num_context_sparse), context_sparse_types.size(),
                 "Ncontext_sparse"));
  TRY(CheckCount(static_cast<size_t>(num_list_sparse), list_sparse_types.size(),
                 "Nfeature_list_sparse"));
  TRY(CheckCount(static_cast<size_t>(num_list_dense), list_dense_types.size(),
                 "Nfeature_list_dense"));
  TRY(CheckCount(context_dense_shapes.size(), context_dense_types.size(), "context_dense_shapes"));
  TRY(CheckCount(list_dense_shapes.size(), list_dense_types.size(), "feature_list_dense_shapes"));
  for (size_t i = 0; i < context_dense_shapes.size(); ++i)
    TRY(CheckDenseShape(context_dense_shapes[i], i));
  for (const Shape& shape : list_dense_shapes) {
    if (!shape.IsFullyKnown() || !shape.CheckedNumElements().has_value())
      return InvalidArgument("feature_list_dense_shapes must be known, got {}", shape);
  }
  return OkStatus();
}

Result<std::vector<Shape>> ParseSingleSequenceExample::InferShape(
    const Shape& serialized, const Shape& missing, std::span<const Known> context_sparse_keys,
    std::span<const Known> context_dense_keys, std::span<const Known> list_sparse_keys,
    std::span<const Known> list_dense_keys, std::span<const Known>, const Shape& debug_name) const {
  TRY(CheckScalar(serialized, "serialized"));
  TRY(CheckVector(missing, "feature_list_dense_missing_assumed_empty"));
  TRY(CheckNames(debug_name, serialized));
  TRY(CheckCount(context_dense_keys.size(), context_dense_types.size(), "context_dense_keys"));
  for (const auto& keys :
       {context_sparse_keys, context_dense_keys, list_sparse_keys, list_dense_keys})
    for (const Known& key : keys) TRY(CheckScalar(*key.shape, "a key"));
  ShapeList shapes(*this, std::nullopt);
  TRY(shapes.AddContext());
  TRY(shapes.AddLists());
  return shapes.Take();
}

Status ParseSingleSequenceExample::ComputeCpu(
    CpuContext& context, const Tensor& serialized, const Tensor& missing,
    std::span<Tensor* const> context_sparse_keys, std::span<Tensor* const> context_dense_keys,
    std::span<Tensor* const> list_sparse_keys, std::span<Tensor* const> list_dense_keys,
    std::span<Tensor* const> defaults, const Tensor& debug_name) const {
  const std::vector<std::string> dense_keys = ScalarsOf(list_dense_keys);
  const Strings may_miss = StringsOf(missing);
  TRY_ASSIGN(const ExampleSpec of_context, ContextOf(*this, ScalarsOf(context_sparse_keys),
                                                     ScalarsOf(context_dense_keys), defaults));
  const FeatureListSpec of_lists =
      FeatureListsOf(*this, ScalarsOf(list_sparse_keys), dense_keys, [&](size_t i) {
        return std::find(may_miss.begin(), may_miss.end(), dense_keys[i]) != may_miss.end();
      });
  return Parse(context, of_context, of_lists, serialized, debug_name, false, false);
}

Status ParseSequenceExample::CheckAttrs() const {
  TRY(SequenceTypes::CheckAttrs());
  TRY(CheckCount(context_sparse_keys.size(), context_sparse_types.size(), "context_sparse_keys"));
  TRY(CheckCount(context_dense_keys.size(), context_dense_types.size(), "context_dense_keys"));
  TRY(CheckCount(list_sparse_keys.size(), list_sparse_types.size(), "feature_list_sparse_keys"));
  return CheckCount(list_dense_keys.size(), list_dense_types.size(), "feature_list_dense_keys");
}

Result<std::vector<Shape>> ParseSequenceExample::InferShape(const Shape& serialized,
                                                            const Shape& debug_name,
                                                            std::span<const Known>) const {
  TRY(CheckVector(serialized, "serialized"));
  TRY(CheckNames(debug_name, serialized));
  const int64_t batch = serialized.has_rank() ? serialized.dim(0) : Shape::kUnknownDim;
  ShapeList shapes(*this, batch);
  TRY(shapes.AddContext());
  TRY(shapes.AddLists());
  shapes.Add(list_dense_types.size(), Shape{batch});
  return shapes.Take();
}

Status ParseSequenceExample::ComputeCpu(CpuContext& context, const Tensor& serialized,
                                        const Tensor& debug_name,
                                        std::span<Tensor* const> defaults) const {
  TRY_ASSIGN(const ExampleSpec of_context,
             ContextOf(*this, context_sparse_keys, context_dense_keys, defaults));
  const FeatureListSpec of_lists =
      FeatureListsOf(*this, list_sparse_keys, list_dense_keys, [&](size_t i) {
        return std::find(missing_assumed_empty.begin(), missing_assumed_empty.end(),
                         list_dense_keys[i]) != missing_assumed_empty.end();
      });
  return Parse(context, of_context, of_lists, serialized, debug_name, true, true);
}

Status ParseSequenceExampleV2::CheckAttrs() const {
  TRY(SequenceTypes::CheckAttrs());
  TRY(CheckCount(context_ragged_split_types.size(), context_ragged_value_types.size(),
                 "context_ragged_split_types"));
  return CheckCount(list_ragged_split_types.size(), list_ragged_value_types.size(),
                    "feature_list_ragged_split_types");
}

Result<std::vector<Shape>> ParseSequenceExampleV2::InferShape(
    const Shape& serialized, const Shape& debug_name, const Shape& context_sparse_keys,
    const Shape& context_dense_keys, const Shape& context_ragged_keys,
    const Shape& list_sparse_keys, const Shape& list_dense_keys, const Shape& list_ragged_keys,
    const Shape& missing, std::span<const Known>) const {
  const auto check = [](const Shape& keys, size_t count, std::string_view what) -> Status {
    if (keys.IsCompatibleWith(Shape{static_cast<int64_t>(count)})) return OkStatus();
    return InvalidArgument("expected {} {}, got shape {}", count, what, keys);
  };
  TRY(check(context_sparse_keys, context_sparse_types.size(), "context_sparse_keys"));
  TRY(check(context_dense_keys, context_dense_types.size(), "context_dense_keys"));
  TRY(check(context_ragged_keys, context_ragged_value_types.size(), "context_ragged_keys"));
  TRY(check(list_sparse_keys, list_sparse_types.size(), "feature_list_sparse_keys"));
  TRY(check(list_dense_keys, list_dense_types.size(), "feature_list_dense_keys"));
  TRY(check(list_ragged_keys, list_ragged_value_types.size(), "feature_list_ragged_keys"));
  TRY(check(missing, list_dense_types.size(), "feature_list_dense_missing_assumed_empty"));
  TRY(CheckNames(debug_name, serialized));
  if (serialized.has_rank() && serialized.rank() > 1)
    return InvalidArgument("serialized must be a scalar or a vector, got shape {}", serialized);
  const size_t num_ragged = context_ragged_value_types.size();
  const size_t num_list_ragged = list_ragged_value_types.size();
  if (!serialized.has_rank()) {
    const size_t count = 3 * context_sparse_types.size() + context_dense_types.size() +
                         2 * num_ragged + 3 * list_sparse_types.size() +
                         2 * list_dense_types.size() + 3 * num_list_ragged;
    return std::vector<Shape>(count, Shape::Unknown());
  }
  const bool batched = serialized.rank() == 1;
  ShapeList shapes(*this, batched ? std::optional(serialized.dim(0)) : std::nullopt);
  const int64_t batch = batched ? serialized.dim(0) : 1;
  const Shape lengths = batched ? Shape{batch} : Shape();
  const Shape splits = batched ? Shape{batch == Shape::kUnknownDim ? batch : batch + 1} : Shape();
  TRY(shapes.AddContext());
  shapes.Add(num_ragged, Shape{Shape::kUnknownDim});
  shapes.Add(num_ragged, splits);
  TRY(shapes.AddLists());
  shapes.Add(list_dense_types.size(), lengths);
  shapes.Add(num_list_ragged, Shape{Shape::kUnknownDim});
  shapes.Add(num_list_ragged, splits);
  shapes.Add(num_list_ragged, Shape{Shape::kUnknownDim});
  return shapes.Take();
}

Status ParseSequenceExampleV2::ComputeCpu(
    CpuContext& context, const Tensor& serialized, const Tensor& debug_name,
    const Tensor& context_sparse_keys, const Tensor& context_dense_keys,
    const Tensor& context_ragged_keys, const Tensor& list_sparse_keys,
    const Tensor& list_dense_keys, const Tensor& list_ragged_keys, const Tensor& missing,
    std::span<Tensor* const> defaults) const {
  TRY_ASSIGN(ExampleSpec of_context, ContextOf(*this, StringsOf(context_sparse_keys),
                                               StringsOf(context_dense_keys), defaults));
  of_context.ragged = ListsOf(StringsOf(context_ragged_keys), context_ragged_value_types,
                              context_ragged_split_types);
  FeatureListSpec of_lists =
      FeatureListsOf(*this, StringsOf(list_sparse_keys), StringsOf(list_dense_keys),
                     [&](size_t i) { return missing.data<bool>()[i]; });
  of_lists.ragged =
      ListsOf(StringsOf(list_ragged_keys), list_ragged_value_types, list_ragged_split_types);
  return Parse(context, of_context, of_lists, serialized, debug_name,
               serialized.shape().rank() == 1, true);
}

void RegisterSequences(Registrar& registrar) {
  registrar.AddAll<ParseSingleSequenceExample, ParseSequenceExample, ParseSequenceExampleV2>();
}

}  // namespace penstock::ops
