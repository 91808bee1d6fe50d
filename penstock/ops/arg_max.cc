#include "penstock/ops/arg_max.h"

#include <limits>

#include "penstock/kernels/reduce.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/index_rows.h"

namespace penstock::ops {
namespace {

using kernels::ArgKind;
using Ordered = Types<float, double, half, bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t,
                      uint16_t, uint32_t, uint64_t, bool>;

template <class Index>
Status Find(ArgKind kind, CpuContext& context, const Tensor& input, int axis, Index* out) {
  const Shape& shape = input.shape();
  const int64_t outer = ProductOf(shape, 0, axis);
  const int64_t inner = ProductOf(shape, axis + 1, shape.rank());
  return ForDType(input.dtype(), Ordered(), [&]<class T>() {
    kernels::ArgReduce<T, Index>(kind, input.data<T>(), outer, shape.dim(axis), inner, out,
                                 context.parallel());
    return OkStatus();
  });
}

// Places as numbers of 16 bits.
template <class Index>
Status FindNarrow(ArgKind kind, CpuContext& context, const Tensor& input, int axis,
                  Tensor& output) {
  TRY_ASSIGN(Tensor wide, context.Allocate(DType::kInt32, output.shape()));
  TRY(Find(kind, context, input, axis, wide.mutable_data<int32_t>()));
  for (int64_t i = 0; i < wide.num_elements(); ++i) {
    output.mutable_data<Index>()[i] = static_cast<Index>(wide.data<int32_t>()[i]);
  }
  return OkStatus();
}

int64_t LargestOf(DType dtype) {
  switch (dtype) {
    case DType::kInt16:
      return std::numeric_limits<int16_t>::max();
    case DType::kUint16:
      return std::numeric_limits<uint16_t>::max();
    case DType::kInt32:
      return std::numeric_limits<int32_t>::max();
    default:
      return std::numeric_limits<int64_t>::max();
  }
}

Status ArgReduce(ArgKind kind, CpuContext& context, const Tensor& input, const Integers& wanted,
                 Tensor& output) {
  TRY_ASSIGN(const int axis, ResolveAxis(wanted[0], input.shape().rank()));
  const int64_t extent = input.shape().dim(axis);
  if (extent == 0) {
    return InvalidArgument("Reduction axis {} is empty in shape {}", axis, input.shape());
  }
  if (extent - 1 > LargestOf(output.dtype())) {
    return InvalidArgument("the places along axis {} must fit into {}, got an extent of {}", axis,
                           output.dtype(), extent);
  }
  switch (output.dtype()) {
    case DType::kInt16:
      return FindNarrow<int16_t>(kind, context, input, axis, output);
    case DType::kUint16:
      return FindNarrow<uint16_t>(kind, context, input, axis, output);
    case DType::kInt32:
      return Find(kind, context, input, axis, output.mutable_data<int32_t>());
    default:
      return Find(kind, context, input, axis, output.mutable_data<int64_t>());
  }
}

}  // namespace

Result<Shape> ShapeWithoutAxis(const Shape& input, const Integers& axis) {
  TRY(CheckScalar(axis.shape(), "dimension"));
  TRY(CheckRankAtLeast(input, 1, "input"));
  if (!input.has_rank()) return Shape::Unknown();
  if (!axis.known()) return Shape::UnknownOfRank(input.rank() - 1);
  TRY_ASSIGN(const int gone, ResolveAxis(axis[0], input.rank()));
  Shape out;
  for (int i = 0; i < input.rank(); ++i) {
    if (i != gone) out.Append(input.dim(i));
  }
  return out;
}

Status ArgMax::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& axis,
                          Tensor& output) const {
  return ArgReduce(ArgKind::kMax, context, input, axis, output);
}

Status ArgMin::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& axis,
                          Tensor& output) const {
  return ArgReduce(ArgKind::kMin, context, input, axis, output);
}

void RegisterArgMax(Registrar& registrar) { registrar.AddAll<ArgMax, ArgMin>(); }

}  // namespace penstock::ops
