#pragma once

#include <string>
#include <utility>
#include <vector>

#include "penstock/graph/function.h"
#include "penstock/graph/graph.h"

// Functions as tests write them.

namespace penstock {

struct TestArg {
  std::string name;
  DType dtype = DType::kFloat;
  std::string value = {};  // of a result: where it comes from
};

// A function of fixed dtypes. Every control result is named like its node.
inline FunctionDef MakeFunction(std::string name, const std::vector<TestArg>& args,
                                const std::vector<TestArg>& results,
                                std::vector<FunctionNode> nodes,
                                const std::vector<std::string>& control_results = {},
                                bool is_stateful = false) {
  FunctionDef function;
  function.signature.name = std::move(name);
  function.signature.is_stateful = is_stateful;
  for (const TestArg& arg : args) {
    ArgDef& def = function.signature.inputs.emplace_back();
    def.name = arg.name;
    def.dtype = arg.dtype;
  }
  for (const TestArg& result : results) {
    ArgDef& def = function.signature.outputs.emplace_back();
    def.name = result.name;
    def.dtype = result.dtype;
    function.results[result.name] = result.value;
  }
  function.nodes = std::move(nodes);
  for (const std::string& node : control_results) function.control_results[node] = node;
  return function;
}

inline void AddFunction(Graph& graph, FunctionDef function) {
  const std::string name = function.signature.name;
  graph.library().functions[name] = std::make_shared<const FunctionDef>(std::move(function));
}

inline FunctionNode MakeNode(std::string name, std::string op, std::vector<std::string> inputs,
                             AttrMap attrs = {}) {
  return {std::move(name), std::move(op), {}, std::move(inputs), std::move(attrs), nullptr};
}
inline FunctionNode ConstNode(std::string name, const Tensor& value) {
  return MakeNode(std::move(name), "Const", {}, {{"value", value}, {"dtype", value.dtype()}});
}

}  // namespace penstock
