#include <gtest/gtest.h>

#include <vector>

#include "penstock/device/device.h"
#include "penstock/graph/graph.h"
#include "penstock/session/session.h"

namespace penstock {
namespace {

#ifdef PENSTOCK_SANITIZED
constexpr int64_t kElements = 1 << 20;
#else
constexpr int64_t kElements = 16 << 20;
#endif
constexpr int64_t kBuffer = kElements * static_cast<int64_t>(sizeof(float));
// The allocator rounds up by at most a sixteenth.
constexpr int64_t kSlack = 3 * kBuffer / 16;

// The most bytes that a chain of 100 element-wise layers over 16M floats holds at once, what it is
// fed included.
int64_t PeakOfChain(const std::vector<std::string>& disabled_passes) {
  Graph graph;
  OutputRef x{*graph.AddNode({.op = "Placeholder",
                              .attrs = {{"dtype", DType::kFloat}, {"shape", Shape{kElements}}}}),
              0};
  const OutputRef feed = x;
  for (int i = 0; i < 100; ++i) {
    x = {*graph.AddNode({.op = i % 2 == 0 ? "Neg" : "Abs", .inputs = {x}}), 0};
  }
  LocalSessionOptions options;
  options.device = MakeCpuDevice();
  options.disabled_passes = disabled_passes;
  const auto session = MakeLocalSession(graph, options);
  Tensor values(DType::kFloat, Shape{kElements});
  for (float& value : values.mutable_values<float>()) value = 1;
  const auto results = session->Run({{feed}, {x}, {}}, {&values, 1}, {}, nullptr);
  EXPECT_TRUE(results.ok()) << results.status().ToString();
  if (results.ok()) {
    EXPECT_EQ((*results)[0].data<float>()[kElements - 1], 1);
  }
  return kBuffer + options.device->allocator()->stats().peak_bytes;
}

TEST(PeakMemory, AChainHoldsAtMostThreeBuffers) {
  EXPECT_LE(PeakOfChain({"fuse"}), 3 * kBuffer + kSlack);
  EXPECT_LE(PeakOfChain({"fuse", "memory"}), 3 * kBuffer + kSlack);
  EXPECT_LE(PeakOfChain({}), 3 * kBuffer + kSlack);
}

}  // namespace
}  // namespace penstock
