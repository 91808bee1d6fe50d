#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "penstock/client/freeze.h"
#include "penstock/client/saved_model.h"
#include "penstock/penstock.h"

namespace penstock {
namespace {

constexpr char kModel[] = "../shared/models/real/dotnet_ml/mnist_conv_model";
constexpr char kDigits[] = "../shared/datasets/mnist/";

// What follows the header of a compressed IDX file.
std::vector<uint8_t> ReadBytes(const std::string& name, size_t header) {
  Graph g;
  const Scope scope(g);
  const Expr path = scope.Constant(Tensor::Scalar<std::string>(kDigits + name));
  const Expr bytes =
      Op("DecodeRaw", Op("DecodeCompressed", Op("ReadFile", path), {{"compression_type", "GZIP"}}),
         {{"out_type", DType::kUint8}});
  OrThrow(scope.status());
  const std::vector<Tensor> read = Session(g).Run({}, {g.NameOf(bytes.ref())});
  const auto values = read[0].values<uint8_t>();
  return {values.begin() + static_cast<int64_t>(header), values.end()};
}

// The share of images whose largest score is that of their label.
double Accuracy(const Graph& graph, const std::vector<uint8_t>& images,
                const std::vector<uint8_t>& labels) {
  Session session(graph);
  constexpr int64_t kBatch = 500, kPixels = 28 * 28;
  int64_t right = 0;
  for (size_t first = 0; first < labels.size(); first += kBatch) {
    Tensor batch(DType::kFloat, Shape{kBatch, 28, 28, 1});
    std::copy_n(images.begin() + static_cast<int64_t>(first) * kPixels, kBatch * kPixels,
                batch.mutable_data<float>());
    const Tensor scores = session.Run({{"Features:0", batch}}, {"Prediction:0"})[0];
    for (int64_t i = 0; i < kBatch; ++i) {
      const float* row = scores.data<float>() + i * 10;
      right += std::max_element(row, row + 10) - row == labels[first + static_cast<size_t>(i)];
    }
  }
  return static_cast<double>(right) / static_cast<double>(labels.size());
}

TEST(Quantize, EightBitsKeepTheAccuracyOfATrainedModel) {
  if (!std::filesystem::exists(kModel) || !std::filesystem::exists(kDigits))
    GTEST_SKIP() << kModel << " or " << kDigits << " is not here";
  SavedModel model(kModel);
  const Graph frozen = FreezeVariables(model.graph(), model.session());
  const Graph bytes = QuantizeToBytes(frozen);
  const std::vector<uint8_t> images = ReadBytes("t10k-images-idx3-ubyte.gz", 16);
  const std::vector<uint8_t> labels = ReadBytes("t10k-labels-idx1-ubyte.gz", 8);
  const double exact = Accuracy(frozen, images, labels);
  const double quantized = Accuracy(bytes, images, labels);
  std::printf("accuracy on %zu digits: float %.2f %%, 8 bits %.2f %%\n", labels.size(), 100 * exact,
              100 * quantized);
  EXPECT_NEAR(exact, 0.7813, 0.0005);  // as stock TensorFlow measures it
  EXPECT_GT(quantized, exact - 0.01);
}

TEST(Quantize, LeavesOtherProductsAlone) {
  Graph g;
  const auto x = Placeholder<float>(g, {2, 3}, "x");
  const auto y = MatMul(x, x, {.transpose_b = true});
  const Graph bytes = QuantizeToBytes(g);
  EXPECT_EQ(bytes.node(y.ref().node).op_name(), "MatMul");
}

}  // namespace
}  // namespace penstock
