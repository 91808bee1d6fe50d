#include "penstock/ops/reduction.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "penstock/kernels/reduce.h"
#include "penstock/ops/dtype_switch.h"

namespace penstock::ops {
namespace {

using kernels::ReduceKind;
using kernels::ReduceShape;
using AxisMask = std::array<bool, Shape::kMaxRank>;

// Marks the axes that are reduced.
Status MarkAxes(const Integers& axes, int rank, AxisMask* reduced) {
  reduced->fill(false);
  for (const int64_t axis : axes.values()) {
    if (axis < -rank || axis >= rank) {
      return InvalidArgument(
          "Invalid reduction dimension: expected one in [{}, {}) for an input of rank {}, got {}",
          -rank, rank, rank, axis);
    }
    bool& mark = (*reduced)[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
    if (mark) {
      return InvalidArgument(
          "Axes must differ, got dimension {} more than once in the input of "
          "rank {}",
          axis, rank);
    }
    mark = true;
  }
  return OkStatus();
}

Result<ReduceShape> LayOut(const Tensor& input, const Integers& axes) {
  AxisMask reduced;
  TRY(MarkAxes(axes, input.shape().rank(), &reduced));
  return ReduceShape(input.shape().dims().data(), reduced.data(), input.shape().rank());
}

template <class TypeSet>
Status ReduceTo(ReduceKind kind, CpuContext& context, const Tensor& input, const Integers& axes,
                Tensor& output) {
  TRY_ASSIGN(const ReduceShape shape, LayOut(input, axes));
  return ForDType(input.dtype(), TypeSet(), [&]<class T>() {
    kernels::Reduce<T>(kind, input.data<T>(), shape, output.mutable_data<T>(), context.parallel());
    return OkStatus();
  });
}

// What squares of T are summed in.
template <class T>
struct SquareSum {
  using Type = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
};
template <>
struct SquareSum<double> {
  using Type = double;
};
template <>
struct SquareSum<complex64> {
  using Type = float;
};
template <>
struct SquareSum<complex128> {
  using Type = double;
};
template <class T>
requires(std::is_same_v<T, float> || std::is_same_v<T, half> ||
         std::is_same_v<T, bfloat16>) struct SquareSum<T> {
  using Type = float;
};

template <class A, class T>
A SquareOf(const T& x) {
  if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
    return std::norm(x);
  } else if constexpr (std::is_integral_v<A>) {
    // Unsigned: a square may wrap.
    const auto wide = static_cast<uint64_t>(static_cast<A>(x));
    return static_cast<A>(wide * wide);
  } else {
    const A wide = static_cast<A>(x);
    return wide * wide;
  }
}

// Writes finish(sum of squares) for each output.
template <class T, class Finish>
Status SumSquares(CpuContext& context, const Tensor& input, const ReduceShape& shape,
                  Tensor& output, Finish finish) {
  using A = typename SquareSum<T>::Type;
  TRY_ASSIGN(Tensor squares, context.Allocate(kDTypeOf<A>, input.shape()));
  TRY_ASSIGN(Tensor sums, context.Allocate(kDTypeOf<A>, output.shape()));
  const T* from = input.data<T>();
  A* to = squares.mutable_data<A>();
  context.parallel()(input.num_elements(), 2, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = SquareOf<A>(from[i]);
  });
  kernels::Reduce<A>(ReduceKind::kSum, to, shape, sums.mutable_data<A>(), context.parallel());
  for (int64_t i = 0; i < sums.num_elements(); ++i) {
    output.mutable_data<T>()[i] = static_cast<T>(finish(sums.data<A>()[i]));
  }
  return OkStatus();
}

}  // namespace

Result<Shape> ReducedShape(const Shape& input, const Integers& axes, bool keep_dims) {
  if (axes.shape().has_rank() && axes.shape().rank() > 1) {
    return InvalidArgument("reduction_indices must be a scalar or a vector, got shape {}",
                           axes.shape());
  }
  if (!input.has_rank()) return Shape::Unknown();
  const int rank = input.rank();
  if (!axes.known()) {
    if (keep_dims) return Shape::UnknownOfRank(rank);
    const std::optional<int64_t> count = axes.shape().CheckedNumElements();
    if (!count) return Shape::Unknown();
    if (*count > rank) {
      return InvalidArgument("an input of rank {} has {} axes to reduce, got {} reduction_indices",
                             rank, rank, *count);
    }
    return Shape::UnknownOfRank(rank - static_cast<int>(*count));
  }
  AxisMask reduced;
  TRY(MarkAxes(axes, rank, &reduced));
  Shape out;
  for (int axis = 0; axis < rank; ++axis) {
    if (!reduced[static_cast<size_t>(axis)]) {
      out.Append(input.dim(axis));
    } else if (keep_dims) {
      out.Append(1);
    }
  }
  return out;
}

Status Sum::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& axes,
                       Tensor& output) const {
  return ReduceTo<PlainNumbers>(ReduceKind::kSum, context, input, axes, output);
}
Status Mean::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& axes,
                        Tensor& output) const {
  return ReduceTo<PlainNumbers>(ReduceKind::kMean, context, input, axes, output);
}
Status Prod::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& axes,
                        Tensor& output) const {
  return ReduceTo<PlainNumbers>(ReduceKind::kProd, context, input, axes, output);
}
Status Max::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& axes,
                       Tensor& output) const {
  return ReduceTo<PlainRealNumbers>(ReduceKind::kMax, context, input, axes, output);
}
Status Min::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& axes,
                       Tensor& output) const {
  return ReduceTo<PlainRealNumbers>(ReduceKind::kMin, context, input, axes, output);
}
Status All::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& axes,
                       Tensor& output) const {
  return ReduceTo<Types<bool>>(ReduceKind::kAll, context, input, axes, output);
}
Status Any::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& axes,
                       Tensor& output) const {
  return ReduceTo<Types<bool>>(ReduceKind::kAny, context, input, axes, output);
}

Status EuclideanNorm::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& axes,
                                 Tensor& output) const {
  TRY_ASSIGN(const ReduceShape shape, LayOut(input, axes));
  return ForDType(input.dtype(), PlainNumbers(), [&]<class T>() {
    return SumSquares<T>(context, input, shape, output, [](auto sum) {
      if constexpr (std::is_integral_v<decltype(sum)>) {
        return std::sqrt(static_cast<double>(std::max<decltype(sum)>(sum, 0)));
      } else {
        return std::sqrt(sum);
      }
    });
  });
}

Status L2Loss::ComputeCpu(CpuContext& context, const Tensor& t, Tensor& output) const {
  const int64_t count = t.num_elements();
  const bool reduced = true;
  const ReduceShape shape(&count, &reduced, 1);
  return ForDType(t.dtype(), Types<float, double, half, bfloat16>(), [&]<class T>() {
    return SumSquares<T>(context, t, shape, output, [](auto sum) { return sum / 2; });
  });
}

void RegisterReductions(Registrar& registrar) {
  registrar.AddAll<Sum, Mean, Prod, Max, Min, All, Any, EuclideanNorm, L2Loss>();
}

}  // namespace penstock::ops
