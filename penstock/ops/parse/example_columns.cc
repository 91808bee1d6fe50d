#include "penstock/ops/parse/example_columns.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "penstock/core/checked.h"
#include "penstock/ops/dtype_switch.h"

namespace penstock::ops {
namespace {

using FeatureTypes = Types<float, int64_t, std::string>;

}  // namespace

DType TypeOf(io::Feature::Kind kind) {
  switch (kind) {
    case io::Feature::Kind::kBytes:
      return DType::kString;
    case io::Feature::Kind::kFloat:
      return DType::kFloat;
    case io::Feature::Kind::kInt64:
      return DType::kInt64;
    case io::Feature::Kind::kNone:
      break;
  }
  return DType::kInvalid;
}

Status CheckDenseShape(const Shape& shape, size_t index) {
  const bool inner_known =
      shape.has_rank() && (shape.rank() == 0 || shape.Slice(1, shape.rank()).IsFullyKnown());
  if (!inner_known)
    return InvalidArgument("dense_shapes[{}] has unknown rank or unknown inner dimensions: {}",
                           index, shape);
  return OkStatus();
}

int64_t DenseSpec::Stride() const {
  return variable() ? shape.Slice(1, shape.rank()).num_elements() : shape.num_elements();
}

Status DenseSpec::Check(size_t index) const {
  TRY(CheckDenseShape(shape, index));
  TRY(Shape::Make(shape.dims()));
  if (default_value.dtype() != dtype)
    return InvalidArgument("dense_defaults[{}] must be of type {}, got {}", index, dtype,
                           default_value.dtype());
  if (variable()) {
    if (default_value.num_elements() != 1)
      return InvalidArgument(
          "dense_shape[{}] is a variable length shape: {}, therefore def_value[{}] must contain a "
          "single element (the padding element).  But its shape is: {}",
          index, shape, index, default_value.shape());
    // Sizes are divided by it.
    if (Stride() == 0)
      return InvalidArgument("dense_shapes[{}] must not have inner dimensions of 0, got {}", index,
                             shape);
  } else if (default_value.num_elements() > 0 && !(default_value.shape() == shape)) {
    return InvalidArgument(
        "def_value[{}].shape() == {} is not compatible with dense_shapes_[{}] "
        "== {}",
        index, default_value.shape(), index, shape);
  }
  return OkStatus();
}

Result<Shape> Prepend(int64_t extent, const Shape& shape) {
  std::vector<int64_t> dims = {extent};
  dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
  return Shape::Make(dims);
}

void Column::Append(const io::Feature& feature, int64_t count) {
  const auto total = static_cast<size_t>(size_ + count);
  const auto add = [&](auto& values) {
    values.resize(total);
    io::CopyValues(feature, values.data() + size_);
  };
  if (dtype_ == DType::kFloat) add(floats_);
  if (dtype_ == DType::kInt64) add(integers_);
  if (dtype_ == DType::kString) add(strings_);
  size_ = static_cast<int64_t>(total);
  ends_.push_back(size_);
}

void Column::Append(Column later) {
  if (ends_.empty()) {
    *this = std::move(later);
    return;
  }
  for (const int64_t end : later.ends_) ends_.push_back(size_ + end);
  size_ += later.size_;
  const auto add = [](auto& values, auto& more) {
    values.insert(values.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
  };
  add(floats_, later.floats_);
  add(integers_, later.integers_);
  add(strings_, later.strings_);
}

int64_t Column::Longest() const {
  int64_t longest = 0, begin = 0;
  for (const int64_t end : ends_) {
    longest = std::max(longest, end - begin);
    begin = end;
  }
  return longest;
}

Result<Tensor> Column::TakeValues(KernelContext& context) {
  TRY_ASSIGN(Tensor tensor, context.Allocate(dtype_, Shape{size_}));
  const auto move = [&]<class T>(std::vector<T>& values) {
    std::move(values.begin(), values.end(), tensor.mutable_data<T>());
  };
  if (dtype_ == DType::kFloat) move(floats_);
  if (dtype_ == DType::kInt64) move(integers_);
  if (dtype_ == DType::kString) move(strings_);
  return tensor;
}

void Column::CopyPadded(const Tensor& fill, int64_t width, Tensor& out) const {
  const auto copy = [&]<class T>(const std::vector<T>& values) {
    T* to = out.mutable_data<T>();
    int64_t begin = 0;
    for (const int64_t end : ends_) {
      std::copy(values.begin() + begin, values.begin() + end, to);
      std::fill(to + (end - begin), to + width, fill.scalar<T>());
      to += width;
      begin = end;
    }
  };
  if (dtype_ == DType::kFloat) copy(floats_);
  if (dtype_ == DType::kInt64) copy(integers_);
  if (dtype_ == DType::kString) copy(strings_);
}

Result<Tensor> Column::MakeSplits(KernelContext& context, DType dtype) const {
  std::vector<int64_t> splits = {0};
  splits.insert(splits.end(), ends_.begin(), ends_.end());
  return SplitsTensor(context, splits, dtype);
}

Result<Tensor> SplitsTensor(KernelContext& context, const std::vector<int64_t>& splits,
                            DType dtype) {
  TRY_ASSIGN(Tensor tensor, context.Allocate(dtype, Shape{static_cast<int64_t>(splits.size())}));
  if (dtype == DType::kInt64) {
    std::copy(splits.begin(), splits.end(), tensor.mutable_data<int64_t>());
  } else if (splits.empty() || splits.back() <= std::numeric_limits<int32_t>::max()) {
    std::copy(splits.begin(), splits.end(), tensor.mutable_data<int32_t>());
  } else {
    return InvalidArgument("there are too many values for row splits of int32: {}", splits.back());
  }
  return tensor;
}

Result<Tensor> VectorOf(KernelContext& context, std::initializer_list<int64_t> values) {
  TRY_ASSIGN(Tensor tensor,
             context.Allocate(DType::kInt64, Shape{static_cast<int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), tensor.mutable_data<int64_t>());
  return tensor;
}

void CopyFeature(const io::Feature& feature, int64_t at, Tensor& out) {
  (void)ForDType(out.dtype(), FeatureTypes(), [&]<class T>() {
    io::CopyValues(feature, out.mutable_data<T>() + at);
    return OkStatus();
  });
}

void CopyElements(const Tensor& from, int64_t at, Tensor& out) {
  (void)ForDType(out.dtype(), FeatureTypes(), [&]<class T>() {
    std::copy_n(from.data<T>(), from.num_elements(), out.mutable_data<T>() + at);
    return OkStatus();
  });
}

}  // namespace penstock::ops
