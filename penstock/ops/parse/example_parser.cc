#include "penstock/ops/parse/example_parser.h"

#include <unordered_map>
#include <utility>

namespace penstock::ops {
namespace {

// One pass over a batch. Features are numbered: first the sparse ones, then dense, then ragged.
class BatchParser {
 public:
  BatchParser(KernelContext& context, const ExampleSpec& spec, int64_t batch,
              std::span<const std::string> names, bool batched)
      : context_(context), spec_(spec), batch_(batch), names_(names), batched_(batched) {
    for (const ListSpec& feature : spec.sparse) Want(feature.key, feature.dtype);
    for (const DenseSpec& feature : spec.dense) Want(feature.key, feature.dtype);
    for (const ListSpec& feature : spec.ragged) Want(feature.key, feature.dtype);
    found_.resize(columns_.size());
    dense_.resize(spec.dense.size());
  }

  Status Parse(std::span<const std::string> serialized) {
    for (size_t i = 0; i < spec_.dense.size(); ++i) {
      const DenseSpec& dense = spec_.dense[i];
      if (dense.variable()) continue;
      TRY_ASSIGN(const Shape shape,
                 batched_ ? Prepend(batch_, dense.shape) : Result<Shape>(dense.shape));
      TRY_ASSIGN(dense_[i], context_.Allocate(dense.dtype, shape));
    }
    for (size_t example = 0; example < serialized.size(); ++example)
      TRY(ParseOne(serialized[example], static_cast<int64_t>(example)));
    return OkStatus();
  }

  Result<ExampleTensors> Take() {
    ExampleTensors out;
    for (size_t i = 0; i < spec_.sparse.size(); ++i) TRY(TakeSparse(columns_[i], &out));
    for (size_t i = 0; i < spec_.dense.size(); ++i) {
      if (spec_.dense[i].variable()) TRY(PadDense(i));
      out.dense.push_back(std::move(dense_[i]));
    }
    for (size_t i = 0; i < spec_.ragged.size(); ++i) {
      Column& column = columns_[spec_.sparse.size() + spec_.dense.size() + i];
      // A single example has no rows to split.
      TRY_ASSIGN(Tensor splits, batched_ ? column.MakeSplits(context_, spec_.ragged[i].splits)
                                         : context_.Allocate(spec_.ragged[i].splits, Shape{0}));
      TRY_ASSIGN(Tensor values, column.TakeValues(context_));
      out.ragged_values.push_back(std::move(values));
      out.ragged_splits.push_back(std::move(splits));
    }
    return out;
  }

 private:
  void Want(const std::string& key, DType dtype) {
    places_[key].push_back(columns_.size());
    columns_.emplace_back(dtype);
  }

  std::string Where(int64_t example, const std::string& key) const {
    if (!batched_) return Format("Key: {}.  ", Printable(key));
    return Format("Name: {}, Key: {}, Index: {}.  ",
                  names_.empty() ? "<unknown>" : Printable(names_[example]), Printable(key),
                  example);
  }

  Status ParseOne(std::string_view serialized, int64_t example) {
    found_.assign(found_.size(), io::Feature());
    bool well_formed = true;
    const bool parsed =
        io::ForEachFeature(serialized, [&](std::string_view name, std::string_view message) {
          const auto at = places_.find(name);
          if (at == places_.end()) return;
          io::Feature feature;
          well_formed &= io::ParseFeature(message, &feature);
          for (const size_t place : at->second) found_[place] = feature;
        });
    if (!parsed || !well_formed)
      return InvalidArgument("Could not parse example input, value: '{}'", Printable(serialized));
    for (size_t i = 0; i < columns_.size(); ++i) {
      const bool is_dense = i >= spec_.sparse.size() && i - spec_.sparse.size() < dense_.size();
      const size_t dense = i - spec_.sparse.size();
      const std::string& key = is_dense                  ? spec_.dense[dense].key
                               : i < spec_.sparse.size() ? spec_.sparse[i].key
                                                         : spec_.ragged[dense - dense_.size()].key;
      const DType came = TypeOf(found_[i].kind);
      int64_t count = 0;
      if (came != DType::kInvalid) {
        if (came != columns_[i].dtype())
          return InvalidArgument("{}Data types don't match. Expected type: {}, Actual type: {}",
                                 Where(example, key), columns_[i].dtype(), came);
        if (!io::CountValues(found_[i], &count))
          return InvalidArgument("{}Can't parse serialized Example.", Where(example, key));
      }
      if (is_dense && !spec_.dense[dense].variable()) {
        TRY(StoreDense(dense, found_[i], count, example));
      } else if (came == DType::kInvalid) {
        columns_[i].AppendNone();
      } else {
        if (is_dense && count % spec_.dense[dense].Stride() != 0)
          return InvalidArgument(
              "{}Number of {} values is not a multiple of stride length. Saw {} values but output "
              "shape is: {}",
              Where(example, key), came, count, spec_.dense[dense].shape);
        columns_[i].Append(found_[i], count);
      }
    }
    return OkStatus();
  }

