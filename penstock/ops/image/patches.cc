#include "penstock/ops/image/patches.h"

#include <algorithm>
#include <cstring>

#include "penstock/core/checked.h"

namespace penstock::ops {
namespace {

// Along one axis: windows of `size` pixels `rate` apart, `stride` from one window to the next.
struct Window {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t rate = 1;
  int64_t pixels = 1;
  int64_t count = 1;    // of windows
  int64_t padding = 0;  // pixels before the first

  // REQUIRES: attributes checked by CheckWindows.
  static Result<Window> Make(int64_t pixels, int64_t size, int64_t stride, int64_t rate,
                             bool same) {
    Window window{size, stride, rate, pixels, Shape::kUnknownDim, 0};
    if (pixels < 0) return window;
    const int64_t extent = (size - 1) * rate + 1;
    if (same) {
      window.count = pixels / stride + (pixels % stride != 0 ? 1 : 0);
      const int64_t covered = (window.count - 1) * stride + extent;
      window.padding = std::max<int64_t>(0, covered - pixels) / 2;
      return window;
    }
    window.count = pixels < extent ? 0 : (pixels - extent) / stride + 1;
    if (pixels - extent + stride < 0)
      return InvalidArgument("windows of {} pixels do not fit into {}", extent, pixels);
    return window;
  }
};

// Sizes, strides and rates are one for the batch and the channels, and small enough that their
// products are numbers.
Status CheckWindows(const std::vector<int64_t>& values, size_t rank, std::string_view what) {
  constexpr int64_t kMax = int64_t{1} << 30;
  if (values.size() != rank)
    return InvalidArgument("{} must have {} elements, got {}", what, rank, values.size());
  if (values.front() != 1 || values.back() != 1)
    return Unimplemented("{} must be 1 for batch and channels, got {} and {}", what, values.front(),
                         values.back());
  for (const int64_t value : values)
    if (value < 1 || value > kMax)
      return InvalidArgument("{} must be in [1, {}], got {}", what, kMax, value);
  return OkStatus();
}

// The windows of the middle axes.
struct Windows {
  std::vector<Window> axes;
  Shape output;

  static Result<Windows> Make(const Shape& input, const std::vector<int64_t>& sizes,
                              const std::vector<int64_t>& strides,
                              const std::vector<int64_t>& rates, const std::string& padding) {
    const int rank = static_cast<int>(sizes.size());
    TRY(CheckRank(input, rank, "input"));
    const Shape in = input.has_rank() ? input : Shape::UnknownOfRank(rank);
    std::vector<int64_t> dims{in[0]};
    Windows windows;
    int64_t channels = in[rank - 1];
    for (int axis = 1; axis + 1 < rank; ++axis) {
      TRY_ASSIGN(const Window window, Window::Make(in[axis], sizes[axis], strides[axis],
                                                   rates[axis], padding == "SAME"));
      windows.axes.push_back(window);
      dims.push_back(window.count);
      const auto product = CheckedMul(channels, sizes[axis]);
      if (!product) return InvalidArgument("windows of {} channels are too large", channels);
      channels = channels < 0 ? channels : *product;
    }
    dims.push_back(channels);
    TRY_ASSIGN(windows.output, Shape::Make(dims));
    return windows;
  }
};

// Copies the windows; a thread writes whole windows. Axes as in Windows, pixels of `bytes` bytes.
void CopyWindows(CpuContext& context, const Tensor& input, const std::vector<Window>& axes,
                 Tensor& patches) {
  const int rank = input.shape().rank();
  const size_t bytes = SizeOf(input.dtype()) * static_cast<size_t>(input.shape()[rank - 1]);
  int64_t count = 1, taps = 1, image = 1;
  for (const Window& axis : axes) {
    count *= axis.count;
    taps *= axis.size;
    image *= axis.pixels;
  }
  if (patches.num_elements() == 0) return;
  const auto* from = static_cast<const std::byte*>(input.raw());
  auto* to = static_cast<std::byte*>(patches.mutable_raw());
  // The pixel that tap `tap` of window `window` reads, or -1 outside.
  const auto pixel_at = [&](int64_t window, int64_t tap) {
    int64_t pixel = 0, step = 1;
    for (size_t k = axes.size(); k-- > 0;) {
      const Window& axis = axes[k];
      const int64_t at =
          window % axis.count * axis.stride - axis.padding + tap % axis.size * axis.rate;
      if (!InRange(at, axis.pixels)) return int64_t{-1};
      pixel += at * step;
      step *= axis.pixels;
      window /= axis.count;
      tap /= axis.size;
    }
    return pixel;
  };
  const double cost = static_cast<double>(taps) * (10 + static_cast<double>(bytes) / 8);
  context.parallel()(input.shape()[0] * count, cost, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const std::byte* pixels = from + static_cast<size_t>(i / count * image) * bytes;
      std::byte* out = to + static_cast<size_t>(i * taps) * bytes;
      for (int64_t tap = 0; tap < taps; ++tap, out += bytes) {
        const int64_t pixel = pixel_at(i % count, tap);
        if (pixel < 0) {
          std::memset(out, 0, bytes);
        } else {
          std::memcpy(out, pixels + static_cast<size_t>(pixel) * bytes, bytes);
        }
      }
    }
  });
}

