#include "penstock/ops/linalg/fft.h"

#include <algorithm>
#include <string>
#include <vector>

#include "penstock/core/checked.h"
#include "penstock/kernels/fft.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/index_rows.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

// Makes a plan for `lines` lines of one length and the memory that it works in, and calls run(plan,
// scratch, blocks).
template <class Run>
Status WithPlan(CpuContext& context, int64_t length, int64_t lines, Run run) {
  if (length > kernels::FftPlan::kMaxLength) {
    return InvalidArgument("a transform has at most {} values, got {}",
                           kernels::FftPlan::kMaxLength, length);
  }
  TRY_ASSIGN(Tensor tables,
             context.Allocate(DType::kDouble, Shape{kernels::FftPlan::TableSize(length)}));
  const kernels::FftPlan plan(length, tables.mutable_data<double>());
  const int64_t needed = (lines + kernels::FftPlan::kLines - 1) / kernels::FftPlan::kLines;
  const int64_t blocks = std::clamp<int64_t>(needed, 1, context.parallel().threads());
  const auto size = CheckedMul(plan.BlockSize(), blocks);
  if (!size) return ResourceExhausted("the scratch memory of a transform of {} values", length);
  TRY_ASSIGN(Tensor scratch, context.Allocate(DType::kDouble, Shape{*size}));
  run(plan, scratch.mutable_data<double>(), blocks);
  return OkStatus();
}

// Transforms along one axis; from and to may be the same tensor.
template <class R>
Status TransformAxis(CpuContext& context, const Tensor& from, int axis, bool inverse, Tensor& to) {
  const Shape& shape = to.shape();
  const kernels::FftLines lines{ProductOf(shape, 0, axis), shape[axis],
                                ProductOf(shape, axis + 1, shape.rank())};
  return WithPlan(context, lines.length, lines.outer * lines.inner,
                  [&](const kernels::FftPlan& plan, double* scratch, int64_t blocks) {
                    kernels::Fft<R>(plan, from.data<std::complex<R>>(), lines, inverse,
                                    to.mutable_data<std::complex<R>>(), scratch, blocks,
                                    context.parallel());
                  });
}

// The first part of `input` that has these extents along its last axes, dense.
Result<Tensor> Cropped(CpuContext& context, const Tensor& input,
                       const std::vector<int64_t>& extents) {
  Shape shape = input.shape();
  const int first = shape.rank() - static_cast<int>(extents.size());
  for (size_t i = 0; i < extents.size(); ++i)
    shape.set_dim(first + static_cast<int>(i), extents[i]);
  if (shape == input.shape()) return input;
  TRY_ASSIGN(Tensor part, context.Allocate(input.dtype(), shape));
  CopyElements(input, DensePart(input.shape().dims()), part, DensePart(shape.dims()), shape.dims(),
               context.parallel());
  return part;
}

// How many values a real transform of length n keeps.
int64_t HalfLength(int64_t n) { return n == 0 ? 0 : n / 2 + 1; }

// The shape of a real transform to complex numbers or from them. An axis of the input that is too
// short is refused, unless it is empty.
Result<Shape> InferReal(const Shape& input, const Integers& fft_length, int axes, bool to_complex) {
  TRY(CheckRankAtLeast(input, axes, "input"));
  TRY(CheckVector(fft_length.shape(), "fft_length"));
  if (fft_length.shape().has_rank() && fft_length.shape()[0] >= 0 &&
      fft_length.shape()[0] != axes) {
    return InvalidArgument("fft_length must have {} elements, got shape {}", axes,
                           fft_length.shape());
  }
  if (!input.has_rank()) return input;
  Shape shape = input;
  for (int i = 0; i < axes; ++i) {
    const int axis = input.rank() - axes + i;
    if (!fft_length.known()) {
      shape.set_dim(axis, Shape::kUnknownDim);
      continue;
    }
    const bool last = i == axes - 1;
    const int64_t length = fft_length[static_cast<size_t>(i)];
    const int64_t needed = last && !to_complex ? HalfLength(length) : length;
    if (length < 0) return InvalidArgument("fft_length must not be negative, got {}", length);
    if (input[axis] > 0 && input[axis] < needed) {
      return InvalidArgument("Input dimension {} must have length of at least {} but got: {}", axis,
                             needed, input[axis]);
    }
    shape.set_dim(axis, last && to_complex ? HalfLength(length) : length);
  }
  return Shape::Make(shape.dims());
}

