#include "penstock/ops/sparse/ragged.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "penstock/core/checked.h"
#include "penstock/ops/array/row_copies.h"
#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/index_rows.h"
#include "penstock/ops/sparse/sparse_tensor.h"
#include "penstock/ops/store_integers.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

// All splits of a ragged tensor as int64, checked against each other and the number of values.
Result<std::vector<Tensor>> ReadSplits(CpuContext& context, std::span<Tensor* const> nested,
                                       int64_t num_values) {
  std::vector<Tensor> splits;
  for (const Tensor* one : nested) {
    TRY_ASSIGN(Tensor wide, WidenIndices(context, *one));
    splits.push_back(std::move(wide));
  }
  for (size_t k = 0; k < splits.size(); ++k) {
    const int64_t limit = k + 1 < splits.size() ? splits[k + 1].num_elements() - 1 : num_values;
    TRY(CheckSplits(splits[k].values<int64_t>(), limit));
  }
  return splits;
}

Status CheckNested(std::span<const Known> splits, const Shape& values) {
  for (const Known& one : splits) {
    TRY(CheckVector(*one.shape, "splits"));
    if (one.shape->has_rank() && one.shape->dim(0) == 0)
      return InvalidArgument("splits must have at least one element, got none");
  }
  return CheckRankAtLeast(values, 1, "the values of a ragged tensor");
}

// How many numbers a range has, or nothing when they are too many.
template <class T>
std::optional<int64_t> RangeSize(T start, T limit, T delta) {
  const bool is_up = delta > T(0.0f);
  if (is_up ? start >= limit : start <= limit) return 0;
  if constexpr (std::is_integral_v<T>) {
    const auto low = static_cast<uint64_t>(is_up ? start : limit);
    const uint64_t span = static_cast<uint64_t>(is_up ? limit : start) - low;
    const uint64_t step = is_up ? static_cast<uint64_t>(delta) : -static_cast<uint64_t>(delta);
    const uint64_t size = (span - 1) / step + 1;
    if (size > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
    return static_cast<int64_t>(size);
  } else {
    const double size = std::ceil(std::abs(
        (static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta)));
    if (!(size < 0x1p62)) return std::nullopt;
    return static_cast<int64_t>(size);
  }
}

Status StoreSplits(CpuContext& context, int output, DType dtype, std::span<const int64_t> splits) {
  TRY(context.AllocateOutput(output, dtype, Shape{static_cast<int64_t>(splits.size())}));
  return StoreIntegers(splits, context.output(output));
}

}  // namespace

Status CheckSplits(std::span<const int64_t> splits, int64_t limit) {
  if (splits.empty()) return InvalidArgument("splits must have at least one element, got none");
  if (splits[0] < 0) return InvalidArgument("splits must not be negative, got {}", splits[0]);
  for (size_t i = 1; i < splits.size(); ++i) {
    if (splits[i] < splits[i - 1])
      return InvalidArgument("splits must not decrease, got {} after {}", splits[i], splits[i - 1]);
  }
  if (splits.back() > limit)
    return InvalidArgument("splits must be at most {}, got {}", limit, splits.back());
  return OkStatus();
}

Result<std::array<Shape, 2>> RaggedRange::InferShape(const Shape& starts, const Shape& limits,
                                                     const Shape& deltas) const {
  int64_t rows = -1;
  bool is_known = true;
  for (const Shape* shape : {&starts, &limits, &deltas}) {
    if (shape->has_rank() && shape->rank() > 1)
      return InvalidArgument("starts, limits and deltas must be scalars or vectors, got {}",
                             *shape);
    if (!shape->has_rank() || (shape->rank() == 1 && shape->dim(0) < 0)) is_known = false;
    if (!shape->has_rank() || shape->rank() == 0 || shape->dim(0) < 0) continue;
    if (rows >= 0 && rows != shape->dim(0)) {
      return InvalidArgument("starts, limits and deltas must have the same length: {} vs {}", rows,
                             shape->dim(0));
    }
    rows = shape->dim(0);
  }
  if (is_known && rows < 0) rows = 1;
  return std::array<Shape, 2>{Shape{rows < 0 ? Shape::kUnknownDim : rows + 1},
                              Shape{Shape::kUnknownDim}};
}

