// A graph with state, run from typed C++: y = x W + b, and a step that moves b.
#include <penstock/penstock.h>

#include <cstdio>

using namespace penstock;

int main() {
  Graph g;
  auto x = Placeholder<float>(g, {-1, 2});
  Variable<float> w(g, Array<float>({2, 3}, {1, 2, 3, 4, 5, 6}), "w");
  Variable<float> b(g, Array<float>({0.5f, 0.5f, 0.5f}), "b");
  auto y = MatMul(x, w) + b;
  auto step = b.AssignAdd(Mean(y, {0}));

  Session session(g);
  session.Run(InitVariables(g));
  for (int i = 0; i < 3; ++i) {
    auto [value] = session.Run({{x, Array<float>({1, 2}, {1, -1})}}, Fetch(y));
    std::printf("step %d: %s\n", i, value.ToString().c_str());
    session.Run({{x, Array<float>({1, 2}, {1, -1})}}, step);
  }
}
