#include "penstock/train/testing/layer_values.h"

#include <cmath>

#include "penstock/graph/gradients.h"

namespace penstock::nn::testing {

std::vector<float> Wave(int64_t count, float phase) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(std::sin(phase + 1.7 * double(i) + 0.13 * double(i % 7)));
  return values;
}

Array<float> WaveOf(const Shape& shape, float phase) {
  return Array<float>(shape, Wave(shape.num_elements(), phase));
}

Initializer WaveInit(float phase) {
  return [phase](const InitialRequest& request) {
    return Constant(request.graph, WaveOf(request.shape, phase));
  };
}

Array<float> Evaluate(Graph& graph, const Output<float>& y) {
  const Operation init = InitVariables(graph);
  Session session(graph);
  session.Run(init);
  return session.Run(y);
}

void ExpectNear(const Array<float>& got, const std::vector<float>& want, float tolerance) {
  ASSERT_EQ(got.size(), static_cast<int64_t>(want.size()));
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(got[static_cast<int64_t>(i)], want[i], tolerance * (1 + std::abs(want[i]))) << i;
}

namespace {

// d loss / d element `at` of the variable, by differences.
double Slope(Session& session, const Variable<float>& variable, const Output<float>& value,
             const Output<float>& fed, const Operation& assign, const Output<float>& loss,
             int64_t at) {
  const Array<float> here = session.Run(value);
  constexpr float kStep = 1e-3f;
  auto at_offset = [&](float offset) {
    std::vector<float> moved = here.ToVector();
    moved[static_cast<size_t>(at)] += offset;
    session.Run({{fed, Array<float>(variable.shape(), moved)}}, assign);
    return static_cast<double>(static_cast<float>(session.Run(loss)));
  };
  const double slope = (at_offset(kStep) - at_offset(-kStep)) / (2 * kStep);
  session.Run({{fed, here}}, assign);
  return slope;
}

}  // namespace

void ExpectGradientsReachAll(Graph& graph, const Output<float>& y) {
  const Operation init = InitVariables(graph);
  Session session(graph);
  session.Run(init);
  // Weights tell paths apart that would cancel in a plain sum, as those of a normalisation do.
  const Array<float> shape_of = session.Run(y);
  const auto loss = Sum(y * Constant(graph, WaveOf(shape_of.shape(), 0.4f)));
  const std::vector<Parameter> parameters = TrainableVariables(graph);
  ASSERT_FALSE(parameters.empty());
  std::vector<OutputRef> handles;
  for (const Parameter& parameter : parameters) handles.push_back({parameter.handle, 0});
  const auto gradients = OrThrow(AddGradients(Scope(graph), {.ys = {loss.ref()}, .xs = handles}));
  for (size_t i = 0; i < parameters.size(); ++i) {
    SCOPED_TRACE(parameters[i].name);
    ASSERT_NE(gradients[i].node, kNoNode);
    const auto variable = Variable<float>::Of(graph, parameters[i].handle);
    const auto fed = Placeholder<float>(graph, variable.shape());
    const Operation assign = variable.Assign(fed);
    const auto value = variable.Read();
    const Array<float> gradient = session.Run(Output<float>(graph, gradients[i]));
    ASSERT_EQ(gradient.shape(), variable.shape());
    double size_of_it = 0;
    for (const float g : gradient) size_of_it += std::abs(g);
    EXPECT_TRUE(std::isfinite(size_of_it));
    EXPECT_GT(size_of_it, 0);
    for (const int64_t at : {int64_t{0}, gradient.size() / 2, gradient.size() - 1}) {
      const double want = Slope(session, variable, value, fed, assign, loss, at);
      EXPECT_NEAR(gradient[at], want, 2e-2 * (1 + std::abs(want))) << at;
    }
  }
}

std::vector<std::string> VariableNames(const Graph& graph) {
  std::vector<std::string> names;
  for (const Parameter& parameter : AllVariables(graph)) names.push_back(parameter.name);
  return names;
}

void ExpectError(const std::function<void()>& f, const std::vector<std::string>& parts) {
  try {
    f();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    for (const std::string& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

}  // namespace penstock::nn::testing
