#include "penstock/ops/image/encode_image.h"

#include "penstock/io/image/jpeg.h"
#include "penstock/io/image/png.h"

namespace penstock::ops {
namespace {

Status CheckQuality(int64_t quality) {
  if (quality >= 0 && quality <= 100) return OkStatus();
  return InvalidArgument("quality must be in [0, 100], got {}", quality);
}

// The pixels, if known, are at least one, of channels in [1, most].
Status CheckPixels(const Shape& image, int64_t most) {
  const int rank = image.rank();
  if (rank < 3) return OkStatus();
  const int64_t channels = image[rank - 1];
  if (channels == 0 || channels > most || (most == 3 && channels == 2))
    return InvalidArgument("an image must have 1 to {} channels, got shape {}", most, image);
  if (image[rank - 2] == 0 || image[rank - 3] == 0)
    return InvalidArgument("an image must have pixels, got shape {}", image);
  return OkStatus();
}

io::ImageExtent ExtentOf(const Shape& image) {
  const int rank = image.rank();
  return {1, image[rank - 3], image[rank - 2], image[rank - 1]};
}

}  // namespace

Status EncodeJpeg::CheckAttrs() const {
  for (const int64_t density : {x_density, y_density})
    if (density < 0 || density > 65535)
      return InvalidArgument("a density must be in [0, 65535], got {}", density);
  return CheckQuality(quality);
}
Result<Shape> EncodeJpeg::InferShape(const Shape& image) const {
  TRY(CheckRank(image, 3, "image"));
  TRY(CheckPixels(image, 3));
  const int64_t wanted = format == "grayscale" ? 1 : format == "rgb" ? 3 : Shape::kUnknownDim;
  if (image.has_rank() && wanted >= 0 && image[2] >= 0 && image[2] != wanted) {
    return InvalidArgument("format {} is of {} channels, got shape {}", format, wanted, image);
  }
  return Shape();
}
Status EncodeJpeg::ComputeCpu(CpuContext&, const Tensor& image, Tensor& contents) const {
  io::JpegEncodeOptions options;
  options.quality = static_cast<int>(quality);
  options.progressive = progressive;
  options.optimize_size = optimize_size;
  options.chroma_downsampling = chroma_downsampling;
  options.density_in_inches = density_unit == "in";
  options.x_density = static_cast<int>(x_density);
  options.y_density = static_cast<int>(y_density);
  options.xmp_metadata = xmp_metadata;
  TRY_ASSIGN(*contents.mutable_data<std::string>(),
             io::EncodeJpeg(image.data<uint8_t>(), ExtentOf(image.shape()), options));
  return OkStatus();
}

Result<Shape> EncodeJpegVariableQuality::InferShape(const Shape& images,
                                                    const Integers& quality) const {
  TRY(CheckRank(images, 3, "images"));
  TRY(CheckPixels(images, 3));
  TRY(CheckScalar(quality.shape(), "quality"));
  if (quality.known()) TRY(CheckQuality(quality[0]));
  return Shape();
}
Status EncodeJpegVariableQuality::ComputeCpu(CpuContext&, const Tensor& images,
                                             const Tensor& quality, Tensor& contents) const {
  io::JpegEncodeOptions options;
  options.quality = quality.scalar<int32_t>();
  TRY_ASSIGN(*contents.mutable_data<std::string>(),
             io::EncodeJpeg(images.data<uint8_t>(), ExtentOf(images.shape()), options));
  return OkStatus();
}

Status EncodePng::CheckAttrs() const {
  if (compression >= -1 && compression <= 9) return OkStatus();
  return InvalidArgument("compression must be in [-1, 9], got {}", compression);
}
Result<Shape> EncodePng::InferShape(const Shape& image) const {
  TRY(CheckRankAtLeast(image, 3, "image"));
  TRY(CheckPixels(image, 4));
  return image.has_rank() ? image.Slice(0, image.rank() - 3) : Shape::Unknown();
}
Status EncodePng::ComputeCpu(CpuContext& context, const Tensor& image, Tensor& contents) const {
  const io::ImageExtent extent = ExtentOf(image.shape());
  const int64_t bytes = static_cast<int64_t>(SizeOf(image.dtype()));
  const int64_t size = extent.height * extent.width * extent.channels;
  const auto* samples = static_cast<const uint8_t*>(image.raw());
  const int64_t count = contents.num_elements();
  std::vector<Status> statuses(static_cast<size_t>(count));
  context.parallel()(count, static_cast<double>(size) * 50, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Result<std::string> file =
          io::EncodePng(samples + i * size * bytes, extent, static_cast<int>(8 * bytes),
                        static_cast<int>(compression));
      statuses[i] = file.status();
      if (file.ok()) contents.mutable_data<std::string>()[i] = *std::move(file);
    }
  });
  for (const Status& status : statuses) TRY(status);
  return OkStatus();
}

void RegisterEncodeImage(Registrar& registrar) {
  registrar.AddAll<EncodeJpeg, EncodeJpegVariableQuality, EncodePng>();
}

}  // namespace penstock::ops
