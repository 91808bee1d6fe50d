#include "penstock/train/inspect/bad_node.h"

#include <algorithm>
#include <cmath>

#include "penstock/client/error.h"

namespace penstock {
namespace {

std::pair<NodeId, int32_t> KeyOf(OutputRef ref) { return {ref.node, ref.port}; }

// Calls `visit` with each value that is not finite, fed ones first, until it returns false.
void VisitBadValues(const Replay& replay, const std::function<bool(const BadValue&)>& visit) {
  for (const Feed& feed : replay.feeds) {
    const NonFinite count = CountNonFinite(feed.value());
    if (count.any() && !visit({feed.output(), true, count, feed.value().num_elements()})) return;
  }
  const std::vector<OutputRef> values =
      OrThrow(ValuesNeededFor(replay.graph, replay.targets, replay.feeds));
  VisitValues(replay.session, replay.feeds, values, replay.reset,
              [&](OutputRef ref, const Tensor& value) {
                const NonFinite count = CountNonFinite(value);
                // A constant is what the user wrote.
                if (!count.any() || replay.graph.node(ref.node).op_name() == "Const") return true;
                return visit({ref, false, count, value.num_elements()});
              });
}

std::string RangeOf(const Tensor& value) {
  const std::vector<double> numbers = AsDoubles(value);
  if (numbers.empty()) return "is of type " + std::string(ToString(value.dtype()));
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  return Format("lies in [{}, {}]", *least, *most);
}

}  // namespace

ValueSet BadValues(const Replay& replay) {
  ValueSet found;
  VisitBadValues(replay, [&](const BadValue& bad) {
    found.insert(KeyOf(bad.ref));
    return true;
  });
  return found;
}

BadValue FirstBadValue(const Replay& replay, const ValueSet& known) {
  BadValue first;
  VisitBadValues(replay, [&](const BadValue& bad) {
    if (known.contains(KeyOf(bad.ref))) return true;
    first = bad;
    return false;
  });
  return first;
}

bool ReadsState(const Graph& graph, NodeId node) {
  const std::vector<OutputRef>& inputs = graph.node(node).inputs;
  return std::any_of(inputs.begin(), inputs.end(), [&](OutputRef input) {
    return graph.output(input).dtype == DType::kResource || graph.output(input).is_ref;
  });
}

NodeId UpdateOf(const Replay& replay, NodeId handle) {
  const Graph& graph = replay.graph;
  for (const NodeId id : OrThrow(NodesNeededFor(graph, replay.targets, replay.feeds))) {
    const std::vector<OutputRef>& inputs = graph.node(id).inputs;
    if (graph.node(id).outputs.empty() &&
        std::find(inputs.begin(), inputs.end(), OutputRef{handle, 0}) != inputs.end())
      return id;
  }
  return kNoNode;
}

std::string Describe(const Replay& replay, const BadValue& bad) {
  std::string text = Format(
      "{}{}: {} inf and {} nan among {}", bad.is_fed ? "what was fed for " : "that of ",
      replay.graph.Describe(bad.ref.node), bad.count.num_inf, bad.count.num_nan, bad.num_elements);
  if (bad.is_fed) return text;
  const std::vector<OutputRef>& inputs = replay.graph.node(bad.ref.node).inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    replay.reset();
    const auto value = RunStep(replay.session, replay.feeds, {inputs[i]}, {});
    // Handles and references are not shown.
    if (value.ok() && !AsDoubles((*value)[0]).empty())
      text += Format("; input {} {}", i, RangeOf((*value)[0]));
  }
  return text;
}

}  // namespace penstock
