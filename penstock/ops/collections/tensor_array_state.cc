#include "penstock/ops/collections/tensor_array_state.h"

#include <algorithm>

#include "penstock/core/checked.h"
#include "penstock/ops/collections/pieces.h"

namespace penstock::ops {
namespace {

// How many empty places one write may leave before it: an index from data must not take all memory.
constexpr int64_t kMaxGap = int64_t{1} << 24;

}  // namespace

Shape TensorArray::element_shape() const {
  MutexLock lock(mu_);
  return element_shape_;
}

Result<int64_t> TensorArray::Size() const {
  MutexLock lock(mu_);
  TRY(CheckOpen());
  return size_;
}

Status TensorArray::Write(KernelContext& context, int64_t index, Tensor value) {
  MutexLock lock(mu_);
  TRY(CheckOpen());
  return WriteLocked(context, index, std::move(value));
}

Status TensorArray::WriteMany(KernelContext& context, std::span<const int32_t> indices,
                              std::vector<Tensor> values) {
  MutexLock lock(mu_);
  TRY(CheckOpen());
  for (const int32_t index : indices) TRY(CheckIndex(index));
  for (size_t i = 0; i < indices.size(); ++i) {
    TRY(WriteLocked(context, indices[i], std::move(values[i])));
  }
  return OkStatus();
}

Result<std::vector<Tensor>> TensorArray::ReadMany(KernelContext& context,
                                                  std::span<const int32_t> indices) {
  MutexLock lock(mu_);
  TRY(CheckOpen());
  std::vector<Tensor> values;
  values.reserve(indices.size());
  for (const int32_t index : indices) {
    TRY_ASSIGN(Tensor value, ReadLocked(context, index));
    values.push_back(std::move(value));
  }
  return values;
}

Result<std::vector<Tensor>> TensorArray::ReadAll(KernelContext& context) {
  MutexLock lock(mu_);
  TRY(CheckOpen());
  if (size_ > 0) TRY(CheckIndex(size_ - 1));
  std::vector<Tensor> values;
  for (int64_t index = 0; index < size_; ++index) {
    TRY_ASSIGN(Tensor value, ReadLocked(context, index));
    values.push_back(std::move(value));
  }
  return values;
}

Status TensorArray::CheckCount(int64_t count) const {
  MutexLock lock(mu_);
  TRY(CheckOpen());
  if (dynamic_size_ || size_ == count) return OkStatus();
  return InvalidArgument(
      "TensorArray's size is not equal to the size of lengths ({} vs. {}), and the TensorArray is "
      "not marked as dynamically resizeable",
      size_, count);
}

Result<std::shared_ptr<TensorArray>> TensorArray::Gradient(const std::string& source,
                                                           const Shape& prefix) {
  MutexLock lock(mu_);
  TRY(CheckOpen());
  if (was_aggregated_) {
    return InvalidArgument(
        "Unable to create a gradients TensorArray for {}.  Perhaps you used the "
        "multiple_writes_aggregate flag on a previous write?  Gradient calculation is impossible "
        "when multiple writes are performed to the same index.",
        name_);
  }
  TRY(CheckRanks(prefix.rank()));
  dynamic_size_ = false;
  std::shared_ptr<TensorArray>& gradient = gradients_[source];
  if (gradient != nullptr) return gradient;
  Options options;
  options.name = name_ + "@" + source;
  options.dtype = dtype_;
  options.element_shape = element_shape_;
  if (element_shape_.has_rank()) {
    options.element_shape = prefix;
    for (const int64_t dim : element_shape_.dims()) options.element_shape.Append(dim);
  }
  options.clear_after_read = false;
  options.identical_element_shapes = identical_element_shapes_;
  options.is_gradient = true;
  auto made = std::make_shared<TensorArray>(std::move(options), size_);
  made->TakeShapes(places_, prefix);
  gradient = made;
  return made;
}

Status TensorArray::CheckRanks(int prefix) const {
  int rank = std::max(element_shape_.rank(), 0);
  for (const Place& place : places_) {
    if (place.written) rank = std::max(rank, place.shape.rank());
  }
  if (prefix <= Shape::kMaxRank - rank) return OkStatus();
  return InvalidArgument("elements must have at most {} dimensions, got {} before {}",
                         Shape::kMaxRank, prefix, rank);
}

// A place that was written has a gradient of that shape: zeros until something is added.
void TensorArray::TakeShapes(const std::vector<Place>& from, const Shape& prefix) {
  MutexLock lock(mu_);
  places_.resize(from.size());
  for (size_t i = 0; i < places_.size(); ++i) {
    if (!from[i].written) continue;
    places_[i].written = true;
    places_[i].shape = prefix;
    for (const int64_t dim : from[i].shape.dims()) places_[i].shape.Append(dim);
  }
}

void TensorArray::Close() {
  MutexLock lock(mu_);
  places_.clear();
  closed_ = true;
}

Status TensorArray::CheckOpen() const {
  if (!closed_) return OkStatus();
  return InvalidArgument("TensorArray {} has already been closed.", name_);
}

Status TensorArray::CheckIndex(int64_t index) const {
  if (index < 0 || (!dynamic_size_ && index >= size_)) {
    return InvalidArgument("Tried to write to index {} but array is not resizeable and size is: {}",
                           index, size_);
  }
  if (index - static_cast<int64_t>(places_.size()) > kMaxGap) {
    return ResourceExhausted("index {} of a TensorArray of which {} places are filled is too far",
                             index, places_.size());
  }
  return OkStatus();
}

Status TensorArray::WriteLocked(KernelContext& context, int64_t index, Tensor value) {
  TRY(CheckIndex(index));
  if (value.dtype() != dtype_) {
    return InvalidArgument(
        "TensorArray {}: Could not write to TensorArray index {} because the value dtype is {} but "
        "TensorArray dtype is {}.",
        name_, index, value.dtype(), dtype_);
  }
  if (!element_shape_.IsCompatibleWith(value.shape())) {
    return InvalidArgument(
        "TensorArray {}: Could not write to TensorArray index {} because the value shape is {} "
        "which is incompatible with the TensorArray's inferred element shape: {} (consider setting "
        "infer_shape=False).",
        name_, index, value.shape(), element_shape_);
  }
  if (index >= static_cast<int64_t>(places_.size())) places_.resize(static_cast<size_t>(index) + 1);
  Place& place = places_[index];
  if (place.read) {
    return InvalidArgument(
        "TensorArray {}: Could not write to TensorArray index {} because it has already been read.",
        name_, index);
  }
  if (place.written && !is_gradient_) {
    return InvalidArgument(
        "TensorArray {}: Could not write to TensorArray index {} because it has already been "
        "written to.",
        name_, index);
  }
  if (identical_element_shapes_ && !element_shape_.IsFullyKnown()) element_shape_ = value.shape();
  size_ = std::max(size_, index + 1);
  if (place.written) return Aggregate(context, index, std::move(value));
  place.shape = value.shape();
  place.tensor = std::move(value);
  place.written = true;
  return OkStatus();
}

Status TensorArray::Aggregate(KernelContext& context, int64_t index, Tensor value) {
  Place& place = places_[index];
  if (!(place.shape == value.shape())) {
    return InvalidArgument(
        "TensorArray {}: Could not aggregate to TensorArray index {} because the existing shape is "
        "{} but the new input shape is {}.",
        name_, index, place.shape, value.shape());
  }
  if (!place.tensor.initialized()) {
    place.tensor = std::move(value);
    return OkStatus();
  }
  was_aggregated_ = true;
  return AddTo(context, place.tensor, value);
}

Result<Tensor> TensorArray::ReadLocked(KernelContext& context, int64_t index) {
  if (!InRange(index, size_)) {
    return InvalidArgument("Tried to read from index {} but array size is: {}", index, size_);
  }
  const Place* found = index < static_cast<int64_t>(places_.size()) ? &places_[index] : nullptr;
  if (found != nullptr && found->cleared) {
    return InvalidArgument(
        "Could not read index {} twice because it was cleared after a previous read (perhaps try "
        "setting clear_after_read = false?).",
        index);
  }
  const Shape shape = found != nullptr && found->written ? found->shape : element_shape_;
  if (!shape.IsFullyKnown()) {
    return InvalidArgument(
        "TensorArray {}: Could not read from TensorArray index {}.  Furthermore, the element shape "
        "is not fully defined: {}.  It is possible you are working with a resizeable TensorArray "
        "and stop_gradients is not allowing the gradients to be written.  If you set the full "
        "element_shape property on the forward TensorArray, the proper all-zeros tensor will be "
        "returned instead of incurring this error.",
        name_, index, shape);
  }
  if (found == nullptr) {
    TRY(CheckIndex(index));
    places_.resize(static_cast<size_t>(index) + 1);
  }
  Place& place = places_[index];
  if (!place.tensor.initialized()) {
    TRY_ASSIGN(place.tensor, MakeZeros(context, dtype_, shape));
  }
  place.read = true;
  if (!clear_after_read_) return place.tensor;
  place.cleared = true;
  return std::move(place.tensor);
}

std::string TensorArray::DebugString() const {
  MutexLock lock(mu_);
  return Format("TensorArray {} of {} {} {}", name_, size_, dtype_, element_shape_);
}

size_t TensorArray::MemoryBytes() const {
  MutexLock lock(mu_);
  size_t bytes = places_.size() * sizeof(Place);
  for (const Place& place : places_) {
    if (place.tensor.initialized()) bytes += place.tensor.bytes();
  }
  return bytes;
}

}  // namespace penstock::ops
