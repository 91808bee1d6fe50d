#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/bench.h"
#include "penstock/client/session.h"
#include "penstock/client/variable.h"
#include "penstock/graph/gradients.h"
#include "penstock/graph/scope.h"

namespace penstock::bench {

// A network being written down, channels last, with the layers of the peers' scripts; then its
// training step. Sizes are those of the value at hand, so that a network reads as its list of
// layers. Threads: one.
class TrainNet {
 public:
  TrainNet();

  const Scope& scope() const { return scope_; }
  Graph& graph() { return graph_; }
  Expr Integers(const std::vector<int64_t>& values, DType dtype = DType::kInt32) const;
  Expr Integer(int64_t value) const;

  // A variable that training moves, and its value: normal numbers scaled by `deviation`, 0 for
  // zeros.
  struct Weights {
    NodeId handle = kNoNode;
    Expr value;
  };
  Weights Parameter(std::string_view name, const Shape& shape, float deviation);
  // A variable that it does not move: the images.
  Expr Input(const Shape& shape);
  // 0, 1, 2, ... modulo `classes`.
  Expr Labels(int64_t batch, int64_t classes) const;

  Expr Conv(Expr x, int64_t size, int64_t channels, int64_t stride = 1,
            std::string_view padding = "SAME");
  // The same with as many zeros on each side as that.
  Expr PaddedConv(Expr x, int64_t size, int64_t channels, int64_t stride, int64_t zeros);
  Expr MaxPool(Expr x, int64_t size, int64_t stride, std::string_view padding = "VALID") const;
  Expr Dense(Expr x, int64_t units, bool relu = true);
  Expr Flat(Expr x) const;
  Expr MeanLoss(Expr logits, Expr labels) const;

  // One step of gradient descent on all parameters, with momentum where it is not 0. Rows that were
  // looked up are moved alone.
  Operation Train(Expr loss, float rate, float momentum = 0);

 private:
  Expr Normal(const Shape& shape, float deviation) const;
  // The op that moves one parameter along its gradient.
  NodeId Descend(NodeId handle, const GradientValue& gradient, Expr rate, Expr momentum);

  Graph graph_;
  Scope scope_;
  std::vector<NodeId> parameters_;
  int num_layers_ = 0;
};

// The median time of one step in ms.
double StepMs(TrainNet& net, const Operation& step, const Options& options, int steps);

}  // namespace penstock::bench