// The windows of the pixels' own numbers tell where each part of a patch came from; parts are
// summed by that number. Numbers start from 1, so that padding becomes -1, which sums drop.
Expr SumPatches(const Gradients& g, std::string_view op, const AttrMap& windows, int rank) {
  const Scope& scope = g.scope();
  const auto vector = [&](std::vector<int64_t> values) {
    const Shape shape{static_cast<int64_t>(values.size())};
    return scope.Constant(Tensor::FromValues<int64_t>(shape, values));
  };
  const auto number = [&](int64_t value) { return scope.Constant(Tensor::Scalar(value)); };
  const auto part = [&](const Expr& shape, int64_t begin, int64_t size) {
    return Op("Slice", shape, vector({begin}), vector({size}));
  };
  const auto join = [&](std::vector<Expr> parts) {
    const int64_t n = static_cast<int64_t>(parts.size());
    parts.push_back(scope.Constant(Tensor::Scalar<int32_t>(0)));
    return scope.Add("ConcatV2", parts, {{"N", n}});
  };
  const Expr in = Op("Shape", g.input(0), {{"out_type", DType::kInt64}});
  const Expr batch = part(in, 0, 1), space = part(in, 1, rank - 2),
             channels = part(in, rank - 1, 1);
  const Expr pixels = Op("Prod", space, vector({0}));
  const Expr numbers = scope.Add("Range", {number(1), pixels + number(1), number(1)});
  const Expr image = Op("Reshape", numbers, join({vector({1}), space, vector({1})}));
  const Expr sources = Op(op, image, windows) - number(1);
  // [batch, parts, channels] of what comes back, summed as [parts, batch, channels].
  const Expr by_part = Op("Reshape", g.dy(), join({batch, vector({-1}), channels}));
  const Expr swap = scope.Constant(Tensor::FromValues<int32_t>({3}, {1, 0, 2}));
  const Expr sums = scope.Add("UnsortedSegmentSum", {Op("Transpose", by_part, swap),
                                                     Op("Reshape", sources, vector({-1})), pixels});
  return Op("Reshape", Op("Transpose", sums, swap), in);
}

}  // namespace

Status ExtractImagePatches::CheckAttrs() const {
  TRY(CheckWindows(ksizes, 4, "ksizes"));
  TRY(CheckWindows(strides, 4, "strides"));
  return CheckWindows(rates, 4, "rates");
}
Result<Shape> ExtractImagePatches::InferShape(const Shape& images) const {
  TRY_ASSIGN(Windows windows, Windows::Make(images, ksizes, strides, rates, padding));
  return windows.output;
}
void ExtractImagePatches::Gradient(Gradients& g) const {
  const AttrMap attrs{
      {"ksizes", ksizes}, {"strides", strides}, {"rates", rates}, {"padding", padding}};
  g.Set(0, SumPatches(g, kName, attrs, 4));
}
Status ExtractImagePatches::ComputeCpu(CpuContext& context, const Tensor& images,
                                       Tensor& patches) const {
  TRY_ASSIGN(const Windows windows, Windows::Make(images.shape(), ksizes, strides, rates, padding));
  CopyWindows(context, images, windows.axes, patches);
  return OkStatus();
}

Status ExtractVolumePatches::CheckAttrs() const {
  TRY(CheckWindows(ksizes, 5, "ksizes"));
  return CheckWindows(strides, 5, "strides");
}
Result<Shape> ExtractVolumePatches::InferShape(const Shape& input) const {
  TRY_ASSIGN(Windows windows,
             Windows::Make(input, ksizes, strides, std::vector<int64_t>(5, 1), padding));
  return windows.output;
}
void ExtractVolumePatches::Gradient(Gradients& g) const {
  const AttrMap attrs{{"ksizes", ksizes}, {"strides", strides}, {"padding", padding}};
  g.Set(0, SumPatches(g, kName, attrs, 5));
}
Status ExtractVolumePatches::ComputeCpu(CpuContext& context, const Tensor& input,
                                        Tensor& patches) const {
  TRY_ASSIGN(const Windows windows,
             Windows::Make(input.shape(), ksizes, strides, std::vector<int64_t>(5, 1), padding));
  CopyWindows(context, input, windows.axes, patches);
  return OkStatus();
}

void RegisterPatches(Registrar& registrar) {
  registrar.AddAll<ExtractImagePatches, ExtractVolumePatches>();
}

}  // namespace penstock::ops
