#pragma once

#include <span>
#include <string>

#include "penstock/graph/infer.h"
#include "penstock/kernels/epilogue.h"

namespace penstock::ops {

// Reads the attribute fused_ops: the ops that follow, in this order and each at most once: BiasAdd,
// Add (of a tensor of the output's shape), an activation. `alpha` is that of LeakyRelu.
Result<kernels::Epilogue> ParseEpilogue(std::span<const std::string> fused_ops, float alpha);

// Holds the tensors that an epilogue adds, in its order, against the shape of the output and the
// number of its channels.
Status CheckEpilogueArgs(const kernels::Epilogue& epilogue, std::span<const Known> args,
                         const Shape& output, int64_t channels);

}  // namespace penstock::ops
