#include <cstring>
#include <vector>

#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/image/image_batch.h"
#include "penstock/ops/image/resize.h"
#include "penstock/ops/image/resize_axis.h"

namespace penstock::ops {
namespace {

// Copies pixels of `bytes` bytes; common sizes are known to the compiler.
template <size_t kBytes>
void CopyPixels(const std::byte* row, const std::vector<int64_t>& pixels, size_t bytes,
                std::byte* out) {
  const size_t size = kBytes == 0 ? bytes : kBytes;
  for (const int64_t pixel : pixels) {
    std::memcpy(out, row + static_cast<size_t>(pixel) * size, size);
    out += size;
  }
}
using CopyFn = void (*)(const std::byte*, const std::vector<int64_t>&, size_t, std::byte*);
CopyFn CopyFor(size_t bytes) {
  switch (bytes) {
    case 1:
      return &CopyPixels<1>;
    case 3:
      return &CopyPixels<3>;
    case 4:
      return &CopyPixels<4>;
    case 12:
      return &CopyPixels<12>;
    default:
      return &CopyPixels<0>;
  }
}

// Sums the pixels of `grads` that were copied from each pixel of `output`, in their order.
template <class T>
void SumBack(const Tensor& grads, Tensor& output, const std::vector<int64_t>& rows,
             const std::vector<int64_t>& pixels, const ParallelFor& each) {
  const ImageBatch from(grads.shape()), to(output.shape());
  const double rows_each = static_cast<double>(from.height) / static_cast<double>(to.height) + 1;
  each(to.batch * to.height, static_cast<double>(from.row()) * 2 * rows_each,
       [&](int64_t first, int64_t last) {
         for (int64_t i = first; i < last; ++i) {
           const int64_t b = i / to.height, r = i % to.height;
           T* out = output.mutable_data<T>() + i * to.row();
           std::fill_n(out, to.row(), T(0));
           // Rows are read in order: those that copied row r are neighbours.
           auto y = std::lower_bound(rows.begin(), rows.end(), r) - rows.begin();
           for (; y < from.height && rows[y] == r; ++y) {
             const T* in = grads.data<T>() + b * from.image() + y * from.row();
             for (int64_t x = 0; x < from.width; ++x, in += from.channels) {
               T* sum = out + pixels[x] * to.channels;
               for (int64_t c = 0; c < to.channels; ++c) sum[c] = static_cast<T>(sum[c] + in[c]);
             }
           }
         }
       });
}

}  // namespace

Status ResizeNearestNeighbor::ComputeCpu(CpuContext& context, const Tensor& images, const Tensor&,
                                         Tensor& resized_images) const {
  if (resized_images.num_elements() == 0) return OkStatus();
  const ImageBatch in(images.shape()), out(resized_images.shape());
  const auto rows =
      NearestPixels({in.height, out.height, align_corners, half_pixel_centers}, align_corners);
  const auto pixels =
      NearestPixels({in.width, out.width, align_corners, half_pixel_centers}, align_corners);
  const size_t bytes = static_cast<size_t>(in.channels) * SizeOf(images.dtype());
  const CopyFn copy = CopyFor(bytes);
  const auto* from = static_cast<const std::byte*>(images.raw());
  auto* to = static_cast<std::byte*>(resized_images.mutable_raw());
  const double cost = static_cast<double>(out.width) * (2 + static_cast<double>(bytes) / 8);
  context.parallel()(out.batch * out.height, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / out.height * in.height + rows[i % out.height];
      copy(from + row * in.width * bytes, pixels, bytes, to + i * out.width * bytes);
    }
  });
  return OkStatus();
}

Status ResizeNearestNeighborGrad::ComputeCpu(CpuContext& context, const Tensor& grads,
                                             const Tensor&, Tensor& output) const {
  if (output.num_elements() == 0) return OkStatus();
  const ImageBatch from(grads.shape()), to(output.shape());
  const auto rows =
      NearestPixels({to.height, from.height, align_corners, half_pixel_centers}, align_corners);
  const auto pixels =
      NearestPixels({to.width, from.width, align_corners, half_pixel_centers}, align_corners);
  return ForDType(grads.dtype(), Types<uint8_t, int8_t, int32_t, half, float, double, bfloat16>(),
                  [&]<class T>() {
                    using Wraps = std::conditional_t<std::is_same_v<T, int32_t>, uint32_t, T>;
                    SumBack<Wraps>(grads, output, rows, pixels, context.parallel());
                    return OkStatus();
                  });
}

}  // namespace penstock::ops
