#include <fstream>
#include <iterator>

#include "penstock/ops/image/decode_image.h"
#include "penstock/ops/image/encode_image.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;

// A file of the fuzz targets' corpus; tests run at the root.
std::string Seed(const std::string& path, size_t without = 0) {
  std::ifstream file("tests/corpus/" + path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  bytes.resize(bytes.size() - std::min(bytes.size(), without));
  return bytes;
}
Value SeedValue(const std::string& path, size_t without = 0) {
  return [=](uint64_t) { return Tensor::Scalar(Seed(path, without)); };
}
// A header, and one pixel of blue, green and red.
std::string Bmp() {
  std::string file(54, '\0');
  file.replace(0, 2, "BM");
  file[10] = 54, file[18] = 1, file[22] = 1, file[28] = 24;
  return file + std::string("\1\2\3\0", 4);
}

const OpRows kDecodeRows{
    Row("DecodeJpeg").Inputs(SeedValue("jpeg_fuzz/0.jpeg")),
    Row("DecodeJpeg").Attr("channels", int64_t{1}).Inputs(SeedValue("jpeg_fuzz/1.jpeg")),
    Row("DecodeJpeg").Inputs(SeedValue("jpeg_fuzz/0.jpeg", 300)).Fails(kBad, "ends after"),
    Row("DecodeJpeg")
        .Attr("try_recover_truncated", true)
        .Inputs(SeedValue("jpeg_fuzz/0.jpeg", 300))
        .Named("recovered"),
    Row("DecodeJpeg").Attr("ratio", int64_t{3}).Inputs(Scalar<std::string>("")).Fails(kBad, "3"),
    Row("DecodeJpeg").Inputs(Scalar<std::string>("\xff\xd8\xff")).Fails(kBad, "JPEG"),
    Row("DecodeAndCropJpeg").Inputs(SeedValue("jpeg_fuzz/0.jpeg"), Vector<int32_t>({1, 2, 3, 4})),
    Row("DecodeAndCropJpeg")
        .Inputs(SeedValue("jpeg_fuzz/0.jpeg"), Vector<int32_t>({1, 2, 300, 4}))
        .Fails(kBad, "crop window"),
    Row("DecodeAndCropJpeg")
        .Inputs(SeedValue("png_fuzz/0.png"), Vector<int32_t>({0, 0, 1, 1}))
        .Fails(kBad, "PNG"),
    Row(DecodePng{}).Attr("dtype", DType::kUint16).Inputs(SeedValue("png_fuzz/1.png")),
    Row(DecodePng{}).Inputs(SeedValue("png_fuzz/1.png", 30)).Fails(kBad, "cut off"),
    Row(DecodePng{.channels = 2}).Inputs(SeedValue("png_fuzz/1.png")).Fails(kBad, "2"),
    Row(DecodeGif{}).Inputs(SeedValue("gif_fuzz/2.gif")),
    Row(DecodeGif{}).Inputs(SeedValue("gif_fuzz/0.gif", 20)).Fails(kBad, "GIF"),
    Row(DecodeGif{}).Inputs(Vector<std::string>({"GIF8"})).Fails(kBad, "contents"),
    Row(DecodeBmp{}).Inputs(Scalar(Bmp())).Expect(Values<uint8_t>({1, 1, 3}, {3, 2, 1})),
    Row(DecodeBmp{}).Inputs(Scalar(Bmp() + "x")).Fails(kBad, "59 bytes"),
    Row(DecodeBmp{.channels = 1}).Inputs(Scalar(Bmp())).Fails(kBad, "channels"),
    Row(DecodeImage{})
        .Attr("dtype", DType::kFloat)
        .Inputs(Scalar(Bmp()))
        .Expect(Values<float>({1, 1, 3}, {3 / 255.f, 2 / 255.f, 1 / 255.f})),
    Row(DecodeImage{.expand_animations = false}).Inputs(SeedValue("gif_fuzz/2.gif")),
    Row(DecodeImage{}).Inputs(Scalar<std::string>("plain text")).Fails(kBad, "10"),
    Row(DecodeImage{.channels = 4}).Inputs(SeedValue("jpeg_fuzz/0.jpeg")).Fails(kBad, "4"),
    Row(DecodeWebP{}).Inputs(SeedValue("webp_fuzz/0.webp")),
    Row(DecodeWebP{}).Inputs(SeedValue("webp_fuzz/0.webp", 20)).Fails(kBad, "WebP"),
    Row(DecodeWebP{.channels = 1}).Inputs(SeedValue("webp_fuzz/0.webp")).Fails(kBad, "channels"),
    Row(ExtractJpegShape{})
        .Inputs(SeedValue("jpeg_fuzz/0.jpeg"))
        .Expect(Vector<int32_t>({17, 23, 3})),
    Row(ExtractJpegShape{}).Inputs(Scalar<std::string>("")).Fails(kBad, "JPEG"),
    Row(ExtractJpegShape{}).Inputs(Vector<std::string>({})).Fails(kBad, "contents"),
};

const OpRows kEncodeRows{
    Row(EncodeJpeg{.quality = 50, .progressive = true, .xmp_metadata = "<x/>"})
        .Inputs(Uniform<uint8_t>({9, 7, 3}, 0, 255)),
    Row(EncodeJpeg{}).Inputs(Uniform<uint8_t>({9, 7, 2}, 0, 255)).Fails(kBad, "channels"),
    Row(EncodeJpeg{.quality = 101}).Inputs(Uniform<uint8_t>({9, 7, 3}, 0, 255)).Fails(kBad, "101"),
    Row(EncodeJpeg{.xmp_metadata = std::string(70000, 'x')})
        .Inputs(Uniform<uint8_t>({2, 2, 3}, 0, 255))
        .Fails(kBad, "JPEG")
        .Named("long_marker"),
    Row(EncodeJpegVariableQuality{})
        .Inputs(Uniform<uint8_t>({9, 7, 1}, 0, 255), Scalar<int32_t>(30)),
    Row(EncodeJpegVariableQuality{})
        .Inputs(Uniform<uint8_t>({9, 7, 1}, 0, 255), Scalar<int32_t>(-1))
        .Fails(kBad, "-1"),
    Row(EncodeJpegVariableQuality{})
        .Inputs(Empty<uint8_t>({0, 7, 1}), Scalar<int32_t>(50))
        .Fails(kBad, "pixels"),
    Row(EncodePng{}).Inputs(Uniform<uint16_t>({2, 3, 4, 5, 2}, 0, 65535)),
    Row(EncodePng{}).Inputs(Empty<uint8_t>({0, 4, 5, 2})).Named("no_image"),
    Row(EncodePng{}).Inputs(Empty<uint8_t>({0, 0, 1})).Fails(kBad, "pixels"),
    Row(EncodePng{.compression = 10}).Inputs(Uniform<uint8_t>({2, 2, 1}, 0, 255)).Fails(kBad, "10"),
};

}  // namespace
}  // namespace penstock::rows
