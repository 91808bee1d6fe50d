#pragma once

#include <string>
#include <vector>

#include "penstock/client/output.h"
#include "penstock/client/variable.h"

// What the parts of a training program know of each other: the variables of a graph, and what has
// to run or be added with each step. All of it lives in Graph::collections.

namespace penstock {

// A variable, whatever its element type.
struct Parameter {
  NodeId handle = kNoNode;
  DType dtype = DType::kInvalid;
  Shape shape = Shape::Unknown();
  std::string name = {};  // as checkpoints know it
};

// Of the VarHandleOp `handle`.
Parameter ParameterOf(const Graph& graph, NodeId handle);
// Those made so far, in the order they were made.
std::vector<Parameter> AllVariables(const Graph& graph);
std::vector<Parameter> TrainableVariables(const Graph& graph);

// Operations that belong to a training step besides the optimizer's, such as the moving averages of
// batch normalization. Minimize runs them with each step.
void AddUpdate(Operation update);
std::vector<Operation> UpdatesOf(Graph& graph);

// Terms that Minimize adds to the loss, such as the weight decay of a layer.
void AddPenalty(Output<float> term);
std::vector<Output<float>> PenaltiesOf(Graph& graph);

// The number of training steps so far: the int64 variable "global_step", made at the first call.
Variable<int64_t> GlobalStep(Graph& graph);

}  // namespace penstock
