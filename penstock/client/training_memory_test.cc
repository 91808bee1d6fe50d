#include <gtest/gtest.h>

#include "penstock/device/device.h"
#include "penstock/penstock.h"
#include "penstock/session/session.h"

// What a training step holds: the activations that the backward pass needs, and little else.

namespace penstock {
namespace {

constexpr int kLayers = 24;
constexpr int64_t kBatch = 512, kWidth = 128;
constexpr int64_t kActivation = kBatch * kWidth * static_cast<int64_t>(sizeof(float));
constexpr int64_t kWeights = kWidth * kWidth * static_cast<int64_t>(sizeof(float));

// The most bytes of one step of gradient descent, those of the variables not counted.
int64_t PeakOfStep(int threads, const std::vector<std::string>& disabled) {
  Graph g;
  const auto x = Placeholder<float>(g, {kBatch, kWidth});
  std::vector<Variable<float>> weights;
  std::vector<Output<float>> reads;
  Output<float> y = x;
  for (int i = 0; i < kLayers; ++i) {
    weights.emplace_back(g, Constant<float>(g, Shape{kWidth, kWidth}, 0.01f));
    reads.push_back(weights.back().Read());
    y = Tanh(MatMul(y, reads.back()));
  }
  const auto loss = Sum(y * y);
  std::vector<OutputRef> refs;
  for (const Output<float>& read : reads) refs.push_back(read.ref());
  const auto gradients = client_internal::AddGradients(g, {loss.ref(), refs}, {});
  std::vector<Operation> updates;
  for (int i = 0; i < kLayers; ++i)
    updates.push_back(weights[i].AssignSub(Output<float>(g, gradients[i]) * 0.1f));
  const NodeId step = Group(updates).node(), init = InitVariables(g).node();

  LocalSessionOptions options;
  options.device = MakeCpuDevice({.threads = threads});
  options.disabled_passes = disabled;
  const auto session = MakeLocalSession(g, options);
  OrThrow(session->Run({{}, {}, {init}}, {}, {}, nullptr).status());
  Tensor values(DType::kFloat, Shape{kBatch, kWidth});
  for (float& value : values.mutable_values<float>()) value = 0.5f;
  // At first the variables share the constants that they began with.
  for (int i = 0; i < 2; ++i)
    OrThrow(session->Run({{x.ref()}, {}, {step}}, {&values, 1}, {}, nullptr).status());
  return options.device->allocator()->stats().peak_bytes - kLayers * kWeights;
}

TEST(TrainingMemory, HoldsAnActivationForEachLayer) {
  constexpr int64_t kNeeded = kLayers * kActivation;
  constexpr int64_t kWorking = 4 * kActivation + 6 * kWeights;
  for (const int threads : {1, 2}) {
    EXPECT_LE(PeakOfStep(threads, {}), kNeeded + kWorking) << threads;
    EXPECT_LE(PeakOfStep(threads, {"fuse", "epilogue"}), kNeeded + kWorking) << threads;
  }
}

}  // namespace
}  // namespace penstock
