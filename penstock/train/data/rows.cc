#include "penstock/train/data/rows.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "penstock/core/checked.h"

namespace penstock::data {
namespace {

// Fills all of `tensor`. Types that no number can be turned into (bool, half, complex) take zero.
void Fill(Tensor* tensor, double fill) {
  const int64_t n = tensor->num_elements();
  const auto with = [&]<class T>() {
    std::fill_n(tensor->mutable_data<T>(), n, static_cast<T>(fill));
  };
  switch (tensor->dtype()) {
    case DType::kFloat:
      return with.operator()<float>();
    case DType::kDouble:
      return with.operator()<double>();
    case DType::kInt32:
      return with.operator()<int32_t>();
    case DType::kInt64:
      return with.operator()<int64_t>();
    case DType::kUint8:
      return with.operator()<uint8_t>();
    case DType::kInt8:
      return with.operator()<int8_t>();
    case DType::kInt16:
      return with.operator()<int16_t>();
    default:
      if (IsPlain(tensor->dtype())) std::memset(tensor->mutable_raw(), 0, tensor->bytes());
  }
}

void CopyRun(const Tensor& from, int64_t from_at, int64_t n, int64_t to_at, Tensor* to) {
  if (from.dtype() == DType::kString) {
    std::copy_n(from.data<std::string>() + from_at, n, to->mutable_data<std::string>() + to_at);
    return;
  }
  const size_t size = SizeOf(from.dtype());
  std::memcpy(static_cast<char*>(to->mutable_raw()) + to_at * size,
              static_cast<const char*>(from.raw()) + from_at * size, n * size);
}

// Copies `from` to the corner of row `row` of `to`, of which each extent is at least as large.
void CopyToCorner(const Tensor& from, int64_t row, Tensor* to) {
  const int rank = from.shape().rank();
  if (from.num_elements() == 0) return;
  if (rank == 0) return CopyRun(from, 0, 1, row, to);
  const int64_t run = from.shape().dim(rank - 1);
  std::vector<int64_t> at(rank, 0);  // of the run at hand; its last entry stays 0
  for (int64_t begin = 0; begin < from.num_elements(); begin += run) {
    int64_t place = row;
    for (int axis = 0; axis < rank; ++axis) place = place * to->shape().dim(axis + 1) + at[axis];
    CopyRun(from, begin, run, place, to);
    for (int axis = rank - 2; axis >= 0 && ++at[axis] == from.shape().dim(axis); --axis)
      at[axis] = 0;
  }
}

Status CheckAlike(const Tensor& tensor, size_t field, DType dtype, int rank) {
  if (tensor.dtype() == dtype && tensor.shape().rank() == rank) return OkStatus();
  return InvalidArgument(
      "field {} of the elements of a batch must agree: the first is {} of rank {}, another {} of "
      "rank {}",
      field, dtype, rank, tensor.dtype(), tensor.shape().rank());
}

}  // namespace

Result<Shape> WithRows(int64_t extent, const Shape& shape) {
  std::vector<int64_t> dims = {extent};
  dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
  return Shape::Make(dims);
}

Result<Tensor> MakeRows(int64_t rows, DType dtype, const Shape& shape) {
  TRY_ASSIGN(const Shape full, WithRows(rows, shape));
  return Tensor::Make(HostAllocator(), dtype, full);
}

void CopyToRow(const Tensor& from, int64_t row, Tensor* to) {
  const int64_t n = from.num_elements();
  if (n > 0) CopyRun(from, 0, n, row * n, to);
}

int64_t BytesOf(const Element& element) {
  int64_t bytes = 0;
  for (const Tensor& tensor : element) {
    bytes += static_cast<int64_t>(tensor.bytes());
    if (tensor.dtype() != DType::kString) continue;
    for (const std::string& value : tensor.values<std::string>())
      bytes += static_cast<int64_t>(value.size());
  }
  return bytes;
}

Status RowStack::Begin(const Element& element) {
  for (const Tensor& tensor : element) {
    TRY_ASSIGN(Tensor rows, MakeRows(capacity_, tensor.dtype(), tensor.shape()));
    stack_.push_back(std::move(rows));
  }
  return OkStatus();
}

Status RowStack::Add(const Element& element) {
  if (size_ == 0) TRY(Begin(element));
  if (element.size() != stack_.size())
    return InvalidArgument("the elements of a batch must have as many fields: {} and {}",
                           stack_.size(), element.size());
  for (size_t i = 0; i < element.size(); ++i) {
    const Shape& shape = stack_[i].shape();
    TRY(CheckAlike(element[i], i, stack_[i].dtype(), shape.rank() - 1));
    if (!(shape.Slice(1, shape.rank()) == element[i].shape()))
      return InvalidArgument(
          "field {} of the elements of a batch must have one shape (PaddedBatch fills up): {} and "
          "{}",
          i, shape.Slice(1, shape.rank()), element[i].shape());
    CopyToRow(element[i], size_, &stack_[i]);
  }
  ++size_;
  return OkStatus();
}

Element RowStack::Take() {
  if (size_ < capacity_) {
    for (Tensor& tensor : stack_) tensor = tensor.Rows(0, size_);
  }
  return std::move(stack_);
}

Result<Element> StackPadded(const std::vector<Element>& elements, double fill, int64_t multiple) {
  Element out;
  const Element& first = elements.front();
  for (size_t i = 0; i < first.size(); ++i) {
    Shape largest = first[i].shape();
    for (const Element& element : elements) {
      if (element.size() != first.size())
        return InvalidArgument("the elements of a batch must have as many fields: {} and {}",
                               first.size(), element.size());
      TRY(CheckAlike(element[i], i, first[i].dtype(), largest.rank()));
      for (int axis = 0; axis < largest.rank(); ++axis)
        largest.set_dim(axis, std::max(largest.dim(axis), element[i].shape().dim(axis)));
    }
    for (int axis = 0; axis < largest.rank(); ++axis)
      largest.set_dim(axis, (largest.dim(axis) + multiple - 1) / multiple * multiple);
    TRY_ASSIGN(Tensor rows,
               MakeRows(static_cast<int64_t>(elements.size()), first[i].dtype(), largest));
    Fill(&rows, fill);
    for (size_t row = 0; row < elements.size(); ++row)
      CopyToCorner(elements[row][i], static_cast<int64_t>(row), &rows);
    out.push_back(std::move(rows));
  }
  return out;
}

}  // namespace penstock::data
