#include "penstock/ops/data/batch.h"

#include <algorithm>

#include "penstock/io/tensor_slice.h"
#include "penstock/ops/collections/pieces.h"
#include "penstock/ops/data/dataset_over.h"

namespace penstock::ops {
namespace {

// What to fill an element up with, by component; none: shapes must agree.
struct Padding {
  std::vector<Shape> shapes;  // -1: as long as the longest
  Element values;
};

Result<Shape> WithRows(int64_t rows, const Shape& rest) {
  std::vector<int64_t> dims{rows};
  dims.insert(dims.end(), rest.dims().begin(), rest.dims().end());
  return Shape::Make(dims);
}

// Component `at` of all elements as one tensor.
Result<Tensor> Stack(const std::vector<Element>& elements, size_t at, Allocator* allocator) {
  const Tensor& first = elements[0][at];
  for (size_t i = 1; i < elements.size(); ++i) {
    const Tensor& tensor = elements[i][at];
    if (tensor.dtype() != first.dtype() || tensor.shape() != first.shape()) {
      return InvalidArgument(
          "Cannot batch tensors with different shapes in component {}. First element had shape {} "
          "and element {} had shape {}.",
          at, first.shape(), i, tensor.shape());
    }
  }
  TRY_ASSIGN(const Shape shape, WithRows(static_cast<int64_t>(elements.size()), first.shape()));
  TRY_ASSIGN(Tensor stacked, Tensor::Make(allocator, first.dtype(), shape));
  const int64_t n = first.num_elements();
  for (size_t i = 0; i < elements.size(); ++i)
    CopyPiece(elements[i][at], 0, stacked, static_cast<int64_t>(i) * n, n);
  return stacked;
}

// The same where shorter ones are padded.
Result<Tensor> StackPadded(const std::vector<Element>& elements, size_t at, const Shape& padded,
                           const Tensor& value, Allocator* allocator) {
  Shape row = padded;
  for (const Element& element : elements) {
    const Tensor& tensor = element[at];
    if (tensor.dtype() != value.dtype() || !padded.has_rank() ||
        tensor.shape().rank() != padded.rank()) {
      return InvalidArgument(
          "All elements in a batch must have the same rank as the padded shape for component {}: "
          "expected {} {}, got {} {}",
          at, value.dtype(), padded, tensor.dtype(), tensor.shape());
    }
    for (int axis = 0; axis < padded.rank(); ++axis) {
      const int64_t extent = tensor.shape().dim(axis);
      if (padded.dim(axis) < 0) {
        row.set_dim(axis, std::max(row.dim(axis), extent));
      } else if (extent > padded.dim(axis)) {
        return DataLoss(
            "Attempted to pad to a smaller size than the input element: component {}, axis {}, "
            "expected at most {}, got {}",
            at, axis, padded.dim(axis), extent);
      }
    }
  }
  TRY_ASSIGN(const Shape shape, WithRows(static_cast<int64_t>(elements.size()), row));
  TRY_ASSIGN(Tensor batch, Tensor::Make(allocator, value.dtype(), shape));
  for (int64_t i = 0; i < batch.num_elements(); ++i) CopyPiece(value, 0, batch, i, 1);
  TRY_ASSIGN(
      const io::TensorSlice all,
      io::TensorSlice(std::vector<io::TensorSlice::Extent>(static_cast<size_t>(shape.rank())))
          .Within(shape));
  for (size_t i = 0; i < elements.size(); ++i) {
    std::vector<io::TensorSlice::Extent> place{{static_cast<int64_t>(i), 1}};
    for (const int64_t extent : elements[i][at].shape().dims()) place.push_back({0, extent});
    CopyCommon(io::TensorSlice(std::move(place)), elements[i][at], all, &batch);
  }
  return batch;
}

class BatchIterator final : public DatasetIterator {
 public:
  BatchIterator(const DatasetPtr& input, int64_t size, bool drop_remainder,
                std::shared_ptr<const Padding> padding)
      : input_(input->MakeIterator()),
        size_(static_cast<size_t>(size)),
        drop_remainder_(drop_remainder),
        padding_(std::move(padding)) {}

