#include "penstock/ops/nn/dilation2d.h"

#include <limits>
#include <type_traits>

#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

// Integers wrap.
template <class T>
T Plus(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  } else {
    return static_cast<T>(a + b);
  }
}

template <class T>
constexpr T Lowest() {
  if constexpr (kIsFloat16<T>) {
    return T(-std::numeric_limits<float>::infinity());
  } else {
    return std::numeric_limits<T>::lowest();
  }
}

// Where the maximum of one output element lies: indices of the input and of the filter.
struct Maximum {
  int64_t input = 0;
  int64_t tap = 0;
};

// A dilation of tensors whose shapes go together.
template <class T>
class Dilation {
 public:
  Dilation(const kernels::ConvShape& shape, const Tensor& input, const Tensor& filter)
      : s_(shape), input_(input.data<T>()), filter_(filter.data<T>()) {}

  // The first maximum in the order of the taps, and where it is. Where every sum is the lowest
  // number, or no tap lies inside, the first position inside counts.
  T At(int64_t n, int64_t y, int64_t x, int64_t c, Maximum& where) const {
    const int64_t top = y * s_.stride[1] - s_.pad[1], left = x * s_.stride[2] - s_.pad[2];
    T best = Lowest<T>();
    where = {Input(n, std::max<int64_t>(top, 0), std::max<int64_t>(left, 0), c), c};
    for (int64_t ky = 0; ky < s_.filter[1]; ++ky) {
      const int64_t iy = top + ky * s_.dilation[1];
      if (!InRange(iy, s_.in[1])) continue;
      for (int64_t kx = 0; kx < s_.filter[2]; ++kx) {
        const int64_t ix = left + kx * s_.dilation[2];
        if (!InRange(ix, s_.in[2])) continue;
        const int64_t input = Input(n, iy, ix, c);
        const int64_t tap = (ky * s_.filter[2] + kx) * s_.in_channels + c;
        const T value = Plus(input_[input], filter_[tap]);
        if (value > best) {
          best = value;
          where = {input, tap};
        }
      }
    }
    return best;
  }

  int64_t Output(int64_t n, int64_t y, int64_t x, int64_t c) const {
    return ((n * s_.out[1] + y) * s_.out[2] + x) * s_.in_channels + c;
  }
  int64_t Input(int64_t n, int64_t y, int64_t x, int64_t c) const {
    return ((n * s_.in[1] + y) * s_.in[2] + x) * s_.in_channels + c;
  }
  // Calls f(output index, maximum) for each output element of an image and a channel.
  template <class F>
  void ForImage(int64_t n, int64_t c, F&& f) const {
    Maximum where;
    for (int64_t y = 0; y < s_.out[1]; ++y) {
      for (int64_t x = 0; x < s_.out[2]; ++x) {
        At(n, y, x, c, where);
        f(Output(n, y, x, c), where);
      }
    }
  }
  double image_cost() const {
    return 3.0 * static_cast<double>(s_.out[1]) * static_cast<double>(s_.out[2]) *
           static_cast<double>(s_.taps());
  }

 private:
  const kernels::ConvShape& s_;
  const T* const input_;
  const T* const filter_;
};

Result<kernels::ConvShape> ShapeOf(const ConvRules& rules, const Tensor& input,
                                   const Tensor& filter) {
  TRY_ASSIGN(const Shape taps, DepthwiseFilter(filter.shape()));
  TRY_ASSIGN(ConvGeometry geometry, ResolveConv(rules, input.shape(), taps));
  return geometry.shape;
}

template <class T>
void Dilate(const kernels::ConvShape& s, const Tensor& input, const Tensor& filter, Tensor& output,
            const ParallelFor& each) {
  const Dilation<T> dilation(s, input, filter);
  T* to = output.mutable_data<T>();
  each(s.batch * s.out[1],
       3.0 * static_cast<double>(s.taps()) * static_cast<double>(s.out[2] * s.in_channels),
       [&](int64_t begin, int64_t end) {
         Maximum where;
         for (int64_t row = begin; row < end; ++row) {
           const int64_t n = row / s.out[1], y = row % s.out[1];
           for (int64_t x = 0; x < s.out[2]; ++x) {
             for (int64_t c = 0; c < s.in_channels; ++c) {
               to[dilation.Output(n, y, x, c)] = dilation.At(n, y, x, c, where);
             }
           }
         }
       });
}

