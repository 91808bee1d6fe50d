#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "penstock/graph/function.h"
#include "penstock/graph/graph.h"
#include "penstock/graph/instantiate.h"

namespace penstock {

// Writes a function out of parts of another graph: arguments that stand for values of it, and
// copies of the nodes that make the others.
class FunctionWriter {
 public:
  explicit FunctionWriter(const Graph& source);

  // The next argument.
  OutputRef AddArg(const OutputInfo& info);
  // Whoever reads `value` of the source reads `instead`, of this function.
  void Substitute(OutputRef value, OutputRef instead);
  // `values` of the source, in this function: copies what makes them. With `controls`, also the
  // nodes that those wait for (but for primitives of branches and loops), and `effects`.
  Result<std::vector<OutputRef>> Copy(const std::vector<OutputRef>& values, bool controls = false,
                                      const std::vector<NodeId>& effects = {});
  Graph& graph() { return graph_; }
  // Adds the function to the library of `caller` and returns its name.
  Result<FunctionName> Finish(Graph& caller, const std::string& name,
                              const std::vector<OutputRef>& results, bool* has_effects);

 private:
  const Graph& source_;
  Graph graph_;
  std::vector<NodeId> args_;
  std::vector<NodeId> effects_;
  std::map<std::pair<NodeId, int32_t>, OutputRef> substitutes_;
  std::map<NodeId, NodeId> copies_;
};

// The body of a function together with its derivative, in one graph.
class BodyDerivative {
 public:
  // Differentiates `results` of the function (by number) with regard to all its arguments. `args`
  // has what the caller knows of them. Functions that the derivative of the body needed are added
  // to the library of `caller`.
  static Result<BodyDerivative> Make(Graph& caller, const FunctionName& function,
                                     const std::vector<OutputInfo>& args,
                                     const std::vector<int>& results);

  const FunctionBody& body() const { return body_; }
  // Where the derivative of results[i] arrives, as an _Arg node of the body.
  OutputRef dy(size_t i) const { return dys_[i]; }
  // The derivative for argument i; kNoNode when no result depends on it.
  OutputRef dx(size_t i) const { return dxs_[i]; }
  // What the derivative reads of the body, each once: arguments of the body too, constants not.
  const std::vector<OutputRef>& captures() const { return captures_; }
  // The number of the argument that `value` is, or -1.
  int ArgNumber(OutputRef value) const;
  // The number of the argument that result i always is, or -1.
  int PassedOn(size_t result) const;

 private:
  void FindCaptures(NodeId first);

  FunctionBody body_;
  std::vector<OutputRef> dys_;
  std::vector<OutputRef> dxs_;
  std::vector<OutputRef> captures_;
};

}  // namespace penstock
