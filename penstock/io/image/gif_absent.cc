#include "penstock/io/image/gif.h"

namespace penstock::io {

Status DecodeGif(std::string_view, bool, int64_t, PixelMemory) {
  return Unimplemented("built without giflib: install libgif-dev and configure again");
}

}  // namespace penstock::io
