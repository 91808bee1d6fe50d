#include "penstock/ops/fill.h"

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "penstock/core/resource.h"
#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

Status CheckDirection(bool is_zero, bool is_wrong) {
  if (is_zero) return InvalidArgument("delta must not be 0");
  if (!is_wrong) return OkStatus();
  return InvalidArgument("start must not lie past limit in the direction of delta");
}

// How many elements a range has.
template <class T>
Result<int64_t> RangeSize(T start, T limit, T delta) {
  if constexpr (std::is_integral_v<T>) {
    using Wide = __int128;  // the distance of two 64-bit numbers needs 65 bits
    const Wide distance = static_cast<Wide>(limit) - static_cast<Wide>(start);
    const Wide step = delta;
    TRY(CheckDirection(step == 0, (step > 0 && distance < 0) || (step < 0 && distance > 0)));
    const Wide size = distance / step + (distance % step != 0 ? 1 : 0);
    if (size > INT64_MAX) return InvalidArgument("a range must have fewer than 2^63 elements");
    return static_cast<int64_t>(size);
  } else {
    const double from = start, to = limit, step = delta;
    TRY(CheckDirection(step == 0, (step > 0 && from > to) || (step < 0 && from < to)));
    const double size = std::ceil(std::abs((to - from) / step));
    if (!(size < 9.2e18)) {  // not a number, or too many
      return InvalidArgument("a range must have fewer than 2^63 elements, got {}", size);
    }
    return static_cast<int64_t>(size);
  }
}

template <class... Ts>
Result<int64_t> RangeSizeOf(const Tensor& start, const Tensor& limit, const Tensor& delta,
                            Types<Ts...>) {
  Result<int64_t> size = InvalidArgument("a range of {} was asked for", start.dtype());
  ((start.dtype() == kDTypeOf<Ts>
        ? void(size = RangeSize(start.scalar<Ts>(), limit.scalar<Ts>(), delta.scalar<Ts>()))
        : void()),
   ...);
  return size;
}

using RangeTypes = Types<bfloat16, half, float, double, int8_t, int16_t, int32_t, int64_t, uint16_t,
                         uint32_t, uint64_t>;

// Calls mark(place) for the output element of each index in range. Indices are [outer, inner], the
// output is [outer, extent, inner].
template <class Index, class Mark>
void EachHot(const Index* indices, int64_t outer, int64_t extent, int64_t inner, Mark mark,
             const ParallelFor& each) {
  each(outer * inner, /*cost=*/4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t index = static_cast<int64_t>(indices[i]);
      if (!InRange(index, extent)) continue;  // marks nothing, by definition
      mark((i / inner * extent + index) * inner + i % inner);
    }
  });
}

}  // namespace

Result<Shape> Fill::InferShape(const Integers& dims, const Shape& value) const {
  TRY(CheckVector(dims.shape(), "dims"));
  TRY(CheckScalar(value, "value"));
  return dims.AsShape();
}

void Fill::Gradient(Gradients& g) const { g.Set(1, SumAll(g.dy())); }

Status Fill::ComputeCpu(CpuContext& context, const Tensor&, const Tensor& value,
                        Tensor& output) const {
  FillElements(value, output, context.parallel());
  return OkStatus();
}

Result<Shape> Range::InferShape(const Known& start, const Known& limit, const Known& delta) const {
  TRY(CheckScalar(*start.shape, "start"));
  TRY(CheckScalar(*limit.shape, "limit"));
  TRY(CheckScalar(*delta.shape, "delta"));
  if (!start.value || !limit.value || !delta.value) return Shape{Shape::kUnknownDim};
  TRY_ASSIGN(const int64_t size,
             RangeSizeOf(*start.value, *limit.value, *delta.value, RangeTypes()));
  return Shape{size};
}

template <class T>
Status Range::ComputeCpu(CpuContext& context, T start, T, T delta, std::span<T> output) const {
  context.parallel()(
      static_cast<int64_t>(output.size()), /*cost=*/1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          if constexpr (std::is_integral_v<T>) {
            // Unsigned: a range may end at the largest number, and the product wraps on its way.
            output[i] = static_cast<T>(static_cast<uint64_t>(start) +
                                       static_cast<uint64_t>(i) * static_cast<uint64_t>(delta));
          } else {
            output[i] = start + static_cast<T>(i) * delta;
          }
        }
      });
  return OkStatus();
}