// Calls f<R>() for the real type that both belong to.
template <class F>
Status ForPair(const Tensor& real, const Tensor& complex, F f) {
  if (real.dtype() == DType::kFloat && complex.dtype() == DType::kComplex64) {
    return f.template operator()<float>();
  }
  if (real.dtype() == DType::kDouble && complex.dtype() == DType::kComplex128) {
    return f.template operator()<double>();
  }
  return InvalidArgument("Tcomplex must be the complex type of Treal, got {} and {}",
                         complex.dtype(), real.dtype());
}

// ---- gradients ----

// The number of values of a transform, as `like` is typed.
Expr TransformSize(const Expr& extents, const Expr& like) {
  return CastTo(Op("Prod", extents, IntScalar(extents.scope(), 0)), like.dtype());
}

// The extents of the last axes.
Expr LastExtents(const Expr& x, int axes) {
  const Scope& s = x.scope();
  return s.Add("StridedSlice",
               {ShapeOf(x), IntVector(s, {-axes}), IntVector(s, {0}), IntVector(s, {1})},
               {{"end_mask", 1}});
}

// x with zeros behind, along its last axes, up to `extents`.
Expr Padded(const Expr& x, const Expr& extents, int axes) {
  const Scope& s = x.scope();
  const Expr none = Op("ZerosLike", ShapeOf(x));
  const Expr first =
      s.Add("StridedSlice", {none, IntVector(s, {0}), IntVector(s, {-axes}), IntVector(s, {1})},
            {{"begin_mask", 1}});
  const Expr behind =
      s.Add("ConcatV2", {first, extents - LastExtents(x, axes), IntScalar(s, 0)}, {{"N", 2}});
  return Op("Pad", x, s.Add("Pack", {none, behind}, {{"N", 2}, {"axis", 1}}));
}

std::string NameOf(std::string_view kind, int axes) {
  return std::string(kind) + (axes == 1 ? "" : std::to_string(axes) + "D");
}

}  // namespace

template <FixedString Name, int Axes, bool Inverse, class T>
Result<Shape> ComplexFft<Name, Axes, Inverse, T>::InferShape(const Shape& input) const {
  TRY(CheckRankAtLeast(input, Axes, "input"));
  return input;
}

template <FixedString Name, int Axes, bool Inverse, class T>
void ComplexFft<Name, Axes, Inverse, T>::Gradient(Gradients& g) const {
  const Expr size = TransformSize(LastExtents(g.dy(), Axes), g.dy());
  const Expr other = Op(NameOf(Inverse ? "FFT" : "IFFT", Axes), g.dy());
  g.Set(0, Inverse ? other / size : other * size);
}

template <FixedString Name, int Axes, bool Inverse, class T>
Status ComplexFft<Name, Axes, Inverse, T>::ComputeCpu(CpuContext& context, const Tensor& input,
                                                      Tensor& output) const {
  if (input.num_elements() == 0) return OkStatus();
  const int rank = input.shape().rank();
  return ForDType(input.dtype(), Types<complex64, complex128>(), [&]<class C>() {
    for (int axis = rank - 1; axis >= rank - Axes; --axis) {
      TRY(TransformAxis<typename C::value_type>(context, axis == rank - 1 ? input : output, axis,
                                                Inverse, output));
    }
    return OkStatus();
  });
}

template <FixedString Name, int Axes>
Result<Shape> RealToComplexFft<Name, Axes>::InferShape(const Shape& input,
                                                       const Integers& fft_length) const {
  return InferReal(input, fft_length, Axes, true);
}

// The adjoint: the other half counts as 0, and of the result only the real part matters.
template <FixedString Name, int Axes>
void RealToComplexFft<Name, Axes>::Gradient(Gradients& g) const {
  const Expr dy = g.dy(), length = g.input(1);
  const Expr whole = Op(NameOf("IFFT", Axes), Padded(dy, length, Axes));
  const DType real = g.input(0).dtype();
  const Expr part = Op("Real", whole, {{"Tout", real}});
  const Expr size = CastTo(Op("Prod", length, IntScalar(g.scope(), 0)), real);
  g.Set(0, Padded(part * size, LastExtents(g.input(0), Axes), Axes));
}

