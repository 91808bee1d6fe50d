#include "penstock/io/image/pixels.h"

#include "penstock/core/checked.h"

namespace penstock::io {

Status CheckExtent(const ImageExtent& extent, int64_t max_samples, std::string_view format) {
  int64_t samples = 1;
  for (const int64_t size : {extent.frames, extent.height, extent.width, extent.channels}) {
    const auto product = CheckedMul(samples, size);
    if (size <= 0 || !product || *product > max_samples) {
      return InvalidArgument(
          "{}: {} frames of {} x {} pixels and {} channels are none or more than {} samples",
          format, extent.frames, extent.width, extent.height, extent.channels, max_samples);
    }
    samples = *product;
  }
  return OkStatus();
}

}  // namespace penstock::io
