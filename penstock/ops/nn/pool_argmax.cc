#include "penstock/ops/nn/pool_argmax.h"

#include <algorithm>
#include <limits>

#include "penstock/ops/dtype_switch.h"

namespace penstock::ops {
namespace {

// Channels-last images of `places` places, so many elements each.
struct Images {
  int64_t elements;
  int64_t channels;
  explicit Images(const Shape& input)
      : elements(input.dim(1) * input.dim(2) * input.dim(3)), channels(input.dim(3)) {}
};

template <class Index>
void WriteArgmax(const Images& in, int64_t pooled, const int32_t* places, bool with_batch,
                 int64_t begin, int64_t end, Index* argmax) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t start = with_batch ? i / pooled * in.elements : 0;
    argmax[i] = static_cast<Index>(start + places[i] * in.channels + i % in.channels);
  }
}

// Images are independent: an index that leaves its own would let two threads write one element.
template <class T, class Index, bool second>
Status Follow(CpuContext& context, const Shape& input, const T* grad, const Index* argmax,
              bool with_batch, int64_t pooled, T* output) {
  using A = ComputeType<T>;
  const Images in(input);
  const int64_t batch = input.dim(0);
  for (int64_t i = 0; i < batch * pooled; ++i) {
    const int64_t start = with_batch ? i / pooled * in.elements : 0;
    if (InRange(static_cast<int64_t>(argmax[i]) - start, in.elements)) continue;
    return InvalidArgument("argmax must point into image {}, [{}, {}), got {}", i / pooled, start,
                           start + in.elements, argmax[i]);
  }
  context.parallel()(
      batch, 4.0 * static_cast<double>(in.elements + pooled), [&](int64_t begin, int64_t end) {
        for (int64_t n = begin; n < end; ++n) {
          const int64_t shift = with_batch ? 0 : n * in.elements;
          if constexpr (!second) std::fill_n(output + n * in.elements, in.elements, T(0));
          for (int64_t i = n * pooled; i < (n + 1) * pooled; ++i) {
            const int64_t at = shift + static_cast<int64_t>(argmax[i]);
            if constexpr (second) {
              output[i] = grad[at];
            } else if constexpr (std::is_integral_v<T>) {
              output[at] = static_cast<T>(static_cast<uint64_t>(output[at]) +
                                          static_cast<uint64_t>(grad[i]));
            } else {
              output[at] = static_cast<T>(static_cast<A>(output[at]) + static_cast<A>(grad[i]));
            }
          }
        }
      });
  return OkStatus();
}

}  // namespace

Result<std::array<Shape, 2>> MaxPoolWithArgmax::InferShape(const Shape& input) const {
  TRY(window().Check());
  TRY_ASSIGN(const Shape pooled, window().OutputShape(input));
  return std::array<Shape, 2>{pooled, pooled};
}

void MaxPoolWithArgmax::Gradient(Gradients& g) const {
  g.Set(0, Op("MaxPoolGradWithArgmax", g.input(0), g.dy(0), g.output(1),
              {{"ksize", ksize},
               {"strides", strides},
               {"padding", padding},
               {"include_batch_in_index", include_batch_in_index}}));
}

Status MaxPoolWithArgmax::ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output,
                                     Tensor& argmax) const {
  if (output.num_elements() == 0) return OkStatus();
  const Images in(input.shape());
  if (argmax.dtype() == DType::kInt32 &&
      (include_batch_in_index ? input.num_elements() : in.elements) >
          std::numeric_limits<int32_t>::max())
    return InvalidArgument("places in {} do not fit Targmax int32", input.shape());
  TRY_ASSIGN(const kernels::PoolShape layout, window().Layout(input.shape()));
  TRY_ASSIGN(Tensor places, context.Allocate(DType::kInt32, output.shape()));
  int32_t* chosen = places.mutable_data<int32_t>();
  kernels::PoolKernelsOf(input.dtype())
      .max_place(layout, input.raw(), output.mutable_raw(), chosen, context.parallel());
  const int64_t pooled = output.num_elements() / input.shape().dim(0);
  return ForDType(argmax.dtype(), Types<int32_t, int64_t>(), [&]<class Index>() {
    Index* to = argmax.mutable_data<Index>();
    context.parallel()(argmax.num_elements(), 4, [&](int64_t begin, int64_t end) {
      WriteArgmax(in, pooled, chosen, include_batch_in_index, begin, end, to);
    });
    return OkStatus();
  });
}

template <FixedString Name, bool second>
Result<Shape> MaxPoolArgmaxDerivative<Name, second>::InferShape(const Shape& input,
                                                                const Shape& grad,
                                                                const Shape& argmax) const {
  TRY(window().Check());
  TRY_ASSIGN(const Shape pooled, window().OutputShape(input));
  TRY(CheckPooled(second ? input : pooled, grad, "grad"));
  TRY(CheckPooled(pooled, argmax, "argmax"));
  if (second) return MergeShapes(pooled, argmax);
  return input.has_rank() ? input : Shape::UnknownOfRank(4);
}

template <FixedString Name, bool second>
void MaxPoolArgmaxDerivative<Name, second>::Gradient(Gradients& g) const {
  g.Set(0, Op("ZerosLike", g.input(0)));
  g.Set(1, Op(second ? "MaxPoolGradWithArgmax" : "MaxPoolGradGradWithArgmax", g.input(0), g.dy(),
              g.input(2),
              {{"ksize", ksize},
               {"strides", strides},
               {"padding", padding},
               {"include_batch_in_index", include_batch_in_index}}));
}

template <FixedString Name, bool second>
Status MaxPoolArgmaxDerivative<Name, second>::ComputeCpu(CpuContext& context, const Tensor& input,
                                                         const Tensor& grad, const Tensor& argmax,
                                                         Tensor& output) const {
  if (output.num_elements() == 0) return OkStatus();
  const int64_t pooled = argmax.num_elements() / input.shape().dim(0);
  return ForDType(input.dtype(), PlainRealNumbers(), [&]<class T>() {
    return ForDType(argmax.dtype(), Types<int32_t, int64_t>(), [&]<class Index>() {
      return Follow<T, Index, second>(context, input.shape(), grad.data<T>(), argmax.data<Index>(),
                                      include_batch_in_index, pooled, output.mutable_data<T>());
    });
  });
}

void RegisterPoolArgmax(Registrar& registrar) {
  registrar.AddAll<MaxPoolWithArgmax, MaxPoolGradWithArgmax, MaxPoolGradGradWithArgmax>();
}

}  // namespace penstock::ops
