#include "penstock/ops/transpose.h"

#include <algorithm>
#include <vector>

#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

// The axis of x that each axis of the result is.
Result<std::vector<int>> ResolvePermutation(const Integers& perm, int rank) {
  std::vector<int> axes;
  std::vector<bool> seen(rank, false);
  for (const int64_t value : perm.values()) {
    TRY_ASSIGN(const int axis, ResolveAxis(value, rank));
    if (seen[axis]) return InvalidArgument("perm must name each axis once, got {} twice", axis);
    seen[axis] = true;
    axes.push_back(axis);
  }
  return axes;
}

void TransposeElements(CpuContext& context, const Tensor& x, const std::vector<int>& axes,
                       Tensor& y) {
  const auto strides = DenseStrides(x.shape().dims());
  StridedPart src;
  for (const int axis : axes) src.strides.push_back(strides[axis]);
  const auto dims = y.shape().dims();
  CopyElements(x, src, y, DensePart(dims), dims, context.parallel());
}

template <class T>
void ConjugateInPlace(std::span<T> values, const ParallelFor& each) {
  each(static_cast<int64_t>(values.size()), /*cost=*/1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) values[i] = std::conj(values[i]);
  });
}

void ReverseElements(CpuContext& context, const Tensor& from, const std::vector<bool>& backwards,
                     Tensor& to) {
  const auto dims = from.shape().dims();
  StridedPart src = DensePart(dims);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!backwards[i] || dims[i] == 0) continue;
    src.offset += (dims[i] - 1) * src.strides[i];
    src.strides[i] = -src.strides[i];
  }
  CopyElements(from, src, to, DensePart(dims), dims, context.parallel());
}

Result<std::vector<bool>> AxesToReverse(const Integers& axis, int rank) {
  std::vector<bool> backwards(rank, false);
  for (const int64_t value : axis.values()) {
    TRY_ASSIGN(const int resolved, ResolveAxis(value, rank));
    if (backwards[resolved]) {
      return InvalidArgument("axis must name each axis once, got {} twice", resolved);
    }
    backwards[resolved] = true;
  }
  return backwards;
}

}  // namespace

Result<Shape> Transpose::InferShape(const Shape& x, const Integers& perm) const {
  TRY(CheckVector(perm.shape(), "perm"));
  const int64_t count = perm.shape().has_rank() ? perm.shape()[0] : Shape::kUnknownDim;
  if (!x.has_rank()) {
    if (count < 0 || count > Shape::kMaxRank) return Shape::Unknown();
    return Shape::UnknownOfRank(static_cast<int>(count));
  }
  if (count >= 0 && count != x.rank()) {
    return InvalidArgument("perm must have one element for each of {} axes, got {}", x.rank(),
                           count);
  }
  if (!perm.known()) return Shape::UnknownOfRank(x.rank());
  TRY_ASSIGN(const std::vector<int> axes, ResolvePermutation(perm, x.rank()));
  Shape shape = x;
  for (int i = 0; i < x.rank(); ++i) shape.set_dim(i, x[axes[i]]);
  return shape;
}

void Transpose::Gradient(Gradients& g) const {
  g.Set(0, Op("Transpose", g.dy(), Op("InvertPermutation", g.input(1))));
}

Status Transpose::ComputeCpu(CpuContext& context, const Tensor& x, const Integers& perm,
                             Tensor& y) const {
  TRY_ASSIGN(const std::vector<int> axes, ResolvePermutation(perm, x.shape().rank()));
  TransposeElements(context, x, axes, y);
  return OkStatus();
}

Result<Shape> ConjugateTranspose::InferShape(const Shape& x, const Integers& perm) const {
  return Transpose().InferShape(x, perm);
}

void ConjugateTranspose::Gradient(Gradients& g) const {
  g.Set(0, Op("ConjugateTranspose", g.dy(), Op("InvertPermutation", g.input(1))));
}

Status ConjugateTranspose::ComputeCpu(CpuContext& context, const Tensor& x, const Integers& perm,
                                      Tensor& y) const {
  TRY(Transpose().ComputeCpu(context, x, perm, y));
  if (y.dtype() == DType::kComplex64) {
    ConjugateInPlace(y.mutable_values<complex64>(), context.parallel());
  } else if (y.dtype() == DType::kComplex128) {
    ConjugateInPlace(y.mutable_values<complex128>(), context.parallel());
  }
  return OkStatus();
}

Result<Shape> InvertPermutation::InferShape(const Shape& x) const {
  TRY(CheckVector(x, "x"));
  return x.has_rank() ? x : Shape{Shape::kUnknownDim};
}