template <class T>
Status RaggedRange::ComputeCpu(CpuContext& context, const Tensor& starts, const Tensor& limits,
                               const Tensor& deltas) const {
  int64_t rows = 1;
  for (const Tensor* given : {&starts, &limits, &deltas}) {
    if (given->shape().rank() == 1) rows = given->num_elements();
  }
  const auto at = [](const Tensor& given, int64_t i) {
    return given.data<T>()[given.shape().rank() == 0 ? 0 : i];
  };
  TRY_ASSIGN(Tensor splits, context.Allocate(DType::kInt64, Shape{rows + 1}));
  int64_t* const split = splits.mutable_data<int64_t>();
  split[0] = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const T delta = at(deltas, i);
    if (delta == T(0.0f)) return InvalidArgument("deltas must not be 0, row {} is", i);
    const auto size = RangeSize(at(starts, i), at(limits, i), delta);
    const auto end = size ? CheckedAdd(split[i], *size) : size;
    if (!end) return InvalidArgument("range {} has too many elements", i);
    split[i + 1] = *end;
  }
  TRY(StoreSplits(context, 0, Tsplits, splits.values<int64_t>()));
  TRY(context.AllocateOutput(1, kDTypeOf<T>, Shape{split[rows]}));
  T* out = context.output(1).template mutable_data<T>();
  for (int64_t i = 0; i < rows; ++i) {
    T value = at(starts, i);
    const T delta = at(deltas, i);
    for (int64_t k = split[i]; k < split[i + 1]; ++k) {
      *out++ = value;
      if (k + 1 < split[i + 1]) value = static_cast<T>(value + delta);
    }
  }
  return OkStatus();
}

Result<std::vector<Shape>> RaggedGather::InferShape(std::span<const Known> splits,
                                                    const Shape& values,
                                                    const Shape& indices) const {
  TRY(CheckNested(splits, values));
  if (indices.has_rank()) {
    const int64_t rank = indices.rank() - 1 + PARAMS_RAGGED_RANK;
    if (rank != OUTPUT_RAGGED_RANK) {
      return InvalidArgument("OUTPUT_RAGGED_RANK must be {} for indices of shape {}, got {}", rank,
                             indices, OUTPUT_RAGGED_RANK);
    }
  }
  std::vector<Shape> shapes(static_cast<size_t>(OUTPUT_RAGGED_RANK), Shape{Shape::kUnknownDim});
  Shape rows = values;
  if (rows.has_rank()) rows.set_dim(0, Shape::kUnknownDim);
  shapes.push_back(rows);
  return shapes;
}

Status RaggedGather::ComputeCpu(CpuContext& context, std::span<Tensor* const> nested,
                                const Tensor& values, const Tensor& given) const {
  TRY_ASSIGN(const std::vector<Tensor> splits, ReadSplits(context, nested, values.shape()[0]));
  TRY_ASSIGN(const Tensor indices, WidenIndices(context, given));
  const DType dtype = nested[0]->dtype();
  const int64_t rows = splits[0].num_elements() - 1, n = indices.num_elements();
  int output = 0;
  // The axes of the indices themselves are of one length each.
  for (int axis = 0; axis + 1 < given.shape().rank(); ++axis) {
    std::vector<int64_t> even(static_cast<size_t>(ProductOf(given.shape(), 0, axis + 1)) + 1);
    for (size_t i = 0; i < even.size(); ++i)
      even[i] = static_cast<int64_t>(i) * given.shape()[axis + 1];
    TRY(StoreSplits(context, output++, dtype, even));
  }
  // The part [begin, end) of each axis that each index names.
  std::vector<std::pair<int64_t, int64_t>> parts;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t row = indices.data<int64_t>()[i];
    if (!InRange(row, rows)) return IndexOutOfRange(given.shape(), i, row, rows);
    parts.emplace_back(row, row + 1);
  }
  for (size_t k = 0; k < splits.size(); ++k) {
    const int64_t* split = splits[k].data<int64_t>();
    std::vector<int64_t> joined{0};
    for (auto& [begin, end] : parts) {
      for (int64_t r = begin; r < end; ++r)
        joined.push_back(joined.back() + split[r + 1] - split[r]);
      begin = split[begin];
      end = split[end];
    }
    if (k > 0 || given.shape().rank() > 0) TRY(StoreSplits(context, output++, dtype, joined));
  }
  int64_t total = 0;
  for (const auto& [begin, end] : parts) total += end - begin;
  Shape shape = values.shape();
  shape.set_dim(0, total);
  TRY(context.AllocateOutput(output, values.dtype(), shape));
  const int64_t elements = ProductOf(shape, 1, shape.rank());
  int64_t at = 0;
  for (const auto& [begin, end] : parts) {
    CopyRun(values, begin * elements, context.output(output), at * elements,
            (end - begin) * elements, context.parallel());
    at += end - begin;
  }
  return OkStatus();
}

