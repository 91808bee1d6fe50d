#include "penstock/io/image/gif.h"

#include <gif_lib.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace penstock::io {
namespace {

struct Frame {
  int64_t left = 0;
  int64_t top = 0;
  int64_t width = 0;
  int64_t height = 0;
  int transparent = NO_TRANSPARENT_COLOR;
  std::vector<GifColorType> colours;
  std::vector<uint8_t> indices;
};

int ReadBytes(GifFileType* gif, GifByteType* out, int size) {
  auto* left = static_cast<std::string_view*>(gif->UserData);
  const size_t count = std::min(static_cast<size_t>(std::max(size, 0)), left->size());
  std::memcpy(out, left->data(), count);
  left->remove_prefix(count);
  return static_cast<int>(count);
}

// A file, read record by record: the library's own way to read it whole takes memory for what the
// headers promise, however little follows.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {
    gif_ = DGifOpen(&left_, &ReadBytes, &error_);
  }
  ~Reader() {
    if (gif_ != nullptr) DGifCloseFile(gif_, &error_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // The whole frames up to the end, or up to what is broken.
  Result<std::vector<Frame>> ReadFrames(int64_t max_samples) {
    if (gif_ == nullptr) return Broken();
    std::vector<Frame> frames;
    int transparent = NO_TRANSPARENT_COLOR;
    int64_t samples = 0;
    GifRecordType type = UNDEFINED_RECORD_TYPE;
    while (DGifGetRecordType(gif_, &type) != GIF_ERROR && type != TERMINATE_RECORD_TYPE) {
      if (type == EXTENSION_RECORD_TYPE) {
        if (!ReadExtension(&transparent)) break;
      } else if (type == IMAGE_DESC_RECORD_TYPE) {
        if (DGifGetImageDesc(gif_) == GIF_ERROR) break;
        const GifImageDesc& desc = gif_->Image;
        const int64_t pixels = static_cast<int64_t>(desc.Width) * desc.Height;
        TRY(CheckExtent({1, desc.Height, desc.Width, 3}, max_samples, "GIF"));
        samples += pixels * 3;
        if (samples > max_samples)
          return InvalidArgument("GIF: the frames have more than {} samples", max_samples);
        Frame frame{desc.Left, desc.Top, desc.Width, desc.Height, transparent, {}, {}};
        const ColorMapObject* map = desc.ColorMap != nullptr ? desc.ColorMap : gif_->SColorMap;
        if (map != nullptr) frame.colours.assign(map->Colors, map->Colors + map->ColorCount);
        if (!ReadIndices(desc.Interlace, &frame)) break;
        frames.push_back(std::move(frame));
        transparent = NO_TRANSPARENT_COLOR;
      }
    }
    if (frames.empty()) return Broken();
    return frames;
  }

 private:
  Status Broken() const {
    const int code = gif_ == nullptr ? error_ : gif_->Error;
    const char* text = GifErrorString(code);
    return InvalidArgument("GIF: {}", text == nullptr ? "there is no image in it" : text);
  }

  bool ReadExtension(int* transparent) {
    int code = 0;
    GifByteType* block = nullptr;
    if (DGifGetExtension(gif_, &code, &block) == GIF_ERROR) return false;
    while (block != nullptr) {
      GraphicsControlBlock control;
      if (code == GRAPHICS_EXT_FUNC_CODE &&
          DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK)
        *transparent = control.TransparentColor;
      if (DGifGetExtensionNext(gif_, &block) == GIF_ERROR) return false;
    }
    return true;
  }

  // False when the data ends early.
  bool ReadIndices(bool interlaced, Frame* frame) {
    const int width = static_cast<int>(frame->width);
    frame->indices.resize(static_cast<size_t>(frame->width * frame->height));
    constexpr int kFirst[] = {0, 4, 2, 1}, kStep[] = {8, 8, 4, 2};
    for (int pass = 0; pass < (interlaced ? 4 : 1); ++pass) {
      const int64_t step = interlaced ? kStep[pass] : 1;
      for (int64_t y = interlaced ? kFirst[pass] : 0; y < frame->height; y += step) {
        if (DGifGetLine(gif_, frame->indices.data() + y * frame->width, width) == GIF_ERROR)
          return false;
      }
    }
    return true;
  }

  std::string_view left_;
  GifFileType* gif_ = nullptr;
  int error_ = 0;
};

// Draws a frame upon what is there.
Status Draw(const Frame& frame, const ImageExtent& extent, bool first, uint8_t* canvas) {
  if (frame.colours.empty()) return InvalidArgument("GIF: a frame has no colours");
  const int64_t right = std::min(frame.left + frame.width, extent.width);
  const int64_t bottom = std::min(frame.top + frame.height, extent.height);
  for (int64_t y = frame.top; y < bottom; ++y) {
    const uint8_t* row = frame.indices.data() + (y - frame.top) * frame.width;
    for (int64_t x = frame.left; x < right; ++x) {
      const uint8_t index = row[x - frame.left];
      uint8_t* pixel = canvas + (y * extent.width + x) * 3;
      if (index == frame.transparent) {
        if (first) std::memset(pixel, 0, 3);
        continue;
      }
      if (index >= frame.colours.size()) {
        return InvalidArgument("GIF: a pixel has colour {} of {}", int{index},
                               frame.colours.size());
      }
      const GifColorType& colour = frame.colours[index];
      pixel[0] = colour.Red;
      pixel[1] = colour.Green;
      pixel[2] = colour.Blue;
    }
  }
  return OkStatus();
}

}  // namespace

Status DecodeGif(std::string_view bytes, bool all_frames, int64_t max_samples, PixelMemory memory) {
  Reader reader(bytes);
  TRY_ASSIGN(const std::vector<Frame> frames, reader.ReadFrames(max_samples));
  ImageExtent extent{all_frames ? static_cast<int64_t>(frames.size()) : 1, 0, 0, 3};
  for (const Frame& frame : frames) {
    extent.height = std::max(extent.height, frame.height);
    extent.width = std::max(extent.width, frame.width);
  }
  TRY(CheckExtent(extent, max_samples, "GIF"));
  TRY_ASSIGN(uint8_t * pixels, memory(extent));
  const size_t frame_bytes = static_cast<size_t>(extent.height * extent.width * 3);
  for (size_t i = 0; i < static_cast<size_t>(extent.frames); ++i) {
    uint8_t* canvas = pixels + i * frame_bytes;
    if (i == 0) {
      std::memset(canvas, 0, frame_bytes);
    } else {
      std::memcpy(canvas, canvas - frame_bytes, frame_bytes);
    }
    TRY(Draw(frames[i], extent, i == 0, canvas));
  }
  return OkStatus();
}

}  // namespace penstock::io
