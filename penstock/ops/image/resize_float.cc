#include <algorithm>
#include <cstring>
#include <vector>

#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/image/image_batch.h"
#include "penstock/ops/image/resize.h"
#include "penstock/ops/image/resize_axis.h"

// Resizing between pixels, and its derivative. A thread works on whole rows, so that results do not
// depend on their number.

namespace penstock::ops {
namespace {

ResizeTaps TapsOf(Bilinear, const ResizeAxis& axis) { return LinearTaps(axis); }
ResizeTaps TapsOf(Bicubic, const ResizeAxis& axis) { return CubicTaps(axis); }

// out[x] = in[lower] + (in[upper] - in[lower]) * part, for each pixel x of a row of C channels.
template <int kChannels>
void StretchRow(const float* in, const ResizeTaps& across, int64_t width, int64_t channels,
                float* __restrict out) {
  const int64_t C = kChannels == 0 ? channels : kChannels;
  for (int64_t x = 0; x < width; ++x, out += C) {
    const float* lower = in + across.pixels[2 * x] * C;
    const float* upper = in + across.pixels[2 * x + 1] * C;
    const float part = across.weights[2 * x + 1];
    for (int64_t c = 0; c < C; ++c) out[c] = lower[c] + (upper[c] - lower[c]) * part;
  }
}

// out[x] = the sum of four pixels by their weights.
template <int kChannels>
void SumRow(const float* in, const ResizeTaps& across, int64_t width, int64_t channels,
            float* __restrict out) {
  const int64_t C = kChannels == 0 ? channels : kChannels;
  for (int64_t x = 0; x < width; ++x, out += C) {
    const int64_t* pixels = &across.pixels[4 * x];
    const float* w = &across.weights[4 * x];
    const float *a = in + pixels[0] * C, *b = in + pixels[1] * C;
    const float *d = in + pixels[2] * C, *e = in + pixels[3] * C;
    for (int64_t c = 0; c < C; ++c) out[c] = a[c] * w[0] + b[c] * w[1] + d[c] * w[2] + e[c] * w[3];
  }
}

using RowFn = void (*)(const float*, const ResizeTaps&, int64_t, int64_t, float*);

// One thread's rows: keeps the two rows of the original that were stretched last.
class BilinearRows {
 public:
  BilinearRows(const ImageBatch& in, const ImageBatch& out, const ResizeTaps& across)
      : in_(in),
        out_(out),
        across_(across),
        stretch_(ForChannels(in.channels, []<int C>() -> RowFn { return &StretchRow<C>; })) {
    for (Row& row : rows_) row.values.resize(static_cast<size_t>(out.row()));
  }

  void Write(const float* image, const ResizeTaps& down, int64_t y, float* out) {
    const float* top = Stretched(image, down.pixels[2 * y], -1);
    const float* bottom = Stretched(image, down.pixels[2 * y + 1], down.pixels[2 * y]);
    const float part = down.weights[2 * y + 1];
    const int64_t n = out_.row();
    for (int64_t i = 0; i < n; ++i) out[i] = top[i] + (bottom[i] - top[i]) * part;
  }

 private:
  struct Row {
    const float* source = nullptr;
    std::vector<float> values;
  };

  // Row y of the image, stretched; the row `keep` stays at hand.
  const float* Stretched(const float* image, int64_t y, int64_t keep) {
    const float* source = image + y * in_.row();
    for (const Row& row : rows_)
      if (row.source == source) return row.values.data();
    const float* kept = keep < 0 ? rows_[1].source : image + keep * in_.row();
    Row& row = rows_[0].source == kept ? rows_[1] : rows_[0];
    row.source = source;
    stretch_(source, across_, out_.width, out_.channels, row.values.data());
    return row.values.data();
  }

  const ImageBatch in_;
  const ImageBatch out_;
  const ResizeTaps& across_;
  const RowFn stretch_;
  Row rows_[2];
};

// One thread's rows of four taps: down the columns first, then across.
class BicubicRows {
 public:
  BicubicRows(const ImageBatch& in, const ImageBatch& out, const ResizeTaps& across)
      : in_(in),
        out_(out),
        across_(across),
        sum_(ForChannels(in.channels, []<int C>() -> RowFn { return &SumRow<C>; })),
        row_(static_cast<size_t>(in.row())) {}

  void Write(const float* image, const ResizeTaps& down, int64_t y, float* out) {
    const int64_t* rows = &down.pixels[4 * y];
    Sum(image + rows[0] * in_.row(), image + rows[1] * in_.row(), image + rows[2] * in_.row(),
        image + rows[3] * in_.row(), &down.weights[4 * y], in_.row(), row_.data());
    sum_(row_.data(), across_, out_.width, out_.channels, out);
  }

 private:
  static void Sum(const float* a, const float* b, const float* c, const float* d,
                  const float* weights, int64_t n, float* __restrict out) {
    const float wa = weights[0], wb = weights[1], wc = weights[2], wd = weights[3];
    for (int64_t i = 0; i < n; ++i) out[i] = a[i] * wa + b[i] * wb + c[i] * wc + d[i] * wd;
  }