  Result<Pulled> Next(Puller& puller, Element* element) override {
    while (!ended_ && collected_.size() < size_) {
      Element one;
      const Result<Pulled> pulled = Pull(*input_, puller, &one);
      if (!pulled.ok()) return pulled.status();  // what was collected waits for the next call
      if (*pulled == Pulled::kPending) return pulled;
      ended_ = *pulled == Pulled::kEnd;
      if (!ended_) collected_.push_back(std::move(one));
    }
    if (collected_.empty() || (collected_.size() < size_ && drop_remainder_)) return Pulled::kEnd;
    const std::vector<Element> batch = std::move(collected_);
    collected_.clear();
    const size_t components = batch[0].size();
    for (const Element& one : batch) {
      if (one.size() != components ||
          (padding_ != nullptr && components != padding_->shapes.size()))
        return InvalidArgument("elements of a batch must have as many components, got {} and {}",
                               components, one.size());
    }
    for (size_t i = 0; i < components; ++i) {
      Allocator* const allocator = puller.step->allocator;
      TRY_ASSIGN(Tensor stacked, padding_ == nullptr ? Stack(batch, i, allocator)
                                                     : StackPadded(batch, i, padding_->shapes[i],
                                                                   padding_->values[i], allocator));
      element->push_back(std::move(stacked));
    }
    return Pulled::kElement;
  }

 private:
  const std::unique_ptr<DatasetIterator> input_;
  const size_t size_;
  const bool drop_remainder_;
  const std::shared_ptr<const Padding> padding_;  // null: none
  bool ended_ = false;
  std::vector<Element> collected_;
};

Status SetBatch(CpuContext& context, const Tensor& input, int64_t size, bool drop_remainder,
                std::shared_ptr<const Padding> padding = nullptr) {
  if (size <= 0) return InvalidArgument("Batch size must be greater than zero.");
  return SetOver<BatchIterator>(context, input, size, drop_remainder, std::move(padding));
}

Status CheckPadding(std::span<const Known> shapes, std::span<const Known> values) {
  if (shapes.size() != values.size()) {
    return InvalidArgument("there must be a padded shape for each component, got {} and {}",
                           shapes.size(), values.size());
  }
  for (const Known& shape : shapes) TRY(CheckVector(*shape.shape, "padded_shapes"));
  for (const Known& value : values) TRY(CheckScalar(*value.shape, "padding_values"));
  return OkStatus();
}

Result<std::shared_ptr<const Padding>> MakePadding(std::span<Tensor* const> shapes,
                                                   std::span<Tensor* const> values) {
  auto padding = std::make_shared<Padding>();
  for (const Tensor* shape : shapes) {
    TRY_ASSIGN(Shape made, Shape::Make(shape->values<int64_t>()));
    padding->shapes.push_back(std::move(made));
  }
  for (const Tensor* value : values) {
    if (!IsPlain(value->dtype()) && value->dtype() != DType::kString)
      return Unimplemented("values of dtype {} cannot be padded", value->dtype());
  }
  padding->values = KeptInputs(values);
  return std::shared_ptr<const Padding>(std::move(padding));
}

}  // namespace

Status BatchDataset::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                int64_t batch_size) const {
  return SetBatch(context, input_dataset, batch_size, false);
}

Status BatchDatasetV2::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                  int64_t batch_size, bool drop_remainder) const {
  return SetBatch(context, input_dataset, batch_size, drop_remainder);
}

Status ParallelBatchDataset::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                        int64_t batch_size, int64_t, bool drop_remainder) const {
  return SetBatch(context, input_dataset, batch_size, drop_remainder);
}

Result<Shape> PaddedBatchDataset::InferShape(const Shape& input_dataset, const Shape& batch_size,
                                             std::span<const Known> padded_shapes,
                                             std::span<const Known> padding_values) const {
  TRY(CheckPadding(padded_shapes, padding_values));
  return DatasetOfScalars(input_dataset, batch_size);
}

Status PaddedBatchDataset::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                      int64_t batch_size, std::span<Tensor* const> padded_shapes,
                                      std::span<Tensor* const> padding_values) const {
  TRY_ASSIGN(auto padding, MakePadding(padded_shapes, padding_values));
  return SetBatch(context, input_dataset, batch_size, false, std::move(padding));
}

Result<Shape> PaddedBatchDatasetV2::InferShape(const Shape& input_dataset, const Shape& batch_size,
                                               std::span<const Known> padded_shapes,
                                               std::span<const Known> padding_values,
                                               const Shape& drop_remainder) const {
  TRY(CheckPadding(padded_shapes, padding_values));
  return DatasetOfScalars(input_dataset, batch_size, drop_remainder);
}

Status PaddedBatchDatasetV2::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                        int64_t batch_size, std::span<Tensor* const> padded_shapes,
                                        std::span<Tensor* const> padding_values,
                                        bool drop_remainder) const {
  TRY_ASSIGN(auto padding, MakePadding(padded_shapes, padding_values));
  return SetBatch(context, input_dataset, batch_size, drop_remainder, std::move(padding));
}

void RegisterDatasetBatches(Registrar& registrar) {
  registrar.AddAll<BatchDataset, BatchDatasetV2, ParallelBatchDataset, PaddedBatchDataset,
                   PaddedBatchDatasetV2>();
}

}  // namespace penstock::ops
