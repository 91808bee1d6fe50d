// Fits a line to noisy points by gradient descent: the state (slope, offset) lives in the graph,
// each step feeds a batch, computes the gradient with ordinary ops and updates the state in place.
#include <penstock/penstock.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

using namespace penstock;

namespace {

constexpr float kSlope = 2.5f;
constexpr float kOffset = -1.f;

// `count` points near the line, in order of a fixed seed.
void MakeBatch(std::mt19937& random, int64_t count, std::vector<float>* xs,
               std::vector<float>* ys) {
  std::uniform_real_distribution<float> position(-1, 1);
  std::normal_distribution<float> noise(0, 0.1f);
  xs->clear();
  ys->clear();
  for (int64_t i = 0; i < count; ++i) {
    xs->push_back(position(random));
    ys->push_back(kSlope * xs->back() + kOffset + noise(random));
  }
}

int Train() {
  Graph g;
  auto x = Placeholder<float>(g, {-1}, "x");
  auto target = Placeholder<float>(g, {-1}, "target");
  Variable<float> slope(g, Array<float>(0.f), "slope");
  Variable<float> offset(g, Array<float>(0.f), "offset");

  auto error = slope * x + offset - target;
  auto loss = Mean(Square(error));
  const float rate = 0.2f;
  auto step = Group(
      {slope.AssignSub(Mean(error * x) * (2 * rate)), offset.AssignSub(Mean(error) * (2 * rate))});

  Session session(g);
  session.Run(InitVariables(g));
  std::mt19937 random(1);
  std::vector<float> xs;
  std::vector<float> ys;
  std::printf("fitting y = %.2f x %+.2f from noisy points\n", kSlope, kOffset);
  for (int i = 0; i <= 60; ++i) {
    MakeBatch(random, 256, &xs, &ys);
    auto [value] = session.Run({{x, xs}, {target, ys}}, Fetch(loss), step);
    if (i % 6 == 0) {
      const int bar = static_cast<int>(std::lround(12 * std::sqrt(static_cast<float>(value))));
      std::printf("step %3d  loss %7.4f  %s\n", i, static_cast<float>(value),
                  std::string(bar, '#').c_str());
    }
  }
  const auto [found_slope, found_offset] = session.Run(Fetch(slope.Read(), offset.Read()));
  std::printf("found   y = %.2f x %+.2f\n", static_cast<float>(found_slope),
              static_cast<float>(found_offset));
  const bool close =
      std::fabs(found_slope - kSlope) < 0.1f && std::fabs(found_offset - kOffset) < 0.1f;
  return close ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return Train();
  } catch (const Error& error) {
    std::fprintf(stderr, "quickstart: %s\n", error.what());
    return 1;
  }
}