template <class T>
Status InvertPermutation::ComputeCpu(CpuContext&, std::span<const T> x, std::span<T> y) const {
  const int64_t n = static_cast<int64_t>(x.size());
  std::fill(y.begin(), y.end(), T{-1});
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = x[i];
    if (!InRange(at, n)) return InvalidArgument("x must have values in [0, {}), got {}", n, at);
    if (y[at] != -1) return InvalidArgument("x must have no value twice, got {}", at);
    y[at] = static_cast<T>(i);
  }
  return OkStatus();
}

Result<Shape> ReverseV2::InferShape(const Shape& tensor, const Integers& axis) const {
  TRY(CheckVector(axis.shape(), "axis"));
  if (tensor.has_rank() && axis.known()) TRY(AxesToReverse(axis, tensor.rank()));
  return tensor;
}

void ReverseV2::Gradient(Gradients& g) const { g.Set(0, Op("ReverseV2", g.dy(), g.input(1))); }

Status ReverseV2::ComputeCpu(CpuContext& context, const Tensor& tensor, const Integers& axis,
                             Tensor& output) const {
  TRY_ASSIGN(const std::vector<bool> backwards, AxesToReverse(axis, tensor.shape().rank()));
  ReverseElements(context, tensor, backwards, output);
  return OkStatus();
}

Result<Shape> Reverse::InferShape(const Shape& tensor, const Shape& dims) const {
  TRY(CheckVector(dims, "dims"));
  if (tensor.has_rank() && dims.has_rank() && dims[0] >= 0 && dims[0] != tensor.rank()) {
    return InvalidArgument("dims must have one element for each of {} axes, got {}", tensor.rank(),
                           dims[0]);
  }
  return tensor;
}

void Reverse::Gradient(Gradients& g) const { g.Set(0, Op("Reverse", g.dy(), g.input(1))); }

Status Reverse::ComputeCpu(CpuContext& context, const Tensor& tensor, std::span<const bool> dims,
                           Tensor& output) const {
  ReverseElements(context, tensor, std::vector<bool>(dims.begin(), dims.end()), output);
  return OkStatus();
}

Result<Shape> ReverseSequence::InferShape(const Shape& input, const Shape& seq_lengths) const {
  TRY(CheckVector(seq_lengths, "seq_lengths"));
  if (!input.has_rank()) return input;
  TRY_ASSIGN(const int sequence, ResolveAxis(seq_dim, input.rank()));
  TRY_ASSIGN(const int batch, ResolveAxis(batch_dim, input.rank()));
  if (sequence == batch) {
    return InvalidArgument("seq_dim and batch_dim must differ, got {} for both", batch);
  }
  const int64_t count = seq_lengths.has_rank() ? seq_lengths[0] : Shape::kUnknownDim;
  if (count >= 0 && input[batch] >= 0 && count != input[batch]) {
    return InvalidArgument(
        "seq_lengths must have {} elements, one for each index of axis {}, got {}", input[batch],
        batch, count);
  }
  return input;
}

void ReverseSequence::Gradient(Gradients& g) const {
  g.Set(0, Op("ReverseSequence", g.dy(), g.input(1),
              {{"seq_dim", seq_dim}, {"batch_dim", batch_dim}}));
}

Status ReverseSequence::ComputeCpu(CpuContext& context, const Tensor& input,
                                   const Integers& seq_lengths, Tensor& output) const {
  TRY_ASSIGN(const int sequence, ResolveAxis(seq_dim, input.shape().rank()));
  TRY_ASSIGN(const int batch, ResolveAxis(batch_dim, input.shape().rank()));
  const int64_t extent = input.shape()[sequence];
  for (const int64_t length : seq_lengths.values()) {
    if (length < 0 || length > extent) {
      return InvalidArgument("seq_lengths must be in [0, {}], got {}", extent, length);
    }
  }
  const StridedPart whole = DensePart(input.shape().dims());
  std::vector<int64_t> dims(input.shape().dims().begin(), input.shape().dims().end());
  dims[batch] = 1;
  for (int64_t b = 0; b < input.shape()[batch]; ++b) {
    const int64_t length = seq_lengths[b], step = whole.strides[sequence];
    StridedPart src = whole, dst = whole;
    src.offset = dst.offset = b * whole.strides[batch];
    dims[sequence] = length;
    src.offset += std::max<int64_t>(length - 1, 0) * step;
    src.strides[sequence] = -step;
    CopyElements(input, src, output, dst, dims, context.parallel());
    dims[sequence] = extent - length;
    src = dst;
    src.offset = dst.offset = dst.offset + length * step;
    CopyElements(input, src, output, dst, dims, context.parallel());
  }
  return OkStatus();
}

void RegisterTranspose(Registrar& registrar) {
  registrar.AddAll<Transpose, ConjugateTranspose, InvertPermutation, ReverseV2, Reverse,
                   ReverseSequence>();
}

}  // namespace penstock::ops
