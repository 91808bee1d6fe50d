#include "penstock/train/inspect/node_values.h"

#include <algorithm>
#include <cmath>

#include "penstock/graph/flow.h"
#include "penstock/ops/dtype_switch.h"

namespace penstock {
namespace {

// As many values are computed at once.
constexpr size_t kPart = 32;

bool IsFed(const FeedList& feeds, OutputRef ref) {
  return std::any_of(feeds.begin(), feeds.end(),
                     [ref](const Feed& feed) { return feed.output() == ref; });
}

std::vector<bool> MarkNeeded(const Graph& graph, std::vector<NodeId> left, const FeedList& feeds) {
  std::vector<bool> needed(static_cast<size_t>(graph.num_nodes()));
  while (!left.empty()) {
    const NodeId id = left.back();
    left.pop_back();
    if (id == kNoNode || needed[id]) continue;
    needed[id] = true;
    const Node& node = graph.node(id);
    left.insert(left.end(), node.control_inputs.begin(), node.control_inputs.end());
    for (const OutputRef input : node.inputs)
      if (!IsFed(feeds, input)) left.push_back(input.node);
  }
  return needed;
}

bool IsNumber(DType dtype) {
  return ops::ForDType(dtype, ops::PlainRealNumbers(), []<class T>() { return OkStatus(); }).ok();
}

template <class T>
double AsDouble(T value) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return static_cast<double>(value);
  }
}

}  // namespace

Result<std::vector<NodeId>> NodesNeededFor(const Graph& graph, const std::vector<NodeId>& targets,
                                           const FeedList& feeds) {
  TRY_ASSIGN(std::vector<NodeId> order, graph.TopologicalOrder());
  const std::vector<bool> needed = MarkNeeded(graph, targets, feeds);
  std::erase_if(order, [&](NodeId id) { return !needed[id]; });
  return order;
}

Result<std::vector<OutputRef>> ValuesNeededFor(const Graph& graph,
                                               const std::vector<NodeId>& targets,
                                               const FeedList& feeds) {
  TRY_ASSIGN(const std::vector<NodeId> order, graph.TopologicalOrder());
  TRY_ASSIGN(const FrameMap frames, FindFrames(graph, order));
  const std::vector<bool> needed = MarkNeeded(graph, targets, feeds);
  std::vector<OutputRef> values;
  for (const NodeId id : order) {
    if (!needed[id] || frames.of_outputs[id] != 0) continue;
    const std::vector<OutputInfo>& outputs = graph.node(id).outputs;
    for (int32_t port = 0; port < static_cast<int32_t>(outputs.size()); ++port) {
      const OutputRef ref{id, port};
      if (!outputs[port].is_ref && IsNumber(outputs[port].dtype) && !IsFed(feeds, ref))
        values.push_back(ref);
    }
  }
  return values;
}

void VisitValues(Session& session, const FeedList& feeds, const std::vector<OutputRef>& values,
                 const std::function<void()>& reset,
                 const std::function<bool(OutputRef, const Tensor&)>& visit) {
  for (size_t begin = 0; begin < values.size(); begin += kPart) {
    const size_t end = std::min(values.size(), begin + kPart);
    const std::vector<OutputRef> part(values.begin() + begin, values.begin() + end);
    reset();
    const Result<std::vector<Tensor>> found = RunStep(session, feeds, part, {});
    for (size_t i = 0; i < part.size(); ++i) {
      if (found.ok()) {
        if (!visit(part[i], (*found)[i])) return;
        continue;
      }
      // One of them cannot be had; the others can.
      reset();
      const Result<std::vector<Tensor>> alone = RunStep(session, feeds, {part[i]}, {});
      if (alone.ok() && !visit(part[i], (*alone)[0])) return;
    }
  }
}

NonFinite CountNonFinite(const Tensor& tensor) {
  NonFinite count;
  for (const double value : AsDoubles(tensor)) {
    count.num_nan += std::isnan(value);
    count.num_inf += std::isinf(value);
  }
  return count;
}

std::vector<double> AsDoubles(const Tensor& tensor) {
  std::vector<double> numbers;
  (void)ops::ForDType(tensor.dtype(), ops::PlainRealNumbers(), [&]<class T>() {
    numbers.reserve(static_cast<size_t>(tensor.num_elements()));
    for (const T& value : tensor.values<T>()) numbers.push_back(AsDouble(value));
    return OkStatus();
  });
  return numbers;
}

}  // namespace penstock
