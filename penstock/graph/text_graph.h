#pragma once

#include <optional>
#include <string_view>

#include "penstock/core/status.h"
#include "penstock/graph/graph.h"

namespace penstock {

// Reads graphs as people write them, in tests and scripts:
//
//   x = Placeholder(shape=[2,?])          # dtype float unless said
//   w = Const(value=[[1,2],[3,4]])
//   y = MatMul(x, w, transpose_b=true)
//   z = Add(y, y:0, ^w, device="/cpu:0")
//
//   graph     = [ "graph" ] { statement [ ";" ] }
//   statement = name "=" op "(" [ item { "," item } ] ")"
//   item      = name [ ":" port ] | "^" name | attribute "=" literal
//
// Literals are those of graph/text_literal.h, read as the kind of attribute that the op's
// definition says. Names must be there before they are used, but for what a Merge takes from a
// NextIteration. An attribute `dtype` left out is that of the op's tensor, or float. Errors begin
// with line and column.
Status AddTextGraph(std::string_view text, Graph* graph);
Result<Graph> ParseTextGraph(std::string_view text, const OpRegistry& registry);

// A value alone: "[[1,2],[3,4]]", "int32[1,2]", "\"text\"". `dtype` is used where none is written.
Result<Tensor> ParseTensorText(std::string_view text, std::optional<DType> dtype = std::nullopt);

}  // namespace penstock
