#pragma once

#include <vector>

#include "penstock/device/device.h"
#include "penstock/device/kernel.h"
#include "penstock/graph/graph.h"

namespace penstock {

// Runs one stateless node on the calling thread: what constant folding and op tests need.
Result<std::vector<Tensor>> EvaluateNode(const Node& node, const std::vector<Tensor>& inputs,
                                         const KernelRegistry& kernels, Device& device);

}  // namespace penstock
