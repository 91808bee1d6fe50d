#include "penstock/compile/pipeline.h"

#include "penstock/compile/pass_runner.h"
#include "penstock/compile/passes.h"

namespace penstock {

std::vector<std::string> OptionalPasses() {
  return {"inline",     "free", "fold", "simplify", "merge",      "updates", "epilogue",
          "layer_norm", "pool", "fuse", "gates",    "read_first", "order",   "memory"};
}

Result<Compiled> Compile(const Graph& graph, const CompileRequest& request,
                         const CompileOptions& options) {
  Compiled out{Graph(graph.registry()), {}, {}};
  PassRunner run(&out.graph, options);
  TRY(run("prune", [&](Graph& g) -> Status {
    TRY_ASSIGN(g, Prune(graph, request));
    return OkStatus();
  }));
  TRY(run("inline", InlineCalls));
  TRY(run("reread", RereadReferences));
  TRY(run("infer", InferShapes));
  TRY(run("free", FreeConstants));
  if (options.evaluator)
    TRY(run("fold", [&](Graph& g) { return FoldConstants(g, options.evaluator); }));
  TRY(run("simplify", Simplify));
  TRY(run("merge", MergeCommonSubexpressions));
  TRY(run("updates", GatherUpdates));
  TRY(run("epilogue", FuseEpilogues));
  TRY(run("layer_norm", FuseLayerNorms));
  TRY(run("pool", HandOverPoolPlaces));
  TRY(run("fuse", FuseElementwise));
  TRY(run("gates", FuseGates));
  TRY(run("read_first", OrderUpdates));
  TRY(run("schedule", [&](Graph& g) -> Status {
    TRY_ASSIGN(out.schedule, MakeSchedule(g, options.threads));
    return OkStatus();
  }));
  TRY(run("order", [&](Graph& g) { return OrderForMemory(g, out.schedule); }));
  TRY(run("memory", [&](Graph& g) { return PlanMemory(g, out.schedule); }));
  out.passes = run.TakeReports();
  return out;
}

}  // namespace penstock
