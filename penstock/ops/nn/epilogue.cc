#include "penstock/ops/nn/epilogue.h"

#include <utility>

namespace penstock::ops {
namespace {

using kernels::Activation;

constexpr std::pair<std::string_view, Activation> kActivations[] = {
    {"Relu", Activation::kRelu},       {"Relu6", Activation::kRelu6},
    {"Elu", Activation::kElu},         {"Tanh", Activation::kTanh},
    {"Sigmoid", Activation::kSigmoid}, {"LeakyRelu", Activation::kLeakyRelu}};

}  // namespace

Result<kernels::Epilogue> ParseEpilogue(std::span<const std::string> fused_ops, float alpha) {
  kernels::Epilogue epilogue;
  size_t at = 0;
  auto take = [&](std::string_view name) {
    const bool is_next = at < fused_ops.size() && fused_ops[at] == name;
    if (is_next) ++at;
    return is_next;
  };
  epilogue.bias = take("BiasAdd");
  epilogue.addend = take("Add");
  for (const auto& [name, activation] : kActivations) {
    if (epilogue.activation == Activation::kNone && take(name)) epilogue.activation = activation;
  }
  if (at < fused_ops.size()) {
    return InvalidArgument("fused_ops must be BiasAdd, Add and an activation in this order, got {}",
                           fused_ops[at]);
  }
  if (epilogue.activation == Activation::kLeakyRelu) epilogue.alpha = alpha;
  return epilogue;
}

Status CheckEpilogueArgs(const kernels::Epilogue& epilogue, std::span<const Known> args,
                         const Shape& output, int64_t channels) {
  const size_t wanted = (epilogue.bias ? 1 : 0) + (epilogue.addend ? 1 : 0);
  if (args.size() != wanted) {
    return InvalidArgument("fused_ops want {} args, got {}", wanted, args.size());
  }
  if (epilogue.bias) {
    TRY(CheckVector(*args[0].shape, "bias"));
    if (!Shape{channels}.IsCompatibleWith(*args[0].shape)) {
      return InvalidArgument("bias must have a value for each of {} channels, got {}", channels,
                             *args[0].shape);
    }
  }
  if (epilogue.addend && !output.IsCompatibleWith(*args.back().shape)) {
    return InvalidArgument("what is added must have the shape of the output, {}, got {}", output,
                           *args.back().shape);
  }
  return OkStatus();
}

}  // namespace penstock::ops