// The rows of the values that went into the result, one after another: a range for each index.
void RaggedGather::Gradient(Gradients& g) const {
  const Scope& s = g.scope();
  const int levels = g.num_inputs() - 2;
  const Expr values = g.input(levels), indices = g.input(levels + 1), axis = IntScalar(s, 0);
  Expr splits = g.input(0);
  for (int k = 1; k < levels; ++k) splits = Op("GatherV2", g.input(k), splits, axis);
  const Expr flat = Op("Reshape", indices, IntVector(s, {-1}));
  const Expr begins = Op("GatherV2", splits, flat, axis);
  const Expr ends = Op("GatherV2", splits, flat + s.Like(flat, 1), axis);
  const Expr ranges = s.Add("RaggedRange", {begins, ends, s.Like(begins, 1)});
  const Expr rows = ranges.valid() ? ranges.Output(1) : ranges;
  const Expr count =
      Op("Reshape", Op("Slice", ShapeOf(values), IntVector(s, {0}), IntVector(s, {1})),
         IntVector(s, {}));
  g.Set(levels, Op("UnsortedSegmentSum", g.dy(g.num_outputs() - 1), rows, count));
}

Result<std::array<Shape, 3>> RaggedTensorToSparse::InferShape(std::span<const Known> splits,
                                                              const Shape& values) const {
  TRY(CheckNested(splits, values));
  if (!values.has_rank()) return SparseShapes(Shape::kUnknownDim, Shape::kUnknownDim);
  const auto count = values.CheckedNumElements();
  return SparseShapes(count ? *count : Shape::kUnknownDim,
                      static_cast<int64_t>(splits.size()) + values.rank());
}

Status RaggedTensorToSparse::ComputeCpu(CpuContext& context, std::span<Tensor* const> nested,
                                        const Tensor& values) const {
  const int64_t rows = values.shape()[0];
  TRY_ASSIGN(const std::vector<Tensor> splits, ReadSplits(context, nested, rows));
  const auto levels = static_cast<int64_t>(splits.size());
  std::vector<int64_t> extents{splits[0].num_elements() - 1};
  for (int64_t k = 0; k < levels; ++k) {
    const auto split = splits[k].values<int64_t>();
    const int64_t all = k + 1 < levels ? splits[k + 1].num_elements() - 1 : rows;
    if (split[0] != 0 || split.back() != all) {
      return InvalidArgument("splits must go from 0 to {}, got {} to {}", all, split[0],
                             split.back());
    }
    int64_t longest = 0;
    for (size_t i = 1; i < split.size(); ++i) longest = std::max(longest, split[i] - split[i - 1]);
    extents.push_back(longest);
  }
  const int64_t inner = ProductOf(values.shape(), 1, values.shape().rank());
  const auto inner_dims = values.shape().dims().subspan(1);
  extents.insert(extents.end(), inner_dims.begin(), inner_dims.end());
  const auto rank = static_cast<int64_t>(extents.size());
  TRY_ASSIGN(int64_t * out, NewIndices(context, 0, values.num_elements(), rank));
  const std::vector<int64_t> strides = DenseStrides(inner_dims);
  // The row of each level that value v is in: it moves on with v.
  std::vector<int64_t> row(static_cast<size_t>(levels), 0);
  for (int64_t v = 0; v < rows && inner > 0; ++v) {
    int64_t child = v;
    for (int64_t k = levels; k-- > 0;) {
      const int64_t* split = splits[k].data<int64_t>();
      while (split[row[k] + 1] <= child) ++row[k];
      out[k + 1] = child - split[row[k]];
      child = row[k];
    }
    out[0] = child;
    for (int64_t i = 0; i < inner; ++i) {
      if (i > 0) std::copy_n(out - rank, levels + 1, out);
      int64_t rest = i;
      for (size_t k = 0; k < strides.size(); ++k) {
        out[levels + 1 + static_cast<int64_t>(k)] = rest / strides[k];
        rest %= strides[k];
      }
      out += rank;
    }
  }
  TRY(context.AllocateOutput(1, values.dtype(), Shape{values.num_elements()}));
  CopyRun(values, 0, context.output(1), 0, values.num_elements(), context.parallel());
  return SetVector(context, 2, extents);
}

void RaggedTensorToSparse::Gradient(Gradients& g) const {
  const int values = g.num_inputs() - 1;
  g.Set(values, ReshapeLike(g.dy(1), g.input(values)));
}

void RegisterRagged(Registrar& registrar) {
  registrar.AddAll<RaggedRange, RaggedGather, RaggedTensorToSparse, RaggedTensorToTensor>();
}

}  // namespace penstock::ops
