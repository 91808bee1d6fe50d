#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/client/build_scope.h"
#include "penstock/client/error.h"
#include "penstock/train/nn/initializers.h"
#include "penstock/train/nn/layer.h"

// How layers are written: the part that their users do not see.

namespace penstock::nn {

class Context;

// Behind a Layer: its settings, and its variables in each graph that it was called in.
class Body {
 public:
  // `kind` is as users write it ("Dense"), `base_name` as checkpoints do ("dense"); `name` is what
  // the user asked for, if anything.
  Body(std::string_view kind, std::string_view base_name, std::string_view name, CallSite made);
  virtual ~Body() = default;

  // Writes the layer's nodes. Problems of nodes stay in the context's scope; others throw. An input
  // that was left out is an invalid Expr.
  virtual Expr Apply(Context& context, const std::vector<Expr>& inputs) = 0;
  // Whether inputs may be indices instead of floats.
  virtual bool TakesIntegers() const { return false; }
  // Sequential and the like: their layers are named as if they stood alone.
  virtual bool IsTransparent() const { return false; }

  const std::string& kind() const { return kind_; }
  const std::string& base_name() const { return base_name_; }
  CallSite made() const { return made_; }
  // "Dense at model.cc:12", for messages.
  std::string Describe() const;
  // Throws InvalidArgument with the line that made the layer.
  template <class... Args>
  [[noreturn]] void Fail(std::string_view pattern, const Args&... args) const {
    FailWith(FormatText(pattern, {FormatArg(args)...}));
  }
  void RequirePositive(std::string_view what, int64_t value) const;

  struct Weight {
    std::string name;  // "kernel"
    NodeId handle;
  };
  // What the layer is in one graph.
  struct State {
    const Graph* graph = nullptr;
    std::string name = {};        // "encoder/dense_1", as checkpoints know it
    std::string local_name = {};  // "dense_1"
    std::vector<Weight> weights = {};
    // A node that the layer made: without variables, it tells the graph from a later one at the
    // same address.
    NodeId marker = kNoNode;
    std::string marker_name = {};
  };
  State& StateIn(Graph& graph);

 private:
  [[noreturn]] void FailWith(const std::string& message) const;

  std::string kind_, base_name_;
  CallSite made_;
  std::vector<State> states_;
};

struct WeightOptions {
  bool trainable = true;
  float l2 = 0;  // adds l2 * sum(w * w) to the penalties of the graph
};

// One call of a layer.
class Context {
 public:
  Context(Body& body, Body::State* state, Graph& graph, Mode mode, CallSite site, bool nested);

  Graph& graph() const { return graph_; }
  const Scope& scope() const { return scope_; }
  Mode mode() const { return mode_; }
  bool training() const { return mode_ == Mode::kTrain; }
  CallSite site() const { return site_; }
  bool nested() const { return nested_; }
  // The name that variables begin with: "encoder/dense_1".
  const std::string& name() const { return state_->name; }
  std::string Describe() const;
  template <class... Args>
  [[noreturn]] void Fail(std::string_view pattern, const Args&... args) const {
    FailWith(InvalidArgument("{}", FormatText(pattern, {FormatArg(args)...})));
  }
  // Throws what went wrong with nodes, naming the layer.
  void Check() const;

  // The layer's variable, made at the first call. Fails when it was made in another shape.
  NodeId Handle(std::string_view name, const Shape& shape, const Initializer& initial,
                const WeightOptions& options = {});
  // Its value.
  Expr Weight(std::string_view name, const Shape& shape, const Initializer& initial,
              const WeightOptions& options = {});
  Expr Read(NodeId handle) const;
  // A seed that no other name of this or another layer has.
  uint64_t SeedOf(std::string_view name, uint64_t seed = 0) const;

  // A [2] int64 seed that differs from step to step: the layer's own, and a count of steps kept in
  // its variable "steps".
  Expr NextSeed(uint64_t seed);

  // The input of that rank, or a message that says what the axes are. Rank 0: at least 1.
  void RequireRank(const Expr& x, int rank, std::string_view axes) const;
  // The extent of the last axis, which must be known.
  int64_t Channels(const Expr& x) const;

  Expr Scalar(int32_t value) const { return scope_.Constant(Tensor::Scalar(value)); }
  Expr Scalar(float value) const { return scope_.Constant(Tensor::Scalar(value)); }
  Expr Vector(const std::vector<int64_t>& values) const;
  // Gives x a shape, in which one extent may be -1.
  Expr Reshape(const Expr& x, const std::vector<int64_t>& shape) const;
  // x, of which more is known than its op can tell.
  Expr WithShape(const Expr& x, const Shape& shape) const;
  Expr Activate(const Activation& activation, const Expr& x) const;
  // Another layer within this one.
  Expr Call(const Layer& layer, const std::vector<Expr>& inputs) const;
  // A result beside the first, such as the last state of a recurrent layer.
  void AddResult(const Expr& x) { further_.push_back(x); }
  Output<float> AsOutput(const Expr& x) const { return {graph_, x.ref()}; }
  Expr From(const Output<float>& x) const { return Expr(&scope_, x.ref()); }

  const std::vector<Expr>& further_results() const { return further_; }

 private:
  [[noreturn]] void FailWith(const Status& status) const;

  Body& body_;
  Body::State* state_;
  Graph& graph_;
  Scope scope_;
  Mode mode_;
  CallSite site_;
  bool nested_;
  std::vector<Expr> further_;
};

// Calls a layer. `nested`: within another one that has a name. The first of the results is what
// Apply returned.
std::vector<OutputRef> RunBody(Body& body, Graph& graph, const std::vector<OutputRef>& inputs,
                               Mode mode, CallSite site, bool nested);

// The attribute that marks the result of a layer: its name, for the summary table.
inline constexpr char kLayerName[] = "_layer";
inline constexpr char kLayerKind[] = "_layer_kind";

}  // namespace penstock::nn