template <FixedString Name, int Axes>
Status RealToComplexFft<Name, Axes>::ComputeCpu(CpuContext& context, const Tensor& input,
                                                const Integers& fft_length, Tensor& output) const {
  if (output.num_elements() == 0) return OkStatus();
  if (input.num_elements() == 0) {
    ZeroElements(output, context.parallel());
    return OkStatus();
  }
  return ForPair(input, output, [&]<class R>() {
    TRY_ASSIGN(const Tensor real, Cropped(context, input, fft_length.values()));
    const int rank = real.shape().rank();
    const int64_t length = real.shape()[rank - 1];
    const int64_t lines = real.num_elements() / length;
    TRY(WithPlan(
        context, length, lines, [&](const kernels::FftPlan& plan, double* scratch, int64_t blocks) {
          kernels::RealFft<R>(plan, real.data<R>(), lines, output.mutable_data<std::complex<R>>(),
                              scratch, blocks, context.parallel());
        }));
    for (int axis = rank - 2; axis >= rank - Axes; --axis) {
      TRY(TransformAxis<R>(context, output, axis, false, output));
    }
    return OkStatus();
  });
}

template <FixedString Name, int Axes>
Result<Shape> ComplexToRealFft<Name, Axes>::InferShape(const Shape& input,
                                                       const Integers& fft_length) const {
  return InferReal(input, fft_length, Axes, false);
}

// Values that stand for their mirror images too count twice.
template <FixedString Name, int Axes>
void ComplexToRealFft<Name, Axes>::Gradient(Gradients& g) const {
  const Scope& s = g.scope();
  const Expr dy = g.dy(), length = g.input(1);
  const Expr transformed = Op(NameOf("RFFT", Axes), dy, length, {{"Tcomplex", g.input(0).dtype()}});
  const Expr n =
      s.Add("StridedSlice", {length, IntVector(s, {-1}), IntVector(s, {0}), IntVector(s, {1})},
            {{"end_mask", 1}, {"shrink_axis_mask", 1}});
  const Expr half =
      s.Add("StridedSlice",
            {ShapeOf(transformed), IntVector(s, {-1}), IntVector(s, {0}), IntVector(s, {1})},
            {{"end_mask", 1}, {"shrink_axis_mask", 1}});
  const Expr k = s.Add("Range", {IntScalar(s, 0), half, IntScalar(s, 1)});
  const Expr alone = Op("LogicalOr", Op("Equal", k, IntScalar(s, 0)), Op("Equal", k * 2, n));
  const Expr weights = Op("SelectV2", alone, s.Like(dy, 1), s.Like(dy, 2)) /
                       CastTo(Op("Prod", length, IntScalar(s, 0)), dy.dtype());
  const Expr gradient = transformed * CastTo(weights, transformed.dtype());
  g.Set(0, Padded(gradient, LastExtents(g.input(0), Axes), Axes));
}

template <FixedString Name, int Axes>
Status ComplexToRealFft<Name, Axes>::ComputeCpu(CpuContext& context, const Tensor& input,
                                                const Integers& fft_length, Tensor& output) const {
  if (output.num_elements() == 0) return OkStatus();
  if (input.num_elements() == 0) {
    ZeroElements(output, context.parallel());
    return OkStatus();
  }
  return ForPair(output, input, [&]<class R>() {
    std::vector<int64_t> extents = fft_length.values();
    extents.back() = HalfLength(extents.back());
    TRY_ASSIGN(Tensor complex, Cropped(context, input, extents));
    const int rank = complex.shape().rank();
    for (int axis = rank - Axes; axis < rank - 1; ++axis) {
      TRY_ASSIGN(Tensor next, context.Allocate(complex.dtype(), complex.shape()));
      TRY(TransformAxis<R>(context, complex, axis, true, next));
      complex = std::move(next);
    }
    const int64_t length = output.shape()[rank - 1];
    const int64_t lines = output.num_elements() / length;
    return WithPlan(
        context, length, lines, [&](const kernels::FftPlan& plan, double* scratch, int64_t blocks) {
          kernels::InverseRealFft<R>(plan, complex.data<std::complex<R>>(), lines,
                                     output.mutable_data<R>(), scratch, blocks, context.parallel());
        });
  });
}

void RegisterFft(Registrar& registrar) {
  registrar.AddAll<FFT, FFT2D, FFT3D, IFFT, IFFT2D, IFFT3D, RFFT, RFFT2D, RFFT3D, IRFFT, IRFFT2D,
                   IRFFT3D>();
  registrar.AddAll<BatchFFT, BatchFFT2D, BatchFFT3D, BatchIFFT, BatchIFFT2D, BatchIFFT3D>();
}

}  // namespace penstock::ops
