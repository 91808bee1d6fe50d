#include "penstock/ops/array/ordering.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "penstock/core/checked.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/index_rows.h"
#include "penstock/ops/store_integers.h"

namespace penstock::ops {
namespace {

int64_t LastExtent(const Shape& shape) { return shape[shape.rank() - 1]; }

}  // namespace

Status Bucketize::CheckAttrs() const {
  if (std::is_sorted(boundaries.begin(), boundaries.end())) return OkStatus();
  return InvalidArgument("boundaries must be sorted");
}

template <class T>
Status Bucketize::ComputeCpu(CpuContext& context, std::span<const T> input,
                             std::span<int32_t> output) const {
  const double cost = 5 + 5 * std::log2(1 + static_cast<double>(boundaries.size()));
  context.parallel()(static_cast<int64_t>(input.size()), cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      output[i] = static_cast<int32_t>(
          std::upper_bound(boundaries.begin(), boundaries.end(), input[i]) - boundaries.begin());
    }
  });
  return OkStatus();
}

Result<Shape> InferBound(const Shape& sorted_inputs, const Shape& values) {
  TRY(CheckRank(sorted_inputs, 2, "sorted_inputs"));
  TRY(CheckRank(values, 2, "values"));
  if (sorted_inputs.has_rank() && values.has_rank() &&
      !sorted_inputs.Slice(0, 1).IsCompatibleWith(values.Slice(0, 1))) {
    return InvalidArgument("sorted_inputs and values must have the same number of rows: {} vs {}",
                           sorted_inputs, values);
  }
  return values;
}

Status FindBounds(CpuContext& context, bool is_upper, const Tensor& sorted_inputs,
                  const Tensor& values, Tensor& output) {
  const int64_t columns = sorted_inputs.shape()[1], wanted = values.shape()[1];
  if (output.dtype() == DType::kInt32 && columns > std::numeric_limits<int32_t>::max())
    return InvalidArgument("places in rows of {} do not fit into int32", columns);
  const double cost = 10 + 5 * std::log2(1 + static_cast<double>(columns));
  const auto store = [&](int64_t i, int64_t place) {
    if (output.dtype() == DType::kInt64) {
      output.mutable_data<int64_t>()[i] = place;
    } else {
      output.mutable_data<int32_t>()[i] = static_cast<int32_t>(place);
    }
  };
  return ForDType(values.dtype(), PlainRealNumbers(), [&]<class T>() {
    context.parallel()(values.num_elements(), cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* row = sorted_inputs.data<T>() + i / wanted * columns;
        const T& value = values.data<T>()[i];
        const T* at = is_upper ? std::upper_bound(row, row + columns, value)
                               : std::lower_bound(row, row + columns, value);
        store(i, at - row);
      }
    });
    return OkStatus();
  });
}

Result<Shape> HistogramFixedWidth::InferShape(const Shape&, const Shape& value_range,
                                              const Integers& nbins) const {
  if (!Shape{2}.IsCompatibleWith(value_range))
    return InvalidArgument("value_range must have two elements, got shape {}", value_range);
  TRY(CheckScalar(nbins.shape(), "nbins"));
  if (!nbins.known()) return Shape{Shape::kUnknownDim};
  if (nbins[0] <= 0) return InvalidArgument("nbins must be positive, got {}", nbins[0]);
  return Shape{nbins[0]};
}

template <class T>
Status HistogramFixedWidth::ComputeCpu(CpuContext& context, const Tensor& values,
                                       const Tensor& value_range, const Integers& nbins,
                                       Tensor& out) const {
  const T low = value_range.data<T>()[0], high = value_range.data<T>()[1];
  if (!(low < high))
    return InvalidArgument("value_range must be increasing, got {} and {}", low, high);
  const double step =
      (static_cast<double>(high) - static_cast<double>(low)) / static_cast<double>(nbins[0]);
  TRY_ASSIGN(Tensor scratch, context.Allocate(DType::kInt64, Shape{nbins[0]}));
  const auto counts = scratch.mutable_values<int64_t>();
  std::fill(counts.begin(), counts.end(), 0);
  const double last = static_cast<double>(nbins[0] - 1);
  for (const T value : values.values<T>()) {
    if (value != value) return InvalidArgument("values must not be NaN");
    const double above = static_cast<double>(std::max(value, low)) - static_cast<double>(low);
    ++counts[static_cast<size_t>(std::min(above / step, last))];
  }
  return StoreIntegers(counts, out);
}

