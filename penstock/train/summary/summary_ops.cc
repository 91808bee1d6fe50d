#include "penstock/train/summary/summary_ops.h"

#include "penstock/client/build_scope.h"
#include "penstock/client/constant.h"
#include "penstock/client/error.h"

namespace penstock {
namespace {

constexpr char kCollection[] = "summaries";

}  // namespace

namespace client_internal {

OutputRef AddSummary(Graph& graph, std::string_view op, std::string_view tag, OutputRef values,
                     int64_t max_images, CallSite site) {
  const Scope scope = BuildScope::Current(graph, site);
  AttrMap attrs;
  if (max_images > 0) SetAttr(attrs, "max_images", max_images);
  const Expr tag_value = scope.Constant(Tensor::Scalar(std::string(tag)), "tag");
  const Expr summary = scope.Add(op, {tag_value, Expr(&scope, values)}, std::move(attrs));
  OrThrow(scope.status(), site);
  graph.collections[kCollection].push_back(summary.ref().node);
  return summary.ref();
}

}  // namespace client_internal

Output<std::string> MergeSummaries(const std::vector<Output<std::string>>& summaries,
                                   CallSite site) {
  Graph& graph = client_internal::GraphOf(summaries);
  const Scope scope = BuildScope::Current(graph, site);
  std::vector<Expr> inputs;
  for (const Output<std::string>& summary : summaries) inputs.emplace_back(&scope, summary.ref());
  const Expr merged = scope.Add("MergeSummary", inputs);
  OrThrow(scope.status(), site);
  return {graph, merged.ref()};
}

Output<std::string> MergeAllSummaries(Graph& graph, CallSite site) {
  std::vector<Output<std::string>> summaries;
  for (const NodeId node : graph.collections[kCollection])
    summaries.emplace_back(graph, OutputRef{node, 0});
  if (summaries.empty()) throw Error(NotFound("the graph has no summaries to merge"), site);
  return MergeSummaries(summaries, site);
}

}  // namespace penstock
