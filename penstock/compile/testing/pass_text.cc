#include "penstock/compile/testing/pass_text.h"

#include "penstock/device/device.h"
#include "penstock/device/kernel.h"
#include "penstock/graph/node_check.h"
#include "penstock/graph/text_graph.h"

namespace penstock {
namespace {

std::string BriefProgram(const Node& node) {
  std::string out;
  const auto& ops = *FindAttr(node.attrs, "ops")->Get<std::vector<std::string>>();
  const auto& args = *FindAttr(node.attrs, "args")->Get<std::vector<int64_t>>();
  for (size_t i = 0; i < ops.size(); ++i) {
    out += " " + ops[i] + "(";
    for (size_t k = 3 * i; k < 3 * i + 3 && args[k] >= 0; ++k) {
      out += (k > 3 * i ? "," : "") + std::to_string(args[k]);
    }
    out += ")";
  }
  out += " ->";
  for (const int64_t value : *FindAttr(node.attrs, "results")->Get<std::vector<int64_t>>()) {
    out += " " + std::to_string(value);
  }
  return out;
}

}  // namespace

std::string Brief(const Graph& graph) {
  std::string out;
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    if (!graph.IsLive(id)) continue;
    const Node& node = graph.node(id);
    out += node.name + " = ";
    const bool is_const = node.op_name() == "Const";
    if (is_const) out += ConstantValue(graph, {id, 0})->ToString();
    if (is_const && node.control_inputs.empty()) {
      out += "\n";
      continue;
    }
    std::string inputs;
    for (const OutputRef& input : node.inputs) {
      inputs += (inputs.empty() ? "" : ", ") + graph.node(input.node).name;
      if (input.port > 0) inputs += ":" + std::to_string(input.port);
    }
    for (const NodeId control : node.control_inputs) {
      inputs += (inputs.empty() ? "^" : ", ^") + graph.node(control).name;
    }
    out += (is_const ? " " : node.op_name()) + "(" + inputs + ")";
    if (node.op_name() == "_Fused") out += BriefProgram(node);
    out += "\n";
  }
  return out;
}

std::string After(std::string_view text, const std::function<Status(Graph&)>& pass) {
  Result<Graph> graph = ParseTextGraph(text, StandardOps());
  if (!graph.ok()) return graph.status().ToString();
  Status status = pass(*graph);
  if (status.ok()) status = graph->Verify();
  return status.ok() ? Brief(*graph) : status.ToString();
}

Evaluator StandardEvaluator() {
  return [](const Node& node, const std::vector<Tensor>& inputs) -> Result<std::vector<Tensor>> {
    TRY_ASSIGN(const NodeTypes types, ExpandTypes(node.op->def, node.attrs));
    TRY_ASSIGN(const std::unique_ptr<Kernel> kernel,
               StandardKernels().Create(node.op_name(), "CPU",
                                        {node.decoded, node.name, types.inputs, types.outputs}));
    StepResources resources;
    resources.allocator = HostAllocator();
    std::vector<Tensor> values = inputs;
    std::vector<Tensor*> pointers;
    for (Tensor& value : values) pointers.push_back(&value);
    std::vector<Tensor> outputs(types.outputs.size());
    KernelContextBuilder builder(&resources);
    builder.Inputs(pointers.data(), static_cast<int>(pointers.size()))
        .Outputs(outputs.data(), static_cast<int>(outputs.size()), false);
    TRY(kernel->Compute(builder.context()));
    return outputs;
  };
}

}  // namespace penstock
