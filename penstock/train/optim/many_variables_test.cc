#include <gtest/gtest.h>

#include <string>

#include "penstock/penstock.h"
#include "penstock/train/optim/optimizers.h"
#include "penstock/train/optim/rule.h"
#include "penstock/train/parameters.h"

namespace penstock {
namespace {

// A deep and thin network: 80 variables, the 70th not small.
Output<float> Loss(Graph& g) {
  Output<float> x = Constant<float>(g, Shape{1, 8}, 0.5f);
  for (int layer = 0; layer < 40; ++layer) {
    const int64_t width = layer == 35 ? 4096 : 8;
    const auto at = static_cast<float>(layer % 7);
    const Variable<float> kernel(g, Constant<float>(g, Shape{x.shape().dim(1), width}, 0.01f * at),
                                 "layer" + std::to_string(layer) + "/kernel");
    const Variable<float> bias(g, Constant<float>(g, Shape{width}, 0.1f),
                               "layer" + std::to_string(layer) + "/bias");
    x = Tanh(MatMul(x, kernel) + bias);
  }
  return Mean(x * x);
}

std::vector<std::vector<float>> Trained(const optim_internal::RulePtr& rule,
                                        const SessionOptions& options) {
  Graph g;
  const auto step = optim_internal::Minimize(rule, Loss(g), {}, CallSite::Here());
  Session session(g, options);
  session.Run(InitVariables(g));
  for (int i = 0; i < 4; ++i) session.Run(step);
  std::vector<std::vector<float>> values;
  for (const Parameter& parameter : AllVariables(g)) {
    if (parameter.dtype != DType::kFloat) continue;
    values.push_back(session.Run(Variable<float>::Of(g, parameter.handle).Read()).ToVector());
  }
  return values;
}

TEST(ManyVariables, MoveTogetherAsTheyDoAlone) {
  const auto rules = [] {
    return std::vector<optim_internal::RulePtr>{
        SGD{}.MakeRule(),      Momentum{.nesterov = true}.MakeRule(),
        Adam{}.MakeRule(),     AdamW{.exclude_from_decay = {"bias"}}.MakeRule(),
        LAMB{}.MakeRule(),     Ftrl{.rate = 0.1}.MakeRule(),
        RMSProp{}.MakeRule(),  RMSProp{.centered = true}.MakeRule(),
        Adadelta{}.MakeRule(), Adagrad{}.MakeRule()};
  };
  const std::vector<optim_internal::RulePtr> together = rules(), alone = rules();
  for (size_t i = 0; i < together.size(); ++i) {
    SessionOptions with, without;
    with.threads = 3;
    without.threads = 1;
    without.disabled_passes = {"updates", "read_first"};
    EXPECT_EQ(Trained(together[i], with), Trained(alone[i], without)) << together[i]->name();
  }
}

}  // namespace
}  // namespace penstock
