#include "penstock/ops/data/sources.h"

#include "penstock/core/checked.h"
#include "penstock/ops/collections/pieces.h"

namespace penstock::ops {
namespace {

class TensorsIterator final : public DatasetIterator {
 public:
  explicit TensorsIterator(Element tensors) : tensors_(std::move(tensors)) {}
  Result<Pulled> Next(Puller&, Element* element) override {
    if (tensors_.empty()) return Pulled::kEnd;
    element->swap(tensors_);
    return Pulled::kElement;
  }

 private:
  Element tensors_;
};

class Tensors final : public Dataset {
 public:
  explicit Tensors(Element tensors) : tensors_(std::move(tensors)) {}
  std::unique_ptr<DatasetIterator> MakeIterator() const override {
    return std::make_unique<TensorsIterator>(tensors_);
  }

 private:
  const Element tensors_;
};

class SlicesIterator final : public DatasetIterator {
 public:
  explicit SlicesIterator(const Element& tensors) : tensors_(tensors) {}
  Result<Pulled> Next(Puller&, Element* element) override {
    if (at_ >= tensors_[0].shape().dim(0)) return Pulled::kEnd;
    for (const Tensor& tensor : tensors_) element->push_back(RowOf(tensor, at_));
    ++at_;
    return Pulled::kElement;
  }

 private:
  const Element tensors_;
  int64_t at_ = 0;
};

class Slices final : public Dataset {
 public:
  explicit Slices(Element tensors) : tensors_(std::move(tensors)) {}
  std::unique_ptr<DatasetIterator> MakeIterator() const override {
    return std::make_unique<SlicesIterator>(tensors_);
  }

 private:
  const Element tensors_;
};

struct Range {
  int64_t start, stop, step;
  DType dtype;
};

class RangeIterator final : public DatasetIterator {
 public:
  explicit RangeIterator(const Range& range) : range_(range), next_(range.start) {}
  Result<Pulled> Next(Puller&, Element* element) override {
    if (!next_ || (range_.step > 0 ? *next_ >= range_.stop : *next_ <= range_.stop))
      return Pulled::kEnd;
    element->push_back(range_.dtype == DType::kInt32 ? Tensor::Scalar(static_cast<int32_t>(*next_))
                                                     : Tensor::Scalar(*next_));
    next_ = CheckedAdd(*next_, range_.step);
    return Pulled::kElement;
  }

 private:
  const Range range_;
  std::optional<int64_t> next_;  // none: past what can be counted
};

class RangeOfNumbers final : public Dataset {
 public:
  explicit RangeOfNumbers(const Range& range) : range_(range) {}
  std::unique_ptr<DatasetIterator> MakeIterator() const override {
    return std::make_unique<RangeIterator>(range_);
  }

 private:
  const Range range_;
};

}  // namespace

Status TensorDataset::ComputeCpu(CpuContext& context, std::span<Tensor* const> components) const {
  return SetDataset(context, std::make_shared<Tensors>(KeptInputs(components)));
}

Result<Shape> TensorSliceDataset::InferShape(std::span<const Known> components) const {
  Shape rows{-1};
  for (const Known& component : components) {
    TRY(CheckRankAtLeast(*component.shape, 1, "each component"));
    if (!component.shape->has_rank()) continue;
    const Shape own{component.shape->dim(0)};
    if (!own.IsCompatibleWith(rows)) {
      return InvalidArgument("all components must have as many rows, got {} and {}", rows.dim(0),
                             own.dim(0));
    }
    if (own.dim(0) >= 0) rows = own;
  }
  return Shape();
}

Status TensorSliceDataset::ComputeCpu(CpuContext& context,
                                      std::span<Tensor* const> components) const {
  return SetDataset(context, std::make_shared<Slices>(KeptInputs(components)));
}

Status RangeDataset::ComputeCpu(CpuContext& context, int64_t start, int64_t stop,
                                int64_t step) const {
  if (step == 0) return InvalidArgument("step must be a non-zero integer.");
  if (output_types.size() != 1 ||
      (output_types[0] != DType::kInt64 && output_types[0] != DType::kInt32))
    return Unimplemented("a range of {} cannot be made", ToString(output_types));
  return SetDataset(context,
                    std::make_shared<RangeOfNumbers>(Range{start, stop, step, output_types[0]}));
}

void RegisterDatasetSources(Registrar& registrar) {
  registrar.AddAll<TensorDataset, TensorSliceDataset, RangeDataset>();
}

}  // namespace penstock::ops