  Status StoreDense(size_t i, const io::Feature& feature, int64_t count, int64_t example) {
    const DenseSpec& dense = spec_.dense[i];
    const int64_t size = dense.Stride();
    const int64_t at = example * size;
    if (feature.kind == io::Feature::Kind::kNone) {
      if (dense.default_value.num_elements() != size)
        return InvalidArgument("{}Feature: {} (data type: {}) is required but could not be found.",
                               batched_ ? Where(example, dense.key) : "", Printable(dense.key),
                               dense.dtype);
      CopyElements(dense.default_value, at, dense_[i]);
      return OkStatus();
    }
    if (count != size)
      return InvalidArgument(
          "{}Number of {} values != expected.  Values size: {} but output shape: {}",
          Where(example, dense.key), dense.dtype, count, dense.shape);
    CopyFeature(feature, at, dense_[i]);
    return OkStatus();
  }

  // [batch, longest, inner...]
  Status PadDense(size_t i) {
    const DenseSpec& dense = spec_.dense[i];
    const Column& column = columns_[spec_.sparse.size() + i];
    const int64_t width = column.Longest();
    Shape shape = dense.shape;
    shape.set_dim(0, width / dense.Stride());
    if (batched_) {
      TRY_ASSIGN(shape, Prepend(batch_, shape));
    }
    TRY_ASSIGN(dense_[i], context_.Allocate(dense.dtype, shape));
    column.CopyPadded(dense.default_value, width, dense_[i]);
    return OkStatus();
  }

  Status TakeSparse(Column& column, ExampleTensors* out) {
    const int64_t rank = batched_ ? 2 : 1;
    TRY_ASSIGN(Tensor indices, context_.Allocate(DType::kInt64, Shape{column.size(), rank}));
    int64_t* to = indices.mutable_data<int64_t>();
    int64_t at = 0;
    for (size_t example = 0; example < column.ends().size(); ++example) {
      for (int64_t i = 0; at < column.ends()[example]; ++at, ++i) {
        if (batched_) *to++ = static_cast<int64_t>(example);
        *to++ = i;
      }
    }
    const int64_t longest = column.Longest();
    TRY_ASSIGN(Tensor shape,
               batched_ ? VectorOf(context_, {batch_, longest}) : VectorOf(context_, {longest}));
    TRY_ASSIGN(Tensor values, column.TakeValues(context_));
    out->sparse_indices.push_back(std::move(indices));
    out->sparse_values.push_back(std::move(values));
    out->sparse_shapes.push_back(std::move(shape));
    return OkStatus();
  }

  KernelContext& context_;
  const ExampleSpec& spec_;
  const int64_t batch_;
  const std::span<const std::string> names_;
  const bool batched_;
  std::unordered_map<std::string_view, std::vector<size_t>> places_;  // of a key
  std::vector<Column> columns_;     // of each feature; dense ones of a fixed shape use none
  std::vector<io::Feature> found_;  // in the example at hand
  std::vector<Tensor> dense_;
};

}  // namespace

Status ExampleSpec::Check() const {
  for (size_t i = 0; i < dense.size(); ++i) TRY(dense[i].Check(i));
  return OkStatus();
}

void ExampleTensors::SetOutputs(KernelContext& context) {
  int output = 0;
  for (std::vector<Tensor>* list :
       {&sparse_indices, &sparse_values, &sparse_shapes, &dense, &ragged_values, &ragged_splits})
    for (Tensor& tensor : *list) context.SetOutput(output++, std::move(tensor));
}

Result<ExampleTensors> ParseExamples(KernelContext& context, const ExampleSpec& spec,
                                     std::span<const std::string> serialized,
                                     std::span<const std::string> names, bool batched) {
  BatchParser parser(context, spec, static_cast<int64_t>(serialized.size()), names, batched);
  TRY(parser.Parse(serialized));
  return parser.Take();
}

}  // namespace penstock::ops
