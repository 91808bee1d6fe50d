#include <utility>

#include "penstock/io/file_tree.h"
#include "penstock/io/image/bmp.h"
#include "penstock/io/image/gif.h"
#include "penstock/io/image/jpeg.h"
#include "penstock/io/image/png.h"
#include "penstock/io/image/webp.h"
#include "penstock/train/data/images.h"

namespace penstock {
namespace {

constexpr int64_t kMaxImageBytes = int64_t{256} << 20;

// Decodes an image by what its first bytes say it is.
Status Decode(std::string_view bytes, int channels, io::PixelMemory memory) {
  if (bytes.starts_with("\xff\xd8\xff")) {
    io::JpegDecodeOptions options;
    options.channels = channels;
    return io::DecodeJpeg(bytes, options, memory);
  }
  if (bytes.starts_with("\x89PNG")) {
    io::PngDecodeOptions options;
    options.channels = channels;
    return io::DecodePng(bytes, options, memory);
  }
  if (channels == 3) {
    if (bytes.starts_with("GIF8")) return io::DecodeGif(bytes, false, io::kMaxSamples, memory);
    if (bytes.starts_with("BM")) return io::DecodeBmp(bytes, 3, io::kMaxSamples, memory);
    if (bytes.starts_with("RIFF") && bytes.substr(8).starts_with("WEBP"))
      return io::DecodeWebP(bytes, 3, false, io::kMaxSamples, memory);
  }
  return InvalidArgument("no image of a known format{}", channels == 3 ? "" : " of one channel");
}

Result<Tensor> DecodeFile(const std::string& path, int channels, data::Counters& counters) {
  TRY_ASSIGN(const std::string bytes, io::ReadWholeFile(path, kMaxImageBytes));
  counters.bytes += static_cast<int64_t>(bytes.size());
  Tensor image;
  const Status decoded =
      Decode(bytes, channels, [&](const io::ImageExtent& extent) -> Result<uint8_t*> {
        TRY_ASSIGN(image, Tensor::Make(HostAllocator(), DType::kUint8,
                                       Shape{extent.height, extent.width, extent.channels}));
        return image.mutable_data<uint8_t>();
      });
  if (!decoded.ok()) return decoded.Annotate(Printable(path));
  return image;
}

}  // namespace

std::vector<std::string> ImageFolder::Classes() const {
  std::vector<std::string> classes;
  for (const std::string& name : OrThrow(io::ListFolder(path)))
    if (OrThrow(io::StatFile(path + "/" + name)).is_folder) classes.push_back(name);
  return classes;
}

DatasetOf<uint8_t, int32_t> ImageFolder::Read() const {
  if (channels != 1 && channels != 3)
    throw Error(InvalidArgument("{}: images are read with 1 or 3 channels, got {}", Printable(path),
                                channels));
  std::vector<std::string> files;
  std::vector<int32_t> labels;
  int32_t label = 0;
  for (const std::string& name : Classes()) {
    for (const std::string& file : OrThrow(io::ListFolder(path + "/" + name))) {
      files.push_back(path + "/" + name + "/" + file);
      labels.push_back(label);
    }
    ++label;
  }
  if (files.empty())
    throw Error(NotFound("{}: there are no folders of images, one a class", Printable(path)));
  auto decode = [channels = channels, on_bad = on_bad](
                    data::Element* element, const data::ElementInfo& info) -> Result<bool> {
    Result<Tensor> image =
        DecodeFile((*element)[0].scalar<std::string>(), channels, *info.counters);
    if (!image.ok()) TRY(data::BadRecord(on_bad, image.status(), *info.counters));
    if (image.ok()) (*element)[0] = *std::move(image);
    return image.ok();
  };
  return DatasetOf<uint8_t, int32_t>(OrThrow(
      data::MakeFunction(FromArrays(Array<std::string>(files), Array<int32_t>(labels)).stage(),
                         {"ImageFolder", std::move(decode), data::NumThreads(threads),
                          on_bad == OnBadRecord::kSkip})));
}

}  // namespace penstock