// Adds each element of dy to the input that was its maximum.
template <class T>
void AddToInputs(const kernels::ConvShape& s, const Tensor& input, const Tensor& filter,
                 const Tensor& dy, Tensor& sums, const ParallelFor& each) {
  const Dilation<T> dilation(s, input, filter);
  T* to = sums.mutable_data<T>();
  const T* from = dy.data<T>();
  each(s.batch * s.in_channels, dilation.image_cost(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      dilation.ForImage(i / s.in_channels, i % s.in_channels,
                        [&](int64_t output, const Maximum& where) {
                          to[where.input] = Plus(to[where.input], from[output]);
                        });
    }
  });
}

// Adds each element of dy to the tap that was its maximum.
template <class T>
void AddToTaps(const kernels::ConvShape& s, const Tensor& input, const Tensor& filter,
               const Tensor& dy, Tensor& sums, const ParallelFor& each) {
  const Dilation<T> dilation(s, input, filter);
  T* to = sums.mutable_data<T>();
  const T* from = dy.data<T>();
  each(s.in_channels, dilation.image_cost() * static_cast<double>(s.batch),
       [&](int64_t begin, int64_t end) {
         for (int64_t c = begin; c < end; ++c) {
           for (int64_t n = 0; n < s.batch; ++n) {
             dilation.ForImage(n, c, [&](int64_t output, const Maximum& where) {
               to[where.tap] = Plus(to[where.tap], from[output]);
             });
           }
         }
       });
}

}  // namespace

Result<Shape> DepthwiseFilter(const Shape& filter) {
  TRY(CheckRank(filter, 3, "filter"));
  Shape taps = filter.has_rank() ? filter : Shape::UnknownOfRank(3);
  taps.Append(1);
  return taps;
}

Status Dilation2D::ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& filter,
                              Tensor& output) const {
  if (output.num_elements() == 0) return OkStatus();
  TRY_ASSIGN(const kernels::ConvShape s, ShapeOf(Rules(), input, filter));
  return ForDType(output.dtype(), PlainRealNumbers(), [&]<class T>() {
    Dilate<T>(s, input, filter, output, context.parallel());
    return OkStatus();
  });
}

Status Dilation2DBackpropInput::ComputeCpu(CpuContext& context, const Tensor& input,
                                           const Tensor& filter, const Tensor& dy,
                                           Tensor& in_backprop) const {
  ZeroElements(in_backprop, context.parallel());
  if (dy.num_elements() == 0 || input.num_elements() == 0) return OkStatus();
  TRY_ASSIGN(const kernels::ConvShape s, ShapeOf(Rules(), input, filter));
  return ForDType(dy.dtype(), PlainRealNumbers(), [&]<class T>() {
    AddToInputs<T>(s, input, filter, dy, in_backprop, context.parallel());
    return OkStatus();
  });
}

Status Dilation2DBackpropFilter::ComputeCpu(CpuContext& context, const Tensor& input,
                                            const Tensor& filter, const Tensor& dy,
                                            Tensor& filter_backprop) const {
  ZeroElements(filter_backprop, context.parallel());
  if (dy.num_elements() == 0 || filter.num_elements() == 0) return OkStatus();
  TRY_ASSIGN(const kernels::ConvShape s, ShapeOf(Rules(), input, filter));
  return ForDType(dy.dtype(), PlainRealNumbers(), [&]<class T>() {
    AddToTaps<T>(s, input, filter, dy, filter_backprop, context.parallel());
    return OkStatus();
  });
}

void Dilation2D::Gradient(Gradients& g) const {
  const AttrMap attrs = op_internal::Encode(*this);
  g.Set(0, Op("Dilation2DBackpropInput", g.input(0), g.input(1), g.dy(), attrs));
  g.Set(1, Op("Dilation2DBackpropFilter", g.input(0), g.input(1), g.dy(), attrs));
}

void RegisterDilation2D(Registrar& registrar) {
  registrar.AddAll<Dilation2D, Dilation2DBackpropInput, Dilation2DBackpropFilter>();
}

}  // namespace penstock::ops
