#include "penstock/session/evaluate.h"

#include "penstock/graph/node_check.h"

namespace penstock {

Result<std::vector<Tensor>> EvaluateNode(const Node& node, const std::vector<Tensor>& inputs,
                                         const KernelRegistry& kernels, Device& device) {
  TRY_ASSIGN(const NodeTypes types, ExpandTypes(node.op->def, node.attrs));
  TRY_ASSIGN(const std::unique_ptr<Kernel> kernel,
             kernels.Create(node.op_name(), device.type(),
                            {node.decoded, node.name, types.inputs, types.outputs}));
  if (kernel->IsAsync())
    return Unimplemented("op {} can wait: it is not evaluated alone", node.op_name());
  StateRegistry state;
  Cancellation cancellation;
  StepResources resources;
  resources.allocator = HostAllocator();
  resources.parallel = ParallelFor(device.pool());
  resources.cancellation = &cancellation;
  resources.state = &state;
  std::vector<Tensor> values = inputs;
  std::vector<Tensor*> pointers;
  for (Tensor& value : values) pointers.push_back(&value);
  std::vector<Tensor> outputs(types.outputs.size());
  KernelContextBuilder builder(&resources);
  builder.Inputs(pointers.data(), static_cast<int>(pointers.size()))
      .Outputs(outputs.data(), static_cast<int>(outputs.size()), false);
  TRY(kernel->Compute(builder.context()));
  return outputs;
}

}  // namespace penstock
