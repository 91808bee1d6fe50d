#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "penstock/graph/attr_value.h"
#include "penstock/graph/op_def.h"

namespace penstock {

// A node of a function body: inputs are by name, since a body is instantiated later.
struct FunctionNode {
  std::string name;
  std::string op;
  std::string device;
  std::vector<std::string> inputs;  // "arg", "node:output_arg:index", "^node"
  AttrMap attrs;
  std::shared_ptr<const std::string> extra;
};

// A graph with arguments, results and attributes of its own; FunctionDef as plain data.
struct FunctionDef {
  OpDef signature;
  AttrMap attrs;
  std::vector<FunctionNode> nodes;
  std::map<std::string, std::string> results;          // output argument -> "node:output_arg:index"
  std::map<std::string, std::string> control_results;  // control output -> node
  std::string extra;  // fields that we do not understand, as they came
};

struct FunctionLibrary {
  std::map<std::string, std::shared_ptr<const FunctionDef>> functions;
  std::map<std::string, std::string> gradients;  // function -> its gradient function
  std::string extra;
};

}  // namespace penstock
