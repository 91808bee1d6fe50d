#include "penstock/train/inspect/compare_graphs.h"

#include <cmath>

#include "penstock/client/error.h"
#include "penstock/train/inspect/node_values.h"

namespace penstock {
namespace {

// "node" for "node:0", as people write it.
std::string ShortName(const Graph& graph, OutputRef ref) {
  const std::string& node = graph.node(ref.node).name;
  return ref.port == 0 ? node : Format("{}:{}", node, ref.port);
}

std::string NameInB(const CompareOptions& options, const std::string& name) {
  const auto it = options.names.find(name);
  return it == options.names.end() ? name : it->second;
}

FeedList FeedsOf(Graph& graph, const NamedTensors& feeds,
                 const std::map<std::string, std::string>& names) {
  FeedList list;
  for (const auto& [name, value] : feeds) {
    const auto it = names.find(name);
    const OutputRef ref = OrThrow(graph.FindOutput(it == names.end() ? name : it->second));
    // The type is checked when the step runs.
    list.push_back(Feed(Output<float>(graph, ref), value));
  }
  return list;
}

// Why two values differ; empty when they agree.
std::string Compare(const Tensor& a, const Tensor& b, const CompareOptions& options) {
  if (a.dtype() != b.dtype()) return Format("dtype {} vs {}", a.dtype(), b.dtype());
  if (a.shape() != b.shape()) return Format("shape {} vs {}", a.shape(), b.shape());
  const std::vector<double> x = AsDoubles(a), y = AsDoubles(b);
  size_t num_different = 0, first = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const bool agree =
        x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i])) ||
        std::abs(x[i] - y[i]) <= options.absolute + options.relative * std::abs(y[i]);
    if (agree) continue;
    if (num_different++ == 0) first = i;
  }
  if (num_different == 0) return "";
  return Format("element {} is {} vs {}; {} of {} differ", first, x[first], y[first], num_different,
                x.size());
}

std::string Describe(const Graph& a, OutputRef in_a, const Graph& b, OutputRef in_b) {
  return Format("{} vs {}", a.Describe(in_a.node), b.Describe(in_b.node));
}

}  // namespace

GraphComparison CompareGraphs(ComparedGraph a, ComparedGraph b, const NamedTensors& feeds,
                              const std::string& target, const CompareOptions& options) {
  const FeedList feeds_a = FeedsOf(a.graph, feeds, {});
  const FeedList feeds_b = FeedsOf(b.graph, feeds, options.names);
  const OutputRef end = OrThrow(a.graph.FindOutput(target));
  GraphComparison comparison;
  VisitValues(
      a.session, feeds_a, OrThrow(ValuesNeededFor(a.graph, {end.node}, feeds_a)), [] {},
      [&](OutputRef ref, const Tensor& value) {
        const std::string name = ShortName(a.graph, ref);
        const Result<OutputRef> other = b.graph.FindOutput(NameInB(options, name));
        const auto found = other.ok() ? RunStep(b.session, feeds_b, {*other}, {})
                                      : Result<std::vector<Tensor>>(other.status());
        if (!found.ok()) {
          comparison.not_compared.push_back(name);
          return true;
        }
        const std::string why = Compare(value, (*found)[0], options);
        if (why.empty()) {
          ++comparison.num_equal;
          return true;
        }
        comparison.first_difference = {name, why, Describe(a.graph, ref, b.graph, *other)};
        return false;
      });
  return comparison;
}

std::string GraphComparison::ToString() const {
  std::string text;
  if (first_difference) {
    text = Format("{} differs: {} ({})", first_difference->name, first_difference->why,
                  first_difference->description);
  }
  text += Format("{}{} values agree, {} have no counterpart", text.empty() ? "" : "; before it ",
                 num_equal, not_compared.size());
  return text;
}

}  // namespace penstock
