#include "penstock/ops/parse/example_parser.h"

#include <gtest/gtest.h>

#include "penstock/core/thread_pool.h"
#include "penstock/io/wire_writer.h"

namespace penstock::ops {
namespace {

using io::WireWriter;

// {"x": two floats, "n": i % 5 integers, "s": a string unless i % 3 == 0}
std::string MakeExample(int i) {
  const auto entry = [](const char* name, uint32_t kind, const WireWriter& list) {
    return WireWriter()
        .Bytes(1, name)
        .Bytes(2, WireWriter().Bytes(kind, list.text()).text())
        .text();
  };
  WireWriter integers, features;
  for (int k = 0; k < i % 5; ++k) integers.Varint(1, static_cast<uint64_t>(i * 10 + k));
  features.Bytes(1, entry("x", 2, WireWriter().Float(1, static_cast<float>(i)).Float(1, 0.5f)));
  features.Bytes(1, entry("n", 3, integers));
  if (i % 3 != 0) features.Bytes(1, entry("s", 1, WireWriter().Bytes(1, std::to_string(i))));
  return WireWriter().Bytes(1, features.text()).text();
}

ExampleSpec Spec() {
  ExampleSpec spec;
  spec.sparse = {{"n", DType::kInt64, {}}, {"s", DType::kString, {}}};
  spec.dense = {{"x", DType::kFloat, Shape{2}, Tensor(DType::kFloat, Shape{0})},
                {"n", DType::kInt64, Shape{-1}, Tensor::Scalar<int64_t>(-1)}};
  spec.ragged = {{"n", DType::kInt64, DType::kInt32}};
  return spec;
}

Result<ExampleTensors> Parse(const std::vector<std::string>& examples, ThreadPool* pool) {
  StepResources step;
  step.allocator = HostAllocator();
  if (pool != nullptr) step.parallel = ParallelFor(pool);
  KernelContextBuilder builder(&step);
  return ParseExamples(builder.context(), Spec(), examples, {}, true);
}

std::string Text(const ExampleTensors& tensors) {
  std::string text;
  for (const auto* list : {&tensors.sparse_indices, &tensors.sparse_values, &tensors.sparse_shapes,
                           &tensors.dense, &tensors.ragged_values, &tensors.ragged_splits})
    for (const Tensor& tensor : *list) text += tensor.ToString(1 << 20) + "\n";
  return text;
}

TEST(ExampleParser, PartsOfABatchMakeTheWhole) {
  ThreadPool pool(4);
  for (const int count : {0, 1, 7, 8, 9, 1000}) {
    std::vector<std::string> examples;
    for (int i = 0; i < count; ++i) examples.push_back(MakeExample(i));
    const Result<ExampleTensors> serial = Parse(examples, nullptr);
    ASSERT_TRUE(serial.ok()) << serial.status().ToString();
    ASSERT_EQ(serial->dense[0].shape(), (Shape{count, 2}));
    for (int i = 0; i < count; ++i) ASSERT_EQ(serial->dense[0].data<float>()[2 * i], i);
    for (int round = 0; round < 5; ++round) {
      const Result<ExampleTensors> parallel = Parse(examples, &pool);
      ASSERT_TRUE(parallel.ok()) << parallel.status().ToString();
      EXPECT_EQ(Text(*parallel), Text(*serial)) << count;
    }
  }
}

TEST(ExampleParser, TheFirstBadExampleIsReported) {
  ThreadPool pool(4);
  std::vector<std::string> examples;
  for (int i = 0; i < 1000; ++i) examples.push_back(MakeExample(i));
  for (const int bad : {500, 300, 700}) examples[bad] = "";
  for (int round = 0; round < 5; ++round) {
    const Result<ExampleTensors> parsed = Parse(examples, &pool);
    ASSERT_FALSE(parsed.ok());
    EXPECT_NE(parsed.status().message().find("Index: 300"), std::string::npos)
        << parsed.status().ToString();
  }
}

}  // namespace
}  // namespace penstock::ops
