#include "penstock/ops/pad.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "penstock/kernels/copy.h"
#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

// Checks [n, 2] paddings against an input of rank n. Nothing but the rank may be known.
Status CheckPaddings(const Shape& input, const Integers& paddings) {
  const Shape& shape = paddings.shape();
  TRY(CheckRank(shape, 2, "paddings"));
  if (!shape.has_rank()) return OkStatus();
  if (shape[1] >= 0 && shape[1] != 2) {
    return InvalidArgument("paddings must have 2 columns, got shape {}", shape);
  }
  if (input.has_rank() && shape[0] >= 0 && shape[0] != input.rank()) {
    return InvalidArgument("paddings must have a row for each of {} axes, got {}", input.rank(),
                           shape[0]);
  }
  if (!paddings.known()) return OkStatus();
  for (const int64_t padding : paddings.values()) {
    if (padding < 0) return InvalidArgument("paddings must not be negative, got {}", padding);
  }
  return OkStatus();
}

// A shape of unknown extents, as far as the rank is known.
Shape UnknownLike(const Shape& input, const Integers& paddings) {
  if (input.has_rank()) return Shape::UnknownOfRank(input.rank());
  const Shape& shape = paddings.shape();
  if (!shape.has_rank() || shape[0] < 0 || shape[0] > Shape::kMaxRank) return Shape::Unknown();
  return Shape::UnknownOfRank(static_cast<int>(shape[0]));
}

Result<Shape> InferPadded(const Shape& input, const Integers& paddings) {
  TRY(CheckPaddings(input, paddings));
  if (!paddings.known() || !input.has_rank()) return UnknownLike(input, paddings);
  std::vector<int64_t> dims;
  for (int i = 0; i < input.rank(); ++i) {
    if (input[i] < 0) {
      dims.push_back(Shape::kUnknownDim);
      continue;
    }
    const auto with_front = CheckedAdd(input[i], paddings[2 * i]);
    const auto all = with_front ? CheckedAdd(*with_front, paddings[2 * i + 1]) : std::nullopt;
    if (!all) return InvalidArgument("axis {} with its padding must fit in 64 bits", i);
    dims.push_back(*all);
  }
  return Shape::Make(dims);
}

// How a border lies around a tensor.
struct Border {
  std::vector<int64_t> inner;   // extents without the border
  std::vector<int64_t> before;  // and of its two sides
  std::vector<int64_t> after;
  std::vector<int64_t> strides;  // of the tensor with the border

  Border(const Shape& inner_shape, const Shape& outer_shape, const Integers& paddings)
      : inner(inner_shape.dims().begin(), inner_shape.dims().end()),
        strides(DenseStrides(outer_shape.dims())) {
    for (size_t i = 0; i < inner.size(); ++i) {
      before.push_back(paddings[2 * i]);
      after.push_back(paddings[2 * i + 1]);
    }
  }
  // The elements within the border.
  StridedPart Inside() const {
    StridedPart part{0, strides};
    for (size_t i = 0; i < inner.size(); ++i) part.offset += before[i] * strides[i];
    return part;
  }
  // A side of axis `axis`: there all of the later axes, and of the earlier ones what lies inside.
  // The sides of all axes together are the border, and no two overlap.
  std::vector<int64_t> SideDims(size_t axis, bool front) const {
    std::vector<int64_t> dims = inner;
    dims[axis] = front ? before[axis] : after[axis];
    for (size_t i = axis + 1; i < dims.size(); ++i) dims[i] += before[i] + after[i];
    return dims;
  }
  // Its part, when along `axis` it begins at `at`.
  StridedPart Side(size_t axis, int64_t at) const {
    StridedPart part{at * strides[axis], strides};
    for (size_t i = 0; i < axis; ++i) part.offset += before[i] * strides[i];
    return part;
  }
};

void PadWith(CpuContext& context, const Tensor& input, const Integers& paddings,
             const Tensor& value, Tensor& output) {
  const Border border(input.shape(), output.shape(), paddings);
  CopyElements(input, DensePart(border.inner), output, border.Inside(), border.inner,
               context.parallel());
  const StridedPart same{0, std::vector<int64_t>(border.inner.size(), 0)};
  for (size_t i = 0; i < border.inner.size(); ++i) {
    CopyElements(value, same, output, border.Side(i, 0), border.SideDims(i, true),
                 context.parallel());
    CopyElements(value, same, output, border.Side(i, border.before[i] + border.inner[i]),
                 border.SideDims(i, false), context.parallel());
  }
}

// Calls move(mirrored, side, dims) for the two sides of an axis: both parts of the bordered tensor,
// the mirrored one read backwards along the axis.
template <class Move>
void EachMirror(const Border& border, size_t axis, int64_t skip, Move move) {
  const int64_t front = border.before[axis], n = border.inner[axis];
  const auto mirror = [&](int64_t at) {
    StridedPart part = border.Side(axis, at);
    part.strides[axis] = -part.strides[axis];
    return part;
  };
  move(mirror(2 * front - 1 + skip), border.Side(axis, 0), border.SideDims(axis, true));
  move(mirror(front + n - 1 - skip), border.Side(axis, front + n), border.SideDims(axis, false));
}

int64_t SkipOf(const std::string& mode) { return mode == "REFLECT" ? 1 : 0; }

// A border must find what it mirrors.
Status CheckMirror(int axis, int64_t extent, int64_t before, int64_t after, int64_t skip) {
  if (before <= extent - skip && after <= extent - skip) return OkStatus();
  if (before == 0 && after == 0) return OkStatus();
  return InvalidArgument("paddings must be at most {} along axis {}, got {} and {}", extent - skip,
                         axis, before, after);
}

