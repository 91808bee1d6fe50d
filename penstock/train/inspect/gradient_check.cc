#include "penstock/train/inspect/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "penstock/client/build_scope.h"
#include "penstock/client/error.h"
#include "penstock/graph/gradients.h"
#include "penstock/train/loop/snapshot.h"

namespace penstock {
namespace {

std::vector<Parameter> FloatVariables(const Graph& graph) {
  std::vector<Parameter> variables = TrainableVariables(graph);
  std::erase_if(variables, [](const Parameter& p) { return p.dtype != DType::kFloat; });
  return variables;
}

// kNoNode where the loss does not depend on a variable.
std::vector<OutputRef> AddGradientsOf(const Output<float>& loss,
                                      const std::vector<Parameter>& variables) {
  const Scope scope = BuildScope::Current(loss.graph(), CallSite{}).Sub("gradient_check");
  GradientRequest request{.ys = {loss.ref()}, .xs = {}};
  for (const Parameter& variable : variables) request.xs.push_back({variable.handle, 0});
  return OrThrow(AddGradients(scope, request));
}

// Some of [0, size): all when they are few, else `first` and others spread evenly.
std::vector<int64_t> Choose(int64_t size, int64_t first, int64_t count) {
  std::set<int64_t> chosen;
  if (size > count) chosen.insert(first);
  const int64_t others = std::min(size, count) - static_cast<int64_t>(chosen.size());
  for (int64_t i = 0; i < others; ++i) chosen.insert(i * (size / others));
  return {chosen.begin(), chosen.end()};
}

int64_t LargestOf(const Tensor& gradient) {
  const auto values = gradient.values<float>();
  const auto largest = std::max_element(values.begin(), values.end(),
                                        [](float a, float b) { return std::abs(a) < std::abs(b); });
  return largest - values.begin();
}

class Checker {
 public:
  Checker(Session& session, Output<float> loss, const FeedList& feeds,
          const GradientCheckOptions& options)
      : session_(session),
        loss_(loss),
        feeds_(feeds),
        options_(options),
        state_(loss.graph(), FloatVariables(loss.graph())) {}

  GradientCheckReport Run() {
    GradientCheckReport report;
    const std::vector<OutputRef> gradients = AddGradientsOf(loss_, state_.variables());
    Loss();  // streams that nothing has drawn from yet have no place to go back to
    state_.Take(session_);
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (gradients[i].node == kNoNode) {
        report.unconnected.push_back(state_.variables()[i].name);
        continue;
      }
      state_.Put(session_, /*with_streams=*/true);
      const Tensor gradient = OrThrow(RunStep(session_, feeds_, {gradients[i]}, {}))[0];
      if (gradient.num_elements() == 0) continue;
      for (const int64_t element :
           Choose(gradient.num_elements(), LargestOf(gradient), options_.max_elements))
        report.rows.push_back(Check(i, element, gradient.data<float>()[element]));
    }
    state_.Put(session_, /*with_streams=*/true);
    return report;
  }

 private:
  double Loss() {
    return static_cast<double>(
        Array<float>(OrThrow(RunStep(session_, feeds_, {loss_.ref()}, {}))[0])[0]);
  }

  double LossAt(size_t variable, int64_t element, float value) {
    Tensor moved = state_.values()[variable].Clone();
    moved.mutable_data<float>()[element] = value;
    state_.Put(session_, /*with_streams=*/true);
    state_.Assign(session_, variable, moved);
    return Loss();
  }

  GradientCheckRow Check(size_t variable, int64_t element, float gradient) {
    const float at = state_.values()[variable].data<float>()[element];
    const float above = at + static_cast<float>(options_.step);
    const float below = at - static_cast<float>(options_.step);
    const double high = LossAt(variable, element, above), low = LossAt(variable, element, below);
    // By the distance that the floats really have.
    const double distance = static_cast<double>(above) - static_cast<double>(below);
    const double difference = (high - low) / distance;
    // What the loss is rounded by, twice, over the distance.
    const double noise = 4 * std::numeric_limits<float>::epsilon() *
                         std::max(std::abs(high), std::abs(low)) / distance;
    const double size = std::max(std::abs(difference), std::abs(static_cast<double>(gradient)));
    return {.variable = state_.variables()[variable].name,
            .element = element,
            .gradient = gradient,
            .difference = difference,
            .passed = std::abs(difference - gradient) <= options_.tolerance * size + noise};
  }

  Session& session_;
  const Output<float> loss_;
  const FeedList& feeds_;
  const GradientCheckOptions options_;
  Snapshot state_;
};

}  // namespace

bool GradientCheckReport::passed() const {
  return !rows.empty() && std::all_of(rows.begin(), rows.end(),
                                      [](const GradientCheckRow& row) { return row.passed; });
}

std::string GradientCheckReport::ToString() const {
  std::string text;
  int64_t num_passed = 0;
  for (const GradientCheckRow& row : rows) {
    num_passed += row.passed;
    if (!row.passed)
      text += Format("{}[{}]: the graph's gradient is {}, by differences it is {}\n", row.variable,
                     row.element, row.gradient, row.difference);
  }
  for (const std::string& name : unconnected)
    text += Format("{}: the loss does not depend on it\n", name);
  return text + Format("{} of {} gradients agree with differences\n", num_passed, rows.size());
}

GradientCheckReport CheckGradients(Session& session, Output<float> loss, const FeedList& feeds,
                                   const GradientCheckOptions& options) {
  return Checker(session, loss, feeds, options).Run();
}

}  // namespace penstock
