#include "penstock/ops/parse/example_parser.h"

#include <map>
#include <unordered_map>
#include <utility>

#include "penstock/core/mutex.h"

namespace penstock::ops {
namespace {

// What all threads that parse a batch share. Features are numbered: first the sparse ones, then
// dense, then ragged.
struct BatchPlan {
  const ExampleSpec& spec;
  std::span<const std::string> serialized;
  std::span<const std::string> names;
  bool batched = true;
  std::unordered_map<std::string_view, std::vector<size_t>> places = {};  // of a key
  std::vector<DType> dtypes = {};                                         // of each feature
  std::vector<Tensor> dense = {};  // of a fixed shape: each thread writes rows of its own

  void Want(const std::string& key, DType dtype) {
    places[key].push_back(dtypes.size());
    dtypes.push_back(dtype);
  }
};

// Parses the examples [begin, end) of a batch.
class PartParser {
 public:
  PartParser(BatchPlan* plan, int64_t begin, int64_t end)
      : plan_(*plan), spec_(plan->spec), found_(plan->dtypes.size()) {
    for (const DType dtype : plan->dtypes) columns_.emplace_back(dtype);
    for (int64_t example = begin; example < end && status_.ok(); ++example)
      status_ = ParseOne(plan_.serialized[example], example);
  }

  // Of the first example that could not be parsed.
  const Status& status() const { return status_; }
  std::vector<Column> TakeColumns() { return std::move(columns_); }

 private:
  std::string Where(int64_t example, const std::string& key) const {
    if (!plan_.batched) return Format("Key: {}.  ", Printable(key));
    return Format("Name: {}, Key: {}, Index: {}.  ",
                  plan_.names.empty() ? "<unknown>" : Printable(plan_.names[example]),
                  Printable(key), example);
  }

  Status ParseOne(std::string_view serialized, int64_t example) {
    found_.assign(found_.size(), io::Feature());
    bool well_formed = true;
    const bool parsed =
        io::ForEachFeature(serialized, [&](std::string_view name, std::string_view message) {
          const auto at = plan_.places.find(name);
          if (at == plan_.places.end()) return;
          io::Feature feature;
          well_formed &= io::ParseFeature(message, &feature);
          for (const size_t place : at->second) found_[place] = feature;
        });
    if (!parsed || !well_formed)
      return InvalidArgument("Could not parse example input, value: '{}'", Printable(serialized));
    for (size_t i = 0; i < columns_.size(); ++i) TRY(Store(i, example));
    return OkStatus();
  }

  // Keeps feature `i` of the example at hand.
  Status Store(size_t i, int64_t example) {
    const size_t num_dense = spec_.dense.size();
    const bool is_dense = i >= spec_.sparse.size() && i - spec_.sparse.size() < num_dense;
    const size_t dense = i - spec_.sparse.size();
    const std::string& key = is_dense                  ? spec_.dense[dense].key
                             : i < spec_.sparse.size() ? spec_.sparse[i].key
                                                       : spec_.ragged[dense - num_dense].key;
    const DType came = TypeOf(found_[i].kind);
    int64_t count = 0;
    if (came != DType::kInvalid) {
      if (came != columns_[i].dtype())
        return InvalidArgument("{}Data types don't match. Expected type: {}, Actual type: {}",
                               Where(example, key), columns_[i].dtype(), came);
      if (!io::CountValues(found_[i], &count))
        return InvalidArgument("{}Can't parse serialized Example.", Where(example, key));
    }
    if (is_dense && !spec_.dense[dense].variable())
      return StoreDense(dense, found_[i], count, example);
    if (came == DType::kInvalid) {
      columns_[i].AppendNone();
      return OkStatus();
    }
    if (is_dense && count % spec_.dense[dense].Stride() != 0)
      return InvalidArgument(
          "{}Number of {} values is not a multiple of stride length. Saw {} values but output "
          "shape is: {}",
          Where(example, key), came, count, spec_.dense[dense].shape);
    columns_[i].Append(found_[i], count);
    return OkStatus();
  }