Result<Shape> LinSpace::InferShape(const Shape& start, const Shape& stop,
                                   const Integers& num) const {
  TRY(CheckScalar(start, "start"));
  TRY(CheckScalar(stop, "stop"));
  TRY(CheckScalar(num.shape(), "num"));
  if (!num.known()) return Shape{Shape::kUnknownDim};
  if (num[0] <= 0) return InvalidArgument("num must be positive, got {}", num[0]);
  return Shape{num[0]};
}

template <class T>
Status LinSpace::ComputeCpu(CpuContext& context, T start, T stop, const Tensor&,
                            std::span<T> output) const {
  const int64_t n = static_cast<int64_t>(output.size());
  output[0] = start;
  if (n == 1) return OkStatus();
  const T step = static_cast<T>((stop - start) / static_cast<T>(n - 1));
  context.parallel()(n - 1, /*cost=*/2, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) output[i] = start + step * static_cast<T>(i);
  });
  output[n - 1] = stop;  // exactly, whatever the rounding of the steps
  return OkStatus();
}

Result<Shape> OneHot::InferShape(const Shape& indices, const Integers& depth, const Shape& on_value,
                                 const Shape& off_value) const {
  TRY(CheckScalar(depth.shape(), "depth"));
  TRY(CheckScalar(on_value, "on_value"));
  TRY(CheckScalar(off_value, "off_value"));
  if (axis < -1) return InvalidArgument("axis must be at least -1, got {}", axis);
  if (depth.known() && depth[0] < 0) {
    return InvalidArgument("depth must not be negative, got {}", depth[0]);
  }
  if (!indices.has_rank()) return Shape::Unknown();
  if (axis > indices.rank()) {
    return InvalidArgument("axis must be in [-1, {}], got {}", indices.rank(), axis);
  }
  std::vector<int64_t> dims(indices.dims().begin(), indices.dims().end());
  dims.insert(axis < 0 ? dims.end() : dims.begin() + axis,
              depth.known() ? depth[0] : Shape::kUnknownDim);
  return Shape::Make(dims);
}

template <class Index>
Status OneHot::ComputeCpu(CpuContext& context, const Tensor& indices, const Tensor& depth,
                          const Tensor& on_value, const Tensor& off_value, Tensor& output) const {
  FillElements(off_value, output, context.parallel());
  const int64_t extent = *depth.data<int32_t>();
  // Indices are [outer, inner], the output is [outer, extent, inner].
  int64_t inner = 1;
  for (int i = axis < 0 ? indices.shape().rank() : static_cast<int>(axis);
       i < indices.shape().rank(); ++i) {
    inner *= indices.shape()[i];
  }
  if (output.num_elements() == 0) return OkStatus();
  const int64_t outer = indices.num_elements() / inner;
  const auto mark = [&](auto write) {
    EachHot(indices.data<Index>(), outer, extent, inner, write, context.parallel());
    return OkStatus();
  };
  switch (output.dtype()) {
    case DType::kString:
      return mark([&](int64_t at) {
        output.mutable_data<std::string>()[at] = on_value.scalar<std::string>();
      });
    case DType::kResource:
      return mark([&](int64_t at) {
        output.mutable_data<ResourceHandle>()[at] = on_value.scalar<ResourceHandle>();
      });
    case DType::kVariant:
      return mark(
          [&](int64_t at) { output.mutable_data<Variant>()[at] = on_value.scalar<Variant>(); });
    default:
      break;
  }
  const size_t bytes = SizeOf(output.dtype());
  char* to = static_cast<char*>(output.mutable_raw());
  return mark([&](int64_t at) {
    std::memcpy(to + static_cast<size_t>(at) * bytes, on_value.raw(), bytes);
  });
}

void RegisterFill(Registrar& registrar) { registrar.AddAll<Fill, Range, LinSpace, OneHot>(); }

}  // namespace penstock::ops