  const ImageBatch in_;
  const ImageBatch out_;
  const ResizeTaps& across_;
  const RowFn sum_;
  std::vector<float> row_;
};

template <class Rows>
void ResizeRows(const Tensor& images, Tensor& resized, const ResizeTaps& down,
                const ResizeTaps& across, const ParallelFor& each) {
  const ImageBatch in(images.shape()), out(resized.shape());
  const double cost = static_cast<double>(out.row()) * 8 + static_cast<double>(in.row()) * 2;
  each(out.batch * out.height, cost, [&](int64_t begin, int64_t end) {
    Rows rows(in, out, across);
    for (int64_t i = begin; i < end; ++i) {
      const float* image = images.data<float>() + i / out.height * in.image();
      rows.Write(image, down, i % out.height, resized.mutable_data<float>() + i * out.row());
    }
  });
}
void Resize(Bilinear, const Tensor& images, Tensor& resized, const ResizeTaps& down,
            const ResizeTaps& across, const ParallelFor& each) {
  ResizeRows<BilinearRows>(images, resized, down, across, each);
}
void Resize(Bicubic, const Tensor& images, Tensor& resized, const ResizeTaps& down,
            const ResizeTaps& across, const ParallelFor& each) {
  ResizeRows<BicubicRows>(images, resized, down, across, each);
}

// The rows of the resized image that row r of the original was read for are neighbours: [begin,
// end) of each r.
struct Readers {
  std::vector<int64_t> begin;
  std::vector<int64_t> end;

  Readers(const ResizeTaps& taps, const ResizeAxis& axis) : begin(axis.from, 0), end(axis.from, 0) {
    for (int64_t y = 0; y < axis.to; ++y) {
      for (int k = 0; k < taps.count; ++k) {
        const int64_t r = taps.pixels[y * taps.count + k];
        if (end[r] == 0) begin[r] = y;
        end[r] = y + 1;
      }
    }
  }
};

// Adds to row r of the original what the rows that read it send back, in their order. Products are
// of type P.
template <class P, class T>
void ScatterRow(const float* grads, int64_t r, int64_t y, const ResizeTaps& down,
                const ResizeTaps& across, int64_t width, int64_t channels, T* out) {
  for (int64_t x = 0; x < width; ++x, grads += channels) {
    for (int j = 0; j < down.count; ++j) {
      if (down.pixels[y * down.count + j] != r) continue;
      const float wy = down.weights[y * down.count + j];
      for (int i = 0; i < across.count; ++i) {
        const float wx = across.weights[x * across.count + i];
        T* to = out + across.pixels[x * across.count + i] * channels;
        for (int64_t c = 0; c < channels; ++c) to[c] += static_cast<P>(grads[c]) * wy * wx;
      }
    }
  }
}

template <class P, class T>
void ScatterBack(const Tensor& grads, Tensor& output, const ResizeTaps& down,
                 const ResizeTaps& across, const ResizeAxis& axis, const ParallelFor& each) {
  const ImageBatch from(grads.shape()), to(output.shape());
  const Readers readers(down, axis);
  const double per_row = static_cast<double>(from.height) / static_cast<double>(to.height) + 1;
  const double cost = static_cast<double>(from.row()) * 8 * per_row;
  each(to.batch * to.height, cost, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t b = i / to.height, r = i % to.height;
      T* out = output.mutable_data<T>() + i * to.row();
      std::fill_n(out, to.row(), T(0));
      for (int64_t y = readers.begin[r]; y < readers.end[r]; ++y)
        ScatterRow<P>(grads.data<float>() + b * from.image() + y * from.row(), r, y, down, across,
                      from.width, from.channels, out);
    }
  });
}

}  // namespace

template <class Method>
Status ResizeToFloat<Method>::ComputeCpu(CpuContext& context, const Tensor& images, const Tensor&,
                                         Tensor& resized_images) const {
  if (resized_images.num_elements() == 0) return OkStatus();
  const ImageBatch in(images.shape()), out(resized_images.shape());
  TRY_ASSIGN(const Tensor floats, AsFloat(context, images));
  if (std::is_same_v<Method, Bilinear> && in.height == out.height && in.width == out.width) {
    std::memcpy(resized_images.mutable_raw(), floats.raw(), floats.bytes());
    return OkStatus();
  }
  const ResizeAxis height(in.height, out.height, align_corners, half_pixel_centers);
  const ResizeAxis width(in.width, out.width, align_corners, half_pixel_centers);
  Resize(Method(), floats, resized_images, TapsOf(Method(), height), TapsOf(Method(), width),
         context.parallel());
  return OkStatus();
}

template <class Method>
Status ResizeFromFloatGrad<Method>::ComputeCpu(CpuContext& context, const Tensor& grads,
                                               const Tensor&, Tensor& output) const {
  if (output.num_elements() == 0) return OkStatus();
  const ImageBatch in(output.shape()), out(grads.shape());
  const ResizeAxis height(in.height, out.height, align_corners, half_pixel_centers);
  const ResizeAxis width(in.width, out.width, align_corners, half_pixel_centers);
  const ResizeTaps down = TapsOf(Method(), height), across = TapsOf(Method(), width);
  if (output.dtype() == DType::kDouble) {
    using Product = std::conditional_t<std::is_same_v<Method, Bicubic>, double, float>;
    ScatterBack<Product, double>(grads, output, down, across, height, context.parallel());
    return OkStatus();
  }
  // 16-bit results are summed in float.
  Tensor sums = output;
  if (output.dtype() != DType::kFloat) {
    TRY_ASSIGN(sums, context.Allocate(DType::kFloat, output.shape()));
  }
  ScatterBack<float, float>(grads, sums, down, across, height, context.parallel());
  if (output.dtype() != DType::kFloat) StoreFloats(context, sums, output);
  return OkStatus();
}

template struct ResizeToFloat<Bilinear>;
template struct ResizeToFloat<Bicubic>;
template struct ResizeFromFloatGrad<Bilinear>;
template struct ResizeFromFloatGrad<Bicubic>;

}  // namespace penstock::ops