  Status StoreDense(size_t i, const io::Feature& feature, int64_t count, int64_t example) {
    const DenseSpec& dense = spec_.dense[i];
    const int64_t size = dense.Stride();
    const int64_t at = example * size;
    if (feature.kind == io::Feature::Kind::kNone) {
      if (dense.default_value.num_elements() != size)
        return InvalidArgument("{}Feature: {} (data type: {}) is required but could not be found.",
                               plan_.batched ? Where(example, dense.key) : "", Printable(dense.key),
                               dense.dtype);
      CopyElements(dense.default_value, at, plan_.dense[i]);
      return OkStatus();
    }
    if (count != size)
      return InvalidArgument(
          "{}Number of {} values != expected.  Values size: {} but output shape: {}",
          Where(example, dense.key), dense.dtype, count, dense.shape);
    CopyFeature(feature, at, plan_.dense[i]);
    return OkStatus();
  }

  BatchPlan& plan_;
  const ExampleSpec& spec_;
  std::vector<io::Feature> found_;  // in the example at hand
  std::vector<Column> columns_;     // of each feature; dense ones of a fixed shape use none
  Status status_;
};

// One pass over a batch.
class BatchParser {
 public:
  BatchParser(KernelContext& context, BatchPlan plan)
      : context_(context),
        plan_(std::move(plan)),
        spec_(plan_.spec),
        batch_(static_cast<int64_t>(plan_.serialized.size())),
        batched_(plan_.batched) {
    for (const ListSpec& feature : spec_.sparse) plan_.Want(feature.key, feature.dtype);
    for (const DenseSpec& feature : spec_.dense) plan_.Want(feature.key, feature.dtype);
    for (const ListSpec& feature : spec_.ragged) plan_.Want(feature.key, feature.dtype);
    plan_.dense.resize(spec_.dense.size());
  }

  Status Parse() {
    for (size_t i = 0; i < spec_.dense.size(); ++i) {
      const DenseSpec& dense = spec_.dense[i];
      if (dense.variable()) continue;
      TRY_ASSIGN(const Shape shape,
                 batched_ ? Prepend(batch_, dense.shape) : Result<Shape>(dense.shape));
      TRY_ASSIGN(plan_.dense[i], context_.Allocate(dense.dtype, shape));
    }
    // Cycles: the features of an example, and its bytes, of which the first is taken as typical.
    const double bytes = batch_ == 0 ? 0 : static_cast<double>(plan_.serialized[0].size());
    const double cost = 500 * static_cast<double>(plan_.dtypes.size()) + bytes;
    Mutex mu;
    std::map<int64_t, PartParser> parts;  // by where they begin
    context_.parallel()(
        batch_, cost,
        [&](int64_t begin, int64_t end) {
          PartParser part(&plan_, begin, end);
          MutexLock lock(mu);
          parts.emplace(begin, std::move(part));
        },
        /*grain=*/8);
    return Join(std::move(parts));
  }

  Result<ExampleTensors> Take() {
    ExampleTensors out;
    for (size_t i = 0; i < spec_.sparse.size(); ++i) TRY(TakeSparse(columns_[i], &out));
    for (size_t i = 0; i < spec_.dense.size(); ++i) {
      if (spec_.dense[i].variable()) TRY(PadDense(i));
      out.dense.push_back(std::move(plan_.dense[i]));
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
  // The columns of the parts, in their order, or the error of the first example that has one.
  Status Join(std::map<int64_t, PartParser> parts) {
    for (const auto& [begin, part] : parts) TRY(part.status());
    for (const DType dtype : plan_.dtypes) columns_.emplace_back(dtype);
    for (auto& [begin, part] : parts) {
      std::vector<Column> columns = part.TakeColumns();
      for (size_t i = 0; i < columns.size(); ++i) columns_[i].Append(std::move(columns[i]));
    }
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
    TRY_ASSIGN(plan_.dense[i], context_.Allocate(dense.dtype, shape));
    column.CopyPadded(dense.default_value, width, plan_.dense[i]);
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
  BatchPlan plan_;
  const ExampleSpec& spec_;
  const int64_t batch_;
  const bool batched_;
  std::vector<Column> columns_;  // of each feature; dense ones of a fixed shape use none
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
  BatchParser parser(context, {spec, serialized, names, batched});
  TRY(parser.Parse());
  return parser.Take();
}

}  // namespace penstock::ops
