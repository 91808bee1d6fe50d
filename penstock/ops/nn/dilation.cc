#include "penstock/ops/nn/dilation.h"

#include <algorithm>
#include <limits>

#include "penstock/ops/dtype_switch.h"

namespace penstock::ops {
namespace {

constexpr int64_t kMaxExtent = std::numeric_limits<int32_t>::max();

Status Check(const DilationWindow& window) {
  for (const std::vector<int64_t>* list : {&window.strides, &window.rates}) {
    if (list->size() != 4)
      return InvalidArgument("strides and rates must have 4 entries, got {}", list->size());
    if ((*list)[0] != 1 || (*list)[3] != 1)
      return Unimplemented("strides and rates of batch and channels must be 1, got {} and {}",
                           (*list)[0], (*list)[3]);
    for (const int64_t value : *list) {
      if (value < 1 || value > kMaxExtent)
        return InvalidArgument("strides and rates must be positive and fit 32 bits, got {}", value);
    }
  }
  return OkStatus();
}

struct Axis {
  int64_t in, out, taps, stride, rate, before;
};

Result<Axis> LayOut(int64_t in, int64_t taps, int64_t stride, int64_t rate, bool same) {
  const auto reach = CheckedMul(taps - 1, rate);
  if (!reach || *reach >= std::numeric_limits<int64_t>::max() / 2)
    return InvalidArgument("a window of {} places {} apart is too large", taps, rate);
  const int64_t window = *reach + 1;
  Axis axis{in, 0, taps, stride, rate, 0};
  if (same) {
    axis.out = in / stride + (in % stride != 0 ? 1 : 0);
    if (axis.out > 0) axis.before = std::max<int64_t>((axis.out - 1) * stride + window - in, 0) / 2;
    return axis;
  }
  if (in < window)
    return InvalidArgument(
        "Negative dimension size: an extent of {} has no room for a window of {}", in, window);
  axis.out = (in - window) / stride + 1;
  return axis;
}

Result<Shape> OutputShape(const DilationWindow& window, const Shape& input, const Shape& filter) {
  TRY(Check(window));
  TRY(CheckRank(input, 4, "input"));
  TRY(CheckRank(filter, 3, "filter"));
  Shape out = input.has_rank() ? input : Shape::UnknownOfRank(4);
  if (!filter.has_rank()) {
    out.set_dim(1, -1), out.set_dim(2, -1);
    return out;
  }
  const int64_t channels = filter.dim(2);
  if (channels >= 0 && out.dim(3) >= 0 && channels != out.dim(3))
    return InvalidArgument("input and filter must have the same channels, got {} and {}",
                           out.dim(3), channels);
  if (out.dim(3) < 0) out.set_dim(3, channels);
  for (int i = 1; i <= 2; ++i) {
    const int64_t in = out.dim(i), taps = filter.dim(i - 1);
    if (taps == 0) return InvalidArgument("filter must not be empty, got {}", filter);
    out.set_dim(i, -1);
    if (in < 0 || taps < 0) continue;
    TRY_ASSIGN(const Axis axis,
               LayOut(in, taps, window.strides[static_cast<size_t>(i)],
                      window.rates[static_cast<size_t>(i)], window.padding == "SAME"));
    out.set_dim(i, axis.out);
  }
  return out;
}

// Integers wrap.
template <class T>
T Plus(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}

// Calls take(output element, its largest sum, input element and filter element of that) for each
// output of the images [begin, end).
template <class T, class Take>
void ForLargest(const Axis& rows, const Axis& columns, int64_t channels, const T* input,
                const T* filter, int64_t begin, int64_t end, Take take) {
  using A = ComputeType<T>;
  int64_t output = begin * rows.out * columns.out * channels;
  for (int64_t n = begin; n < end; ++n) {
    for (int64_t i = 0; i < rows.out; ++i) {
      for (int64_t j = 0; j < columns.out; ++j) {
        for (int64_t c = 0; c < channels; ++c, ++output) {
          A best = static_cast<A>(std::numeric_limits<T>::lowest());
          int64_t from = -1, tap = -1;
          for (int64_t di = 0; di < rows.taps; ++di) {
            const int64_t y = i * rows.stride - rows.before + di * rows.rate;
            if (!InRange(y, rows.in)) continue;
            for (int64_t dj = 0; dj < columns.taps; ++dj) {
              const int64_t x = j * columns.stride - columns.before + dj * columns.rate;
              if (!InRange(x, columns.in)) continue;
              const int64_t at = ((n * rows.in + y) * columns.in + x) * channels + c;
              const int64_t k = (di * columns.taps + dj) * channels + c;
              const A sum = static_cast<A>(Plus(input[at], filter[k]));
              if (!(sum > best)) continue;
              best = sum;
              from = at;
              tap = k;
            }
          }
          take(output, best, from, tap);
        }
      }
    }
  }
}

struct Loops {
  Axis rows, columns;
  int64_t batch, channels;
  double cost;  // of an image
};
Result<Loops> LoopsOf(const DilationWindow& window, const Shape& input, const Shape& filter) {
  const bool same = window.padding == "SAME";
  Loops loops;
  TRY_ASSIGN(loops.rows,
             LayOut(input.dim(1), filter.dim(0), window.strides[1], window.rates[1], same));
  TRY_ASSIGN(loops.columns,
             LayOut(input.dim(2), filter.dim(1), window.strides[2], window.rates[2], same));
  loops.batch = input.dim(0);
  loops.channels = input.dim(3);
  loops.cost = 8.0 * static_cast<double>(loops.rows.out * loops.columns.out) *
               static_cast<double>(filter.num_elements());
  return loops;
}

}  // namespace

Result<Shape> Dilation2D::InferShape(const Shape& input, const Shape& filter) const {
  return OutputShape({strides, rates, padding}, input, filter);
}

void Dilation2D::Gradient(Gradients& g) const {
  const AttrMap attrs{{"strides", strides}, {"rates", rates}, {"padding", padding}};
  g.Set(0, Op("Dilation2DBackpropInput", g.input(0), g.input(1), g.dy(), attrs));
  g.Set(1, Op("Dilation2DBackpropFilter", g.input(0), g.input(1), g.dy(), attrs));
}

Status Dilation2D::ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& filter,
                              Tensor& output) const {
  if (output.num_elements() == 0) return OkStatus();
  TRY_ASSIGN(const Loops loops, LoopsOf({strides, rates, padding}, input.shape(), filter.shape()));
  return ForDType(input.dtype(), PlainRealNumbers(), [&]<class T>() {
    T* to = output.mutable_data<T>();
    context.parallel()(loops.batch, loops.cost, [&](int64_t begin, int64_t end) {
      ForLargest(loops.rows, loops.columns, loops.channels, input.data<T>(), filter.data<T>(),
                 begin, end, [to](int64_t at, ComputeType<T> best, int64_t, int64_t) {
                   to[at] = static_cast<T>(best);
                 });
    });
    return OkStatus();
  });
}

