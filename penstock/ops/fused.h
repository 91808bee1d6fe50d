#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"

namespace penstock::kernels {
struct Operand;
}

namespace penstock::ops {

struct FusedCode;  // a program made ready to run

// A region of element-wise nodes as one node: a small program over its inputs, run block by block
// so that what passes between its instructions stays in the cache. Made by the compiler.
//
// Values are numbered: the inputs, then the results of the instructions. Instruction i is the
// element-wise op ops[i] on the values args[3 * i ...] (-1 where it takes fewer than three), and
// its result is of type types[i]. Output k is the value results[k]; all have the shape that the
// inputs broadcast to. The first output is that of the last instruction: it may be written over any
// input.
struct Fused {
  static constexpr auto kName = "_Fused";
  static constexpr bool kNoGradient = true;
  static constexpr bool kInPlace = true;
  static constexpr double kCost = 8;
  static constexpr int kMaxArity = 3;

  std::vector<DType> Tin;
  std::vector<DType> Tout;
  std::vector<std::string> ops;
  std::vector<int64_t> args;
  std::vector<DType> types;
  std::vector<int64_t> results;
  // Set by CheckAttrs, before anybody else sees the struct.
  mutable std::shared_ptr<const FusedCode> code = {};

  using Sig = Signature<In<"inputs", TypeList<"Tin">>, Out<"outputs", TypeList<"Tout">>>;
  static constexpr std::tuple kAttrs{
      Field{"Tin", &Fused::Tin}.Required(),     Field{"Tout", &Fused::Tout}.Required(),
      Field{"ops", &Fused::ops}.Required(),     Field{"args", &Fused::args}.Required(),
      Field{"types", &Fused::types}.Required(), Field{"results", &Fused::results}.Required()};

  // Fails when the program is none, or when an instruction cannot be part of one: the op is not
  // element-wise for its types, can fail, or has attributes.
  Status CheckAttrs() const;
  Result<Shape> InferShape(std::span<const Known> inputs) const;
  Status ComputeCpu(CpuContext& context, std::span<Tensor* const> inputs,
                    std::span<Tensor> outputs) const;

  // For ops that run such a program on what they made: over `dims`, from the inputs as operands to
  // buffers for the outputs. REQUIRES: CheckAttrs succeeded.
  void Run(std::span<const kernels::Operand> inputs, std::span<const int64_t> dims,
           std::span<void* const> outputs, const ParallelFor& each) const;
  // Cycles an element, roughly.
  double cost() const;
};

}  // namespace penstock::ops
