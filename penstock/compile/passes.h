#pragma once

#include "penstock/compile/pipeline.h"
#include "penstock/graph/graph.h"
#include "penstock/graph/schedule.h"

// The passes, each a function that rewrites a graph in place. A pass leaves names of surviving
// nodes alone, keeps control dependencies, and never touches _Arg and _Retval nodes but to rewire
// their inputs.

namespace penstock {

// The part of `graph` that the fetches and targets need and the feeds do not replace, in a new
// graph. Its collection "targets" names nodes that run although nobody reads them.
Result<Graph> Prune(const Graph& graph, const CompileRequest& request);
// Puts the bodies of small functions, and of those called once, in the place of their calls. A body
// that says "_noinline" stays out, as does one that would lose its meaning.
Status InlineCalls(Graph& graph);
// Lets those read a reference variable anew who come after an update of it.
Status RereadReferences(Graph& graph);
// Runs every shape rule again: feeds and folding may have made shapes more specific.
Status InferShapes(Graph& graph);
// Lets constants in branches and loops wait for nothing where their readers wait anyway.
Status FreeConstants(Graph& graph);
// Replaces nodes whose inputs are all constants by their value.
Status FoldConstants(Graph& graph, const Evaluator& evaluator);
// Takes out nodes that change nothing, and shortens what undoes or repeats itself. Results keep
// their bits.
Status Simplify(Graph& graph);
// Merges nodes that compute the same.
Status MergeCommonSubexpressions(Graph& graph);
// Makes one node of updates of small variables that differ in nothing but variables and gradients.
Status GatherUpdates(Graph& graph);
// Makes one node of a product or convolution and the bias, sum and activation that follow it, where
// nobody else reads what passes between them.
Status FuseEpilogues(Graph& graph);
// Replaces the nodes that normalise rows by their own moments by one _FusedLayerNorm, where nobody
// else reads what passes between them. It rounds otherwise than they do, no worse.
Status FuseLayerNorms(Graph& graph);
// Lets max pooling hand the places of its maxima to its derivative, where a graph has both, so that
// these need not be found twice. Results keep their bits.
Status HandOverPoolPlaces(Graph& graph);
// Replaces maximal regions of element-wise nodes by one _Fused node each.
Status FuseElementwise(Graph& graph);
// Makes one node of a product of few rows, the Split of its columns and the _Fused node that alone
// reads the parts: the cell of a recurrent network.
Status FuseGates(Graph& graph);
// Lets a step read a variable, and use what it read, before it updates it, where no edge says
// otherwise.
Status OrderUpdates(Graph& graph);
// Chooses the order of nodes and whether they run in sequence.
Result<Schedule> MakeSchedule(const Graph& graph, int threads);
// Takes another order where that needs less memory at once: values are computed when they are
// needed, and read as soon as that frees others. Effects keep their order.
Status OrderForMemory(const Graph& graph, Schedule& schedule);
// Gives values of known size a place in the step's arena, reusing places and writing in place where
// it may.
Status PlanMemory(const Graph& graph, Schedule& schedule);

}  // namespace penstock
