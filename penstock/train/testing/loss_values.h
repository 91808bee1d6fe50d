#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "penstock/client/array_ops.h"
#include "penstock/client/constant.h"
#include "penstock/client/gradients.h"
#include "penstock/client/operators.h"
#include "penstock/client/ops.h"
#include "penstock/client/recompute.h"
#include "penstock/client/session.h"
#include "penstock/client/variable.h"

namespace penstock::loss_testing {

using Floats = std::vector<float>;

// Computes one output in a session of its own.
template <class T>
std::vector<T> ValueOf(const Output<T>& output) {
  Session session(output.graph());
  session.Run(InitVariables(output.graph()));
  return session.Run(output).ToVector();
}

inline void ExpectNear(const Floats& got, const Floats& want, float tolerance = 2e-6f) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], tolerance * (1 + std::abs(want[i]))) << i;
}

// Compares the gradient of sum(f(x)) with central differences.
inline void ExpectGradient(const std::function<Output<float>(Output<float>)>& f,
                           const Array<float>& at, float tolerance = 2e-3f) {
  Graph g;
  const auto x = Placeholder<float>(g, at.shape());
  const auto y = f(x);
  const auto dx = GradientOf(y, x);
  Session session(g);
  session.Run(InitVariables(g));
  const Floats got = session.Run({{x, at}}, dx).ToVector();
  const auto total = [&](const Floats& values) {
    double sum = 0;
    for (const float v : session.Run({{x, Array<float>(at.shape(), values)}}, y)) sum += v;
    return sum;
  };
  for (int64_t i = 0; i < at.size(); ++i) {
    constexpr float kStep = 1e-2f;
    Floats above = at.ToVector(), below = at.ToVector();
    above[i] += kStep;
    below[i] -= kStep;
    const double want = (total(above) - total(below)) / (2 * kStep);
    EXPECT_NEAR(got[i], want, tolerance * (1 + std::abs(want))) << i;
  }
}

// The message that `f` throws.
template <class F>
std::string ErrorOf(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace penstock::loss_testing