template <class T>
T Plus(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));  // wraps
  } else {
    return a + b;
  }
}

void SliceInside(Gradients& g) {
  const Scope& scope = g.scope();
  const Expr paddings = g.input(1);
  const Expr column = Op("Slice", paddings, IntVector(scope, {0, 0}),
                         scope.Add("Pack", {Op("Rank", g.input(0)), IntScalar(scope, 1)}));
  const Expr begin = Op("Reshape", column, IntVector(scope, {-1}));
  g.Set(0, Op("Slice", g.dy(), begin, ShapeOf(g.input(0), paddings.dtype())));
}

}  // namespace

Result<Shape> Pad::InferShape(const Shape& input, const Integers& paddings) const {
  return InferPadded(input, paddings);
}

void Pad::Gradient(Gradients& g) const { SliceInside(g); }

Status Pad::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& paddings,
                       Tensor& output) const {
  TRY_ASSIGN(Tensor zero, context.Allocate(input.dtype(), Shape()));
  ZeroElements(zero, context.parallel());
  PadWith(context, input, paddings, zero, output);
  return OkStatus();
}

Result<Shape> PadV2::InferShape(const Shape& input, const Integers& paddings,
                                const Shape& constant_values) const {
  TRY(CheckScalar(constant_values, "constant_values"));
  return InferPadded(input, paddings);
}

void PadV2::Gradient(Gradients& g) const {
  SliceInside(g);
  // The border is made of the constant: what does not flow inside flows there.
  g.Set(2, SumAll(g.dy()) - SumAll(g.results()[0]));
}

Status PadV2::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& paddings,
                         const Tensor& constant_values, Tensor& output) const {
  PadWith(context, input, paddings, constant_values, output);
  return OkStatus();
}

Result<Shape> MirrorPad::InferShape(const Shape& input, const Integers& paddings) const {
  TRY_ASSIGN(Shape shape, InferPadded(input, paddings));
  if (!paddings.known() || !input.has_rank()) return shape;
  for (int i = 0; i < input.rank(); ++i) {
    if (input[i] < 0) continue;
    TRY(CheckMirror(i, input[i], paddings[2 * i], paddings[2 * i + 1], SkipOf(mode)));
  }
  return shape;
}

void MirrorPad::Gradient(Gradients& g) const {
  g.Set(0, Op("MirrorPadGrad", g.dy(), g.input(1), {{"mode", mode}}));
}

Status MirrorPad::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& paddings,
                             Tensor& output) const {
  const Border border(input.shape(), output.shape(), paddings);
  CopyElements(input, DensePart(border.inner), output, border.Inside(), border.inner,
               context.parallel());
  // Last axis first: a side holds all of the later axes, their borders included.
  for (size_t i = border.inner.size(); i-- > 0;) {
    EachMirror(border, i, SkipOf(mode), [&](const auto& from, const auto& side, const auto& dims) {
      CopyElements(output, from, output, side, dims, context.parallel());
    });
  }
  return OkStatus();
}

Result<Shape> MirrorPadGrad::InferShape(const Shape& input, const Integers& paddings) const {
  TRY(CheckPaddings(input, paddings));
  if (!paddings.known() || !input.has_rank()) return UnknownLike(input, paddings);
  Shape shape = input;
  for (int i = 0; i < input.rank(); ++i) {
    if (input[i] < 0) continue;
    const int64_t before = paddings[2 * i], after = paddings[2 * i + 1];
    if (before > input[i] || after > input[i] - before) {
      return InvalidArgument("paddings must take at most {} from axis {}, got {} and {}", input[i],
                             i, before, after);
    }
    shape.set_dim(i, input[i] - before - after);
    TRY(CheckMirror(i, shape[i], before, after, SkipOf(mode)));
  }
  return shape;
}

void MirrorPadGrad::Gradient(Gradients& g) const {
  g.Set(0, Op("MirrorPad", g.dy(), g.input(1), {{"mode", mode}}));
}

template <class T>
Status MirrorPadGrad::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& paddings,
                                 Tensor& output) const {
  const Border border(output.shape(), input.shape(), paddings);
  TRY_ASSIGN(Tensor sums, context.Allocate(input.dtype(), input.shape()));
  CopyRun(input, 0, sums, 0, input.num_elements(), context.parallel());
  // Folded in the order opposite to that in which MirrorPad unfolds.
  for (size_t i = 0; i < border.inner.size(); ++i) {
    EachMirror(border, i, SkipOf(mode), [&](const auto& to, const auto& side, const auto& dims) {
      if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return;
      T* target = sums.mutable_data<T>() + to.offset;
      const T* source = sums.data<T>() + side.offset;
      kernels::WalkStrided(
          side.strides.data(), to.strides.data(), dims.data(), static_cast<int>(dims.size()),
          /*cost=*/2, context.parallel(),
          [&](int64_t src, int64_t dst, int64_t src_step, int64_t dst_step, int64_t n) {
            for (int64_t k = 0; k < n; ++k) {
              T& sum = target[dst + k * dst_step];
              sum = Plus(sum, source[src + k * src_step]);
            }
          });
    });
  }
  CopyElements(sums, border.Inside(), output, DensePart(border.inner), border.inner,
               context.parallel());
  return OkStatus();
}

void RegisterPad(Registrar& registrar) { registrar.AddAll<Pad, PadV2, MirrorPad, MirrorPadGrad>(); }

}  // namespace penstock::ops