template <FixedString Name, FixedString Output, bool by_filter>
Result<Shape> DilationGrad<Name, Output, by_filter>::InferShape(const Shape& input,
                                                                const Shape& filter,
                                                                const Shape& out_backprop) const {
  TRY_ASSIGN(const Shape pooled, OutputShape({strides, rates, padding}, input, filter));
  if (!pooled.IsCompatibleWith(out_backprop))
    return InvalidArgument("Expected out_backprop of shape {}, got {}", pooled, out_backprop);
  if (by_filter) return filter.has_rank() ? filter : Shape::UnknownOfRank(3);
  return input.has_rank() ? input : Shape::UnknownOfRank(4);
}

template <FixedString Name, FixedString Output, bool by_filter>
Status DilationGrad<Name, Output, by_filter>::ComputeCpu(CpuContext& context, const Tensor& input,
                                                         const Tensor& filter,
                                                         const Tensor& out_backprop,
                                                         Tensor& output) const {
  return ForDType(input.dtype(), PlainRealNumbers(), [&]<class T>() {
    T* to = output.mutable_data<T>();
    std::fill_n(to, output.num_elements(), T(0));
    if (out_backprop.num_elements() == 0 || output.num_elements() == 0) return OkStatus();
    TRY_ASSIGN(const Loops loops,
               LoopsOf({strides, rates, padding}, input.shape(), filter.shape()));
    const T* dy = out_backprop.data<T>();
    const auto add = [to, dy](int64_t at, ComputeType<T>, int64_t from, int64_t tap) {
      const int64_t k = by_filter ? tap : from;
      if (k >= 0) to[k] = Plus(to[k], dy[at]);
    };
    const auto run = [&](int64_t begin, int64_t end) {
      ForLargest(loops.rows, loops.columns, loops.channels, input.data<T>(), filter.data<T>(),
                 begin, end, add);
    };
    // All images add to one filter.
    by_filter ? run(0, loops.batch) : context.parallel()(loops.batch, loops.cost, run);
    return OkStatus();
  });
}

void RegisterDilation(Registrar& registrar) {
  registrar.AddAll<Dilation2D, Dilation2DBackpropInput, Dilation2DBackpropFilter>();
}

}  // namespace penstock::ops