Result<Shape> NthElement::InferShape(const Shape& input, const Integers& n) const {
  TRY(CheckRankAtLeast(input, 1, "input"));
  TRY(CheckScalar(n.shape(), "n"));
  if (n.known() && n[0] < 0) return InvalidArgument("n must not be negative, got {}", n[0]);
  if (!input.has_rank()) return input;
  const int64_t columns = LastExtent(input);
  if (n.known() && columns >= 0 && n[0] >= columns)
    return InvalidArgument("rows must have more than n = {} elements, got {}", n[0], columns);
  return input.Slice(0, input.rank() - 1);
}

template <class T>
Status NthElement::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& n,
                              Tensor& values) const {
  const int64_t columns = LastExtent(input.shape());
  const int64_t at = reverse ? columns - 1 - n[0] : n[0];
  const double cost = 10 * static_cast<double>(columns);
  context.parallel()(values.num_elements(), cost, [&](int64_t begin, int64_t end) {
    std::vector<T> row(static_cast<size_t>(columns));
    for (int64_t r = begin; r < end; ++r) {
      std::copy_n(input.data<T>() + r * columns, columns, row.begin());
      // NaNs come last, so that the order is one.
      std::nth_element(row.begin(), row.begin() + at, row.end(),
                       [](const T& a, const T& b) { return a < b || (a == a && b != b); });
      values.mutable_data<T>()[r] = row[static_cast<size_t>(at)];
    }
  });
  return OkStatus();
}

// All elements that equal the one share its gradient.
void NthElement::Gradient(Gradients& g) const {
  const Scope& s = g.scope();
  const Expr last = IntScalar(s, -1);
  const Expr dy = g.dy();
  const Expr is_it =
      CastTo(Op("Equal", Op("ExpandDims", g.output(0), last), g.input(0)), dy.dtype());
  const Expr count = Op("Sum", is_it, last, {{"keep_dims", true}});
  g.Set(0, is_it / count * Op("ExpandDims", dy, last));
}

Result<Shape> UnravelIndex::InferShape(const Shape& indices, const Shape& dims) const {
  if (indices.has_rank() && indices.rank() > 1)
    return InvalidArgument("indices must be a scalar or a vector, got shape {}", indices);
  TRY(CheckVector(dims, "dims"));
  if (!indices.has_rank()) return indices;
  const int64_t rank = dims.has_rank() ? dims[0] : Shape::kUnknownDim;
  if (indices.rank() == 0) return Shape{rank};
  const int64_t extents[] = {rank, indices[0]};
  return Shape::Make(extents);
}

template <class T>
Status UnravelIndex::ComputeCpu(CpuContext&, const Tensor& indices, std::span<const T> dims,
                                Tensor& output) const {
  int64_t product = 1;
  for (const T dim : dims) {
    if (dim <= 0) return InvalidArgument("dims must be positive, got {}", dim);
    const auto next = CheckedMul(product, dim);
    if (!next) return InvalidArgument("the product of dims is too large");
    product = *next;
  }
  const int64_t n = indices.num_elements();
  for (int64_t i = 0; i < n; ++i) {
    int64_t place = indices.data<T>()[i];
    if (place >= product)
      return InvalidArgument("indices must be below {}, got {}", product, place);
    for (size_t k = dims.size(); k-- > 0;) {
      const int64_t at = static_cast<int64_t>(k) * n + i;
      output.mutable_data<T>()[at] = static_cast<T>(place % dims[k]);
      place /= dims[k];
    }
  }
  return OkStatus();
}

void RegisterOrdering(Registrar& registrar) {
  registrar
      .AddAll<Bucketize, LowerBound, UpperBound, HistogramFixedWidth, NthElement, UnravelIndex>();
}

}  // namespace penstock::ops
