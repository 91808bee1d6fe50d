#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "penstock/penstock.h"
#include "penstock/train/optim/optimizers.h"

namespace penstock {
namespace {

using Doubles = std::vector<double>;

// What the optimizers of tf.compat.v1.train (TensorFlow 2, double variables by handle) made of two
// problems in six steps. Their rates are floats.
struct Recorded {
  const char* name;
  optim_internal::RulePtr dense_rule, sparse_rule;
  Doubles dense;   // [[1, -2], [0.5, 3]], of the loss sum([[0.3, 0.5], [-1, 2]] * w * w) / 2
  Doubles sparse;  // rows 0 and 3 of four; rows 3, 0, 3 were looked up
};

template <class Optimizer>
Recorded Of(const char* name, const Optimizer& optimizer, Doubles dense, Doubles sparse) {
  return {name, optimizer.MakeRule(), optimizer.MakeRule(), std::move(dense), std::move(sparse)};
}

std::vector<Recorded> Records() {
  return {
      Of("GradientDescent", SGD{.rate = 0.1}, {0.832972003, -1.47018377, 0.885780507, 0.786431982},
         {-0.200000018, -2.15, 0.799999982, 1.02500001}),
      Of("Momentum", Momentum{.rate = 0.1, .momentum = 0.8},
         {0.586643479, -0.713613242, 1.54986454, -1.43769609},
         {-2.0485761, -2.38107201, -1.0485761, 2.41143208}),
      Of("Nesterov", Momentum{.rate = 0.1, .momentum = 0.8, .nesterov = true},
         {0.532717454, -0.597346137, 1.99832348, -0.789149949},
         {-2.63886094, -2.45485762, -1.63886094, 2.8541457}),
      Of("Adagrad", Adagrad{.rate = 0.1, .initial_accumulator = 0.2},
         {0.758658688, -1.6651594, 0.849617989, 2.64500813},
         {0.640461527, -2.23796721, 1.64046153, 0.481227911}),
      Of("Adadelta", Adadelta{.rate = 0.5, .rho = 0.9, .epsilon = 1e-2},
         {0.465832978, -1.17814255, 1.65553673, 2.09631604},
         {0.0203855882, -2.60428912, 1.02038559, 1.09509661}),
      Of("RMSProp", RMSProp{.rate = 0.1, .decay = 0.8, .momentum = 0.5, .epsilon = 1e-3},
         {0.635024817, -1.10592049, 1.33417733, 1.59747946},
         {-0.31310638, -2.34956475, 0.68689362, 1.32491174}),
      Of("CenteredRMSProp",
         RMSProp{.rate = 0.1, .decay = 0.8, .momentum = 0.5, .epsilon = 1e-3, .centered = true},
         {0.62680159, -0.99029492, 1.46611905, 1.17867468},
         {-0.710245484, -2.35774472, 0.289754516, 1.63618203}),
      Of("Adam", Adam{.rate = 0.1}, {0.414238644, -1.40513372, 1.10317574, 2.40306552},
         {0.400001969, -2.59999763, 1.40000197, 0.724998012}),
      Of("Ftrl", Ftrl{.rate = 0.5, .l1 = 0.02, .l2 = 0.03},
         {-0.00626549473, -0.286601932, 2.31612648, 1.29767771},
         {-0.957184274, -1.69618828, -0.128582315, 1.86750604}),
  };
}

Doubles SixSteps(const optim_internal::RulePtr& rule, const Variable<double>& w,
                 const Output<double>& loss) {
  const auto step = optim_internal::Minimize(rule, loss, {}, CallSite::Here());
  Session session(w.graph());
  session.Run(InitVariables(w.graph()));
  for (int t = 0; t < 6; ++t) session.Run(step);
  return session.Run(w.Read()).ToVector();
}

TEST(TensorFlowValues, Dense) {
  for (const Recorded& record : Records()) {
    Graph g;
    const Variable<double> w(g, Array<double>({2, 2}, {1, -2, 0.5, 3}), "w");
    const auto value = w.Read();
    const auto factors = Constant(g, Array<double>({2, 2}, {0.3, 0.5, -1, 2}));
    const Doubles got = SixSteps(record.dense_rule, w, Sum(factors * value * value) * 0.5);
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], record.dense[i], 2e-8) << record.name << " " << i;
  }
}

TEST(TensorFlowValues, Rows) {
  const Doubles start = {1, -2, 0.5, 3, 0.25, -1, 2, 0.125};
  for (const Recorded& record : Records()) {
    Graph g;
    const Variable<double> w(g, Array<double>({4, 2}, start), "w");
    const auto rows =
        Gather(w.Read(), Constant(g, Array<int32_t>(std::vector<int32_t>{3, 0, 3})), 0);
    const auto factors = Constant(g, Array<double>({3, 2}, {0.5, -1, 2, 0.25, 1.5, -0.5}));
    const Doubles got = SixSteps(record.sparse_rule, w, Sum(rows * factors));
    const Doubles want = {record.sparse[0], record.sparse[1], start[2],         start[3],
                          start[4],         start[5],         record.sparse[2], record.sparse[3]};
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], want[i], 2e-8) << record.name << " " << i;
  }
}

}  // namespace
}  // namespace penstock
