#include "penstock/ops/summary/image_summary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "penstock/graph/scope.h"
#include "penstock/io/image/png.h"
#include "penstock/io/wire_reader.h"
#include "penstock/session/session.h"

namespace penstock::ops {
namespace {

using Bytes = std::vector<uint8_t>;

struct Shown {
  std::string tag;
  Bytes pixels;
  bool operator==(const Shown&) const = default;
};

Bytes Decode(std::string_view png) {
  Bytes pixels;
  const Status status =
      io::DecodePng(png, {}, [&](const io::ImageExtent& extent) -> Result<uint8_t*> {
        pixels.resize(extent.height * extent.width * extent.channels);
        return pixels.data();
      });
  EXPECT_TRUE(status.ok()) << status.ToString();
  return pixels;
}

Shown ParseValue(std::string_view value) {
  Shown shown;
  for (io::WireReader reader(value); reader.Next();) {
    if (reader.Is(1, io::WireReader::kBytes)) shown.tag = reader.bytes();
    if (!reader.Is(4, io::WireReader::kBytes)) continue;
    for (io::WireReader image(reader.bytes()); image.Next();)
      if (image.Is(4, io::WireReader::kBytes)) shown.pixels = Decode(image.bytes());
  }
  return shown;
}

Result<std::vector<Shown>> Show(const Tensor& images, AttrMap attrs = {}) {
  Graph graph;
  const Scope scope(graph);
  const Expr summary = scope.Add(
      "ImageSummary", {scope.Constant(Tensor::Scalar(std::string("t"))), scope.Constant(images)},
      std::move(attrs));
  TRY(scope.status());
  const auto session = MakeLocalSession(graph);
  TRY_ASSIGN(
      const std::vector<Tensor> fetched,
      session->Run({.feeds = {}, .fetches = {summary.ref()}, .targets = {}}, {}, {}, nullptr));
  std::vector<Shown> all;
  for (io::WireReader reader(fetched[0].scalar<std::string>()); reader.Next();)
    all.push_back(ParseValue(reader.bytes()));
  return all;
}

template <class T>
Tensor Images(const Shape& shape, std::vector<double> values) {
  Tensor tensor(kDTypeOf<T>, shape);
  for (size_t i = 0; i < values.size(); ++i)
    tensor.mutable_data<T>()[i] = static_cast<T>(static_cast<float>(values[i]));
  return tensor;
}

// The pixels are those of stock TensorFlow 2.21.
TEST(ImageSummary, ScalesAsTensorFlow) {
  const auto expect = [](const Tensor& images, const Bytes& pixels) {
    const auto shown = Show(images);
    ASSERT_TRUE(shown.ok()) << shown.status().ToString();
    EXPECT_EQ(*shown, (std::vector<Shown>{{"t/image/0", pixels}}));
  };
  expect(Images<float>({1, 2, 2, 1}, {-1, 0, 0.5, 0.25}), {1, 128, 191, 159});
  expect(Images<double>({1, 1, 2, 3}, {-1, 0, 0.5, 0.25, 3, 1}), {85, 128, 149, 138, 254, 170});
  expect(Images<half>({1, 1, 2, 4}, {-1, 0, INFINITY, 0.25, 3, 1, 2, 0.1}),
         {255, 0, 0, 255, 255, 85, 170, 8});
  expect(Images<half>({1, 2, 2, 1}, {0.3, 0.7, 0.9, 0.11}), {85, 198, 254, 31});
  expect(Images<float>({1, 1, 2, 1}, {1e-7, 0}), {0, 0});
  expect(Images<float>({1, 1, 2, 1}, {NAN, INFINITY}), {255, 255});
}

TEST(ImageSummary, NumbersTheImages) {
  const Tensor images = Images<uint8_t>({3, 1, 2, 1}, {1, 2, 3, 100, 200, 255});
  EXPECT_EQ(*Show(images, {{"max_images", int64_t{2}}}),
            (std::vector<Shown>{{"t/image/0", {1, 2}}, {"t/image/1", {3, 100}}}));
  EXPECT_EQ(*Show(images, {{"max_images", int64_t{1}}}), (std::vector<Shown>{{"t/image", {1, 2}}}));
  EXPECT_TRUE(Show(Images<float>({0, 2, 2, 1}, {}))->empty());
}

TEST(ImageSummary, TheBadColorCanBeChosen) {
  const Tensor nine = Tensor::FromValues<uint8_t>({1}, {9});
  EXPECT_EQ(*Show(Images<float>({1, 1, 2, 1}, {NAN, 1}), {{"bad_color", nine}}),
            (std::vector<Shown>{{"t/image/0", {9, 255}}}));
  EXPECT_EQ(Show(Images<float>({1, 1, 1, 3}, {NAN, 1, 1}), {{"bad_color", nine}}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(
      Show(Images<float>({1, 1, 1, 1}, {1}), {{"bad_color", Tensor::Scalar(1.f)}}).status().code(),
      Code::kInvalidArgument);
}

TEST(ImageSummary, RefusesWhatIsNoImage) {
  for (const Shape& shape : {Shape{1, 2, 2}, Shape{1, 1, 2, 2}, Shape{1, 0, 2, 1}, Shape{}})
    EXPECT_EQ(Show(Tensor(DType::kUint8, shape)).status().code(), Code::kInvalidArgument)
        << shape.ToString();
}

}  // namespace
}  // namespace penstock::ops
