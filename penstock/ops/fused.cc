#include "penstock/ops/fused.h"

#include <algorithm>

#include "penstock/kernels/fused.h"
#include "penstock/ops/elementwise.h"
#include "penstock/ops/register_all.h"

namespace penstock::ops {

struct FusedCode {
  kernels::FusedProgram program;
  double cost = 0;  // cycles an element
};

namespace {

// Reads one instruction, whose result is the next value.
Result<kernels::FusedInstruction> ReadInstruction(const Fused& op, size_t i,
                                                  const std::vector<DType>& values, double* cost) {
  kernels::FusedInstruction out{};
  DType types[Fused::kMaxArity];
  const auto args = std::span(op.args).subspan(i * Fused::kMaxArity, Fused::kMaxArity);
  for (const int64_t arg : args) {
    if (arg < 0) break;
    if (!InRange(arg, static_cast<int64_t>(values.size()))) {
      return InvalidArgument("instruction {} reads value {}, which is not there yet", i, arg);
    }
    types[out.arity] = values[static_cast<size_t>(arg)];
    out.args[static_cast<size_t>(out.arity++)] = static_cast<int>(arg);
  }
  const ElementwiseBlock* block = StandardElementwise().Find(
      op.ops[i], std::span<const DType>(types, static_cast<size_t>(out.arity)), op.types[i]);
  if (block == nullptr || block->arity != out.arity) {
    return InvalidArgument("instruction {} cannot be fused: {} to {}", i, Printable(op.ops[i]),
                           op.types[i]);
  }
  if (block->divides || block->raises) {
    return InvalidArgument("instruction {} can fail: {}", i, op.ops[i]);
  }
  out.fn = block->function;
  out.result = static_cast<int>(values.size());
  out.result_bytes = static_cast<int>(SizeOf(op.types[i]));
  *cost += block->cost;
  return out;
}

}  // namespace

Status Fused::CheckAttrs() const {
  constexpr size_t kMaxValues = 1 << 20;
  if (ops.empty() || types.size() != ops.size() || args.size() != ops.size() * kMaxArity ||
      ops.size() + Tin.size() > kMaxValues) {
    return InvalidArgument(
        "a fused program has for each op one type and {} arguments, got {}, {}, {}", kMaxArity,
        ops.size(), types.size(), args.size());
  }
  auto made = std::make_shared<FusedCode>();
  made->program.num_inputs = static_cast<int>(Tin.size());
  std::vector<DType> values = Tin;
  for (size_t i = 0; i < ops.size(); ++i) {
    TRY_ASSIGN(kernels::FusedInstruction instruction,
               ReadInstruction(*this, i, values, &made->cost));
    made->program.instructions.push_back(instruction);
    values.push_back(types[i]);
  }
  if (results.size() != Tout.size() || results.empty() ||
      results[0] != static_cast<int64_t>(values.size()) - 1) {
    return InvalidArgument("the first of {} outputs must be that of the last instruction",
                           Tout.size());
  }
  std::vector<uint8_t> is_output(values.size(), 0);
  for (size_t i = 0; i < results.size(); ++i) {
    const auto value = static_cast<size_t>(results[i]);
    const bool is_result = value >= Tin.size() && value < values.size();
    if (!is_result || values[value] != Tout[i] || is_output[value]++ != 0) {
      return InvalidArgument("output {} cannot be value {}", i, results[i]);
    }
    made->program.outputs.push_back(static_cast<int>(value));
  }
  kernels::AssignRegisters(made->program);
  code = std::move(made);
  return OkStatus();
}

Result<Shape> Fused::InferShape(std::span<const Known> inputs) const {
  Shape shape = inputs.empty() ? Shape() : *inputs[0].shape;
  for (size_t i = 1; i < inputs.size(); ++i) {
    TRY_ASSIGN(shape, BroadcastShapes(shape, *inputs[i].shape));
  }
  return shape;
}

Status Fused::ComputeCpu(CpuContext& context, std::span<Tensor* const> inputs,
                         std::span<Tensor> outputs) const {
  const Shape& shape = outputs[0].shape();
  std::vector<kernels::Operand> operands;
  std::vector<std::vector<int64_t>> strides;  // of operands that are broadcast
  operands.reserve(inputs.size());
  for (const Tensor* input : inputs) {
    kernels::Operand operand =
        kernels::Operand::Dense(input->raw(), static_cast<int>(SizeOf(input->dtype())));
    if (!(input->shape() == shape)) {
      if (input->num_elements() == 1) {
        operand.is_scalar = true;
      } else {
        auto& steps = strides.emplace_back(static_cast<size_t>(shape.rank()));
        kernels::BroadcastStrides(input->shape().dims(), shape.dims(), steps.data());
        operand.strides = steps.data();
      }
    }
    operands.push_back(operand);
  }
  std::vector<void*> buffers;
  for (Tensor& output : outputs) buffers.push_back(output.mutable_raw());
  kernels::RunFused(code->program, operands, shape.dims(), buffers, code->cost, context.parallel());
  return OkStatus();
}

void RegisterFused(Registrar& registrar) { registrar.AddAll<Fused>(); }

}  // namespace penstock::ops
