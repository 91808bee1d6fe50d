#include "penstock/ops/parse/sequence_parser.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

namespace penstock::ops {
namespace {

// The steps of one wanted list in all examples. The column has an entry for each step.
struct ListColumn {
  ListColumn(std::string name, DType dtype) : key(std::move(name)), values(dtype) {}

  std::string key;
  Column values;
  std::vector<int64_t> step_ends;  // where the steps of each example end

  int64_t MostSteps() const {
    int64_t most = 0, begin = 0;
    for (const int64_t end : step_ends) {
      most = std::max(most, end - begin);
      begin = end;
    }
    return most;
  }
};

class ListParser {
 public:
  ListParser(KernelContext& context, const FeatureListSpec& spec, int64_t batch,
             std::span<const std::string> names, bool batched)
      : context_(context), spec_(spec), batch_(batch), names_(names), batched_(batched) {
    for (const ListSpec& list : spec.sparse) Want(list.key, list.dtype);
    for (const auto& list : spec.dense) Want(list.key, list.dtype);
    for (const ListSpec& list : spec.ragged) Want(list.key, list.dtype);
  }

  Status Parse(std::span<const std::string> serialized) {
    for (size_t example = 0; example < serialized.size(); ++example)
      TRY(ParseOne(serialized[example], example));
    return OkStatus();
  }

  Result<FeatureListTensors> Take() {
    FeatureListTensors out;
    size_t at = 0;
    for (size_t i = 0; i < spec_.sparse.size(); ++i) TRY(TakeSparse(columns_[at++], &out));
    for (const auto& dense : spec_.dense) TRY(TakeDense(dense, columns_[at++], &out));
    for (const ListSpec& ragged : spec_.ragged) TRY(TakeRagged(ragged, columns_[at++], &out));
    return out;
  }

 private:
  void Want(const std::string& key, DType dtype) {
    places_[key].push_back(columns_.size());
    columns_.emplace_back(key, dtype);
  }

  std::string Where(size_t example, const std::string& key) const {
    return Format("Name: {}, Feature list: {}, Index: {}.  ",
                  names_.empty() ? "<unknown>" : Printable(names_[example]), Printable(key),
                  example);
  }

  // The dense list that a place stands for, or null.
  const FeatureListSpec::Dense* DenseAt(size_t place) const {
    const size_t dense = place - spec_.sparse.size();
    return place >= spec_.sparse.size() && dense < spec_.dense.size() ? &spec_.dense[dense]
                                                                      : nullptr;
  }

  Status ParseOne(std::string_view serialized, size_t example) {
    std::vector<const char*> found(columns_.size(), nullptr);
    std::vector<std::string_view> messages(columns_.size());
    const bool parsed = io::ForEachSequenceFeature(
        serialized, [](std::string_view, std::string_view) {},
        [&](std::string_view name, std::string_view message) {
          const auto at = places_.find(name);
          if (at == places_.end()) return;
          for (const size_t place : at->second) {
            found[place] = message.data();
            messages[place] = message;
          }
        });
    if (!parsed)
      return InvalidArgument("Could not parse example input, value: '{}'", Printable(serialized));
    for (size_t place = 0; place < columns_.size(); ++place) {
      const FeatureListSpec::Dense* dense = DenseAt(place);
      if (found[place] == nullptr && dense != nullptr && !dense->may_miss)
        return InvalidArgument(
            "{}Feature list '{}' is required but could not be found.  Did you mean to include it "
            "in feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?",
            Where(example, dense->key), Printable(dense->key));
      TRY(AddSteps(messages[place], dense, columns_[place], example));
    }
    return OkStatus();
  }

  Status AddSteps(std::string_view message, const FeatureListSpec::Dense* dense, ListColumn& column,
                  size_t example) {
    std::vector<io::Feature> steps;
    if (!io::ParseFeatureList(message, &steps))
      return InvalidArgument("{}Can't parse the feature list.", Where(example, column.key));
    for (const io::Feature& step : steps) {
      const DType came = TypeOf(step.kind);
      int64_t count = 0;
      if (came != DType::kInvalid && came != column.values.dtype())
        return InvalidArgument("{}Data types don't match. Expected type: {}, Actual type: {}",
                               Where(example, column.key), column.values.dtype(), came);
      if (came != DType::kInvalid && !io::CountValues(step, &count))
        return InvalidArgument("{}Can't parse the feature list.", Where(example, column.key));
      if (dense != nullptr && count != dense->shape.num_elements())
        return InvalidArgument(
            "{}Number of {} values != expected.  Values size: {} but output shape: {}",
            Where(example, column.key), column.values.dtype(), count, dense->shape);
      if (came == DType::kInvalid) {
        column.values.AppendNone();
      } else {
        column.values.Append(step, count);
      }
    }
    column.step_ends.push_back(static_cast<int64_t>(column.values.ends().size()));
    return OkStatus();
  }

