#include "penstock/ops/fused.h"

#include <algorithm>

#include "penstock/kernels/cast.h"
#include "penstock/kernels/fused.h"
#include "penstock/ops/elementwise.h"

namespace penstock::ops {

struct FusedCode {
  kernels::FusedProgram program;
  double cost = 0;  // cycles an element
};

namespace {

// A conversion as a block: the op Cast has none, since it takes pairs of types.
template <class From, class To>
void CastBlock(const void* const* inputs, uint32_t scalar_mask, void* output, int64_t n) {
  const From* in = static_cast<const From*>(inputs[0]);
  To* out = static_cast<To*>(output);
  if (scalar_mask != 0) {
    To one;
    kernels::Cast(in, &one, 1);
    std::fill_n(out, n, one);
  } else if (inputs[0] != output) {
    kernels::Cast(in, out, n);
  } else {
    constexpr int64_t kTile = 256;
    To tile[kTile];
    for (int64_t i = 0; i < n; i += kTile) {
      const int64_t count = std::min(kTile, n - i);
      kernels::Cast(in + i, tile, count);
      std::copy_n(tile, count, out + i);
    }
  }
}

// The types that values are converted between inside a region.
using CastTypes = Types<float, double, half, bfloat16, int32_t, int64_t, uint8_t, bool>;

template <class From, class... Tos>
kernels::BlockFn FindCastFrom(DType to, Types<Tos...>) {
  kernels::BlockFn found = nullptr;
  ((to == kDTypeOf<Tos> ? void(found = &CastBlock<From, Tos>) : void()), ...);
  return found;
}
template <class... Froms>
kernels::BlockFn FindCast(DType from, DType to, Types<Froms...> types) {
  kernels::BlockFn found = nullptr;
  ((from == kDTypeOf<Froms> ? void(found = FindCastFrom<Froms>(to, types)) : void()), ...);
  return found;
}

// The block of an instruction; without a function when there is none that cannot fail.
ElementwiseBlock FindBlock(const std::string& op, std::span<const DType> inputs, DType output) {
  if (op == "Cast" && inputs.size() == 1) {
    ElementwiseBlock block;
    block.function = FindCast(inputs[0], output, CastTypes());
    return block;
  }
  const ElementwiseBlock* block = StandardElementwise().Find(op, inputs, output);
  if (block == nullptr || block->attribute != nullptr || block->divides || block->raises) return {};
  return *block;
}

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
  const ElementwiseBlock block = FindBlock(
      op.ops[i], std::span<const DType>(types, static_cast<size_t>(out.arity)), op.types[i]);
  if (block.function == nullptr) {
    return InvalidArgument("instruction {} cannot be fused: {} to {}", i, Printable(op.ops[i]),
                           op.types[i]);
  }
  out.fn = block.function;
  out.result = static_cast<int>(values.size());
  out.result_bytes = static_cast<int>(SizeOf(op.types[i]));
  *cost += block.cost;
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
  Run(operands, shape.dims(), buffers, context.parallel());
  return OkStatus();
}

void Fused::Run(std::span<const kernels::Operand> inputs, std::span<const int64_t> dims,
                std::span<void* const> outputs, const ParallelFor& each) const {
  kernels::RunFused(code->program, inputs, dims, outputs, code->cost, each);
}

double Fused::cost() const { return code->cost; }

void RegisterFused(Registrar& registrar) { registrar.AddAll<Fused>(); }

}  // namespace penstock::ops
