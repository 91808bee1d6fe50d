#include "penstock/ops/collections/pieces.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "penstock/core/checked.h"
#include "penstock/core/resource.h"
#include "penstock/kernels/broadcast.h"
#include "penstock/ops/elementwise.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

template <class T>
void CopyObjects(const Tensor& from, int64_t begin, Tensor& to, int64_t at, int64_t n) {
  std::copy_n(from.data<T>() + begin, n, to.mutable_data<T>() + at);
}

template <class T>
void ClearObjects(Tensor& to, int64_t at, int64_t n) {
  std::fill_n(to.mutable_data<T>() + at, n, T());
}

// Cycles that moving n elements takes, for splitting the work.
double CostOf(DType dtype, int64_t n) {
  return static_cast<double>(n) * static_cast<double>(SizeOf(dtype)) * 0.1 + 10;
}

Status TooLarge(int64_t count, const Shape& shape) {
  return InvalidArgument("{} pieces of shape {} make a tensor that is too large", count, shape);
}

}  // namespace

void CopyPiece(const Tensor& from, int64_t begin, Tensor& to, int64_t at, int64_t n) {
  if (n == 0) return;
  switch (from.dtype()) {
    case DType::kString:
      return CopyObjects<std::string>(from, begin, to, at, n);
    case DType::kResource:
      return CopyObjects<ResourceHandle>(from, begin, to, at, n);
    case DType::kVariant:
      return CopyObjects<Variant>(from, begin, to, at, n);
    default:
      break;
  }
  const size_t bytes = SizeOf(from.dtype());
  std::memcpy(static_cast<char*>(to.mutable_raw()) + static_cast<size_t>(at) * bytes,
              static_cast<const char*>(from.raw()) + static_cast<size_t>(begin) * bytes,
              static_cast<size_t>(n) * bytes);
}

void ZeroPiece(Tensor& to, int64_t at, int64_t n) {
  if (n == 0) return;
  switch (to.dtype()) {
    case DType::kString:
      return ClearObjects<std::string>(to, at, n);
    case DType::kResource:
      return ClearObjects<ResourceHandle>(to, at, n);
    case DType::kVariant:
      return ClearObjects<Variant>(to, at, n);
    default:
      break;
  }
  const size_t bytes = SizeOf(to.dtype());
  std::memset(static_cast<char*>(to.mutable_raw()) + static_cast<size_t>(at) * bytes, 0,
              static_cast<size_t>(n) * bytes);
}

Result<Tensor> MakeZeros(KernelContext& context, DType dtype, const Shape& shape) {
  TRY_ASSIGN(Tensor zeros, context.Allocate(dtype, shape));
  ZeroElements(zeros, context.parallel());
  return zeros;
}

Result<Tensor> StackPieces(KernelContext& context, DType dtype, const Shape& shape, int64_t count,
                           PieceAt piece) {
  if (shape.rank() >= Shape::kMaxRank) return TooLarge(count, shape);
  TRY_ASSIGN(Tensor stacked, context.Allocate(dtype, Prepended(count, shape)));
  if (stacked.num_elements() == 0) return stacked;
  const int64_t n = shape.num_elements();
  context.parallel()(count, CostOf(dtype, n), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Tensor& from = piece(i);
      if (from.initialized()) {
        CopyPiece(from, 0, stacked, i * n, n);
      } else {
        ZeroPiece(stacked, i * n, n);
      }
    }
  });
  return stacked;
}

Result<Tensor> ConcatPieces(KernelContext& context, DType dtype, const Shape& rest,
                            std::span<const int64_t> lengths, PieceAt piece) {
  const int64_t count = static_cast<int64_t>(lengths.size());
  if (rest.rank() >= Shape::kMaxRank) return TooLarge(count, rest);
  std::vector<int64_t> starts(lengths.size() + 1, 0);
  for (size_t i = 0; i < lengths.size(); ++i) {
    const std::optional<int64_t> next = CheckedAdd(starts[i], lengths[i]);
    if (!next) return TooLarge(count, rest);
    starts[i + 1] = *next;
  }
  TRY_ASSIGN(Tensor joined, context.Allocate(dtype, Prepended(starts.back(), rest)));
  if (joined.num_elements() == 0) return joined;
  const int64_t row = rest.num_elements();
  const double cost = CostOf(dtype, joined.num_elements() / count);
  context.parallel()(count, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Tensor& from = piece(i);
      if (from.initialized()) {
        CopyPiece(from, 0, joined, starts[i] * row, lengths[i] * row);
      } else {
        ZeroPiece(joined, starts[i] * row, lengths[i] * row);
      }
    }
  });
  return joined;
}

Tensor RowOf(const Tensor& tensor, int64_t i) {
  const Shape& shape = tensor.shape();
  return tensor.Rows(i, i + 1).Reshaped(shape.Slice(1, shape.rank()));
}

Status CheckLengths(std::span<const int64_t> lengths, const Shape& value) {
  int64_t total = 0;
  for (const int64_t length : lengths) {
    if (length < 0) return InvalidArgument("lengths must not be negative, got {}", length);
    const std::optional<int64_t> sum = CheckedAdd(total, length);
    if (!sum) return InvalidArgument("the sum of lengths must fit into an int64");
    total = *sum;
  }
  if (total == value.dim(0)) return OkStatus();
  return InvalidArgument(
      "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {} and "
      "value's shape is: {}",
      total, value);
}

Status AddTo(KernelContext& context, Tensor& sum, const Tensor& change) {
  const ElementwiseBlock* block = StandardElementwise().Find("AddV2", sum.dtype());
  if (block == nullptr) return Unimplemented("there is no CPU kernel to add {}", sum.dtype());
  Tensor target;  // holds a second count of the same memory only where it is written in place
  if (!sum.OwnsUniquely()) {
    TRY_ASSIGN(target, context.Allocate(sum.dtype(), sum.shape()));
  } else {
    target = sum;
  }
  const int bytes = static_cast<int>(SizeOf(sum.dtype()));
  const kernels::Operand operands[] = {kernels::Operand::Dense(sum.raw(), bytes),
                                       kernels::Operand::Dense(change.raw(), bytes)};
  kernels::RunElementwise(block->function, operands, sum.shape().dims(), target.mutable_raw(),
                          bytes, block->cost, context.parallel());
  sum = std::move(target);
  return OkStatus();
}

Shape Prepended(int64_t first, const Shape& rest) {
  std::vector<int64_t> dims{first};
  dims.insert(dims.end(), rest.dims().begin(), rest.dims().end());
  return Shape(dims);
}

}  // namespace penstock::ops
