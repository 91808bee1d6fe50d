#include "penstock/client/gradients.h"

#include "penstock/client/error.h"
#include "penstock/graph/gradients.h"

namespace penstock::client_internal {

std::vector<OutputRef> AddGradients(Graph& graph, OutputRef y, const std::vector<OutputRef>& xs,
                                    CallSite site) {
  const Scope scope = Scope(graph).At(site);
  std::vector<OutputRef> gradients =
      OrThrow(penstock::AddGradients(scope, {.ys = {y}, .xs = xs}), site);
  for (size_t i = 0; i < xs.size(); ++i) {
    if (gradients[i].node == kNoNode) {
      throw Error(InvalidArgument("{} does not depend on {}: it has no gradient", graph.NameOf(y),
                                  graph.NameOf(xs[i])),
                  site);
    }
  }
  return gradients;
}

}  // namespace penstock::client_internal