  // Indices (example, step, value), without the first for a single example.
  Status TakeSparse(ListColumn& column, FeatureListTensors* out) {
    const int64_t rank = batched_ ? 3 : 2;
    TRY_ASSIGN(Tensor indices, context_.Allocate(DType::kInt64, Shape{column.values.size(), rank}));
    int64_t* to = indices.mutable_data<int64_t>();
    int64_t step = 0, value = 0;
    for (size_t example = 0; example < column.step_ends.size(); ++example) {
      const int64_t first = step;
      for (; step < column.step_ends[example]; ++step) {
        for (int64_t i = 0; value < column.values.ends()[step]; ++value, ++i) {
          if (batched_) *to++ = static_cast<int64_t>(example);
          *to++ = step - first;
          *to++ = i;
        }
      }
    }
    const int64_t steps = column.MostSteps(), longest = column.values.Longest();
    TRY_ASSIGN(Tensor shape, batched_ ? VectorOf(context_, {batch_, steps, longest})
                                      : VectorOf(context_, {steps, longest}));
    TRY_ASSIGN(Tensor values, column.values.TakeValues(context_));
    out->sparse_indices.push_back(std::move(indices));
    out->sparse_values.push_back(std::move(values));
    out->sparse_shapes.push_back(std::move(shape));
    return OkStatus();
  }

  Status TakeDense(const FeatureListSpec::Dense& dense, ListColumn& column,
                   FeatureListTensors* out) {
    const int64_t steps = column.MostSteps(), size = dense.shape.num_elements();
    TRY_ASSIGN(Shape shape, Prepend(steps, dense.shape));
    if (batched_) {
      TRY_ASSIGN(shape, Prepend(batch_, shape));
    }
    TRY_ASSIGN(const Tensor values, column.values.TakeValues(context_));
    TRY_ASSIGN(Tensor padded, context_.Allocate(dense.dtype, shape));
    TRY_ASSIGN(Tensor lengths, context_.Allocate(DType::kInt64, Shape{batch_}));
    // Strings are made empty.
    if (IsPlain(dense.dtype)) std::memset(padded.mutable_raw(), 0, padded.bytes());
    int64_t begin = 0;
    for (int64_t example = 0; example < batch_; ++example) {
      const int64_t end = column.step_ends[example];
      lengths.mutable_data<int64_t>()[example] = end - begin;
      if (end > begin && size > 0) {
        CopyElements(values.Rows(begin * size, end * size), example * steps * size, padded);
      }
      begin = end;
    }
    out->dense.push_back(std::move(padded));
    out->dense_lengths.push_back(std::move(lengths));
    return OkStatus();
  }

  Status TakeRagged(const ListSpec& ragged, ListColumn& column, FeatureListTensors* out) {
    std::vector<int64_t> outer;
    if (batched_) {
      outer.push_back(0);
      outer.insert(outer.end(), column.step_ends.begin(), column.step_ends.end());
    }
    TRY_ASSIGN(Tensor outer_splits, SplitsTensor(context_, outer, ragged.splits));
    TRY_ASSIGN(Tensor inner_splits, column.values.MakeSplits(context_, ragged.splits));
    TRY_ASSIGN(Tensor values, column.values.TakeValues(context_));
    out->ragged_values.push_back(std::move(values));
    out->ragged_outer_splits.push_back(std::move(outer_splits));
    out->ragged_inner_splits.push_back(std::move(inner_splits));
    return OkStatus();
  }

  KernelContext& context_;
  const FeatureListSpec& spec_;
  const int64_t batch_;
  const std::span<const std::string> names_;
  const bool batched_;
  std::unordered_map<std::string_view, std::vector<size_t>> places_;  // keys are the spec's
  std::vector<ListColumn> columns_;
};

}  // namespace

Result<FeatureListTensors> ParseFeatureLists(KernelContext& context, const FeatureListSpec& spec,
                                             std::span<const std::string> serialized,
                                             std::span<const std::string> names, bool batched) {
  ListParser parser(context, spec, static_cast<int64_t>(serialized.size()), names, batched);
  TRY(parser.Parse(serialized));
  return parser.Take();
}

}  // namespace penstock::ops
