#include "penstock/io/image/webp.h"

namespace penstock::io {

Status DecodeWebP(std::string_view, int, bool, int64_t, PixelMemory) {
  return Unimplemented("built without libwebp: install libwebp-dev and configure again");
}

}  // namespace penstock::io
