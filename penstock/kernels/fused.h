#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "penstock/core/parallel.h"
#include "penstock/kernels/broadcast.h"
#include "penstock/kernels/elementwise.h"
#include "penstock/kernels/reduce_fold.h"

namespace penstock::kernels {

// One step of a fused program. Values are numbered: first the inputs, then the results of
// instructions.
struct FusedInstruction {
  BlockFn fn;
  int arity;                // 1, 2 or 3
  std::array<int, 3> args;  // values
  int result;               // a value that no other instruction makes
  int result_bytes;         // of an element
};

// What may follow the last instruction: a value is reduced over all dimensions or over the
// innermost ones.
struct FusedReduction {
  FoldKernels kernels;
  int value;          // a result
  int value_bytes;    // of an element, before and after
  int num_dims = -1;  // how many of the innermost dimensions; -1: all
};

// Element-wise instructions that are run together, block by block, so that what passes between them
// stays in the cache. All values have the shape of the output; inputs are broadcast to it.
//
//   // y = tanh(x + bias)
//   FusedProgram program{.num_inputs = 2,
//                        .instructions = {{add, 2, {0, 1}, 2, 4}, {tanh, 1, {2}, 3, 4}},
//                        .outputs = {3}};
//   AssignRegisters(program);
//   RunFused(program, inputs, shape, {{y}}, /*cost=*/4, each);
struct FusedProgram {
  int num_inputs = 0;
  std::vector<FusedInstruction> instructions = {};  // each after those whose results it reads
  std::vector<int> outputs = {};                    // values to store: results, none of them twice
  std::optional<FusedReduction> reduction = {};

  // Where the results are kept; by AssignRegisters.
  struct Place {
    int output = -1;  // an index into outputs: written and read there
    int register_index = -1;
  };
  std::vector<Place> places = {};  // of each value; an input has neither
  int num_registers = 0;
  int register_bytes = 0;  // of one element of any register
};

// Gives each result its place: the output's buffer, or a register that is used again once nobody
// reads the value any more.
// REQUIRES: values are made once, before they are read.
void AssignRegisters(FusedProgram& program);

// Says whether the buffer of a dense input may also be that of program.outputs[output]: no
// instruction after the one that writes the output reads the input.
// REQUIRES: elements of the same size.
bool MayShareBuffer(const FusedProgram& program, int output, int input);

// Runs the program over `shape`. outputs[i] receives program.outputs[i], row-major; the last of
// `outputs` receives the reduction, if there is one: an element for all, or for each index of the
// dimensions kept. `cost` is a rough number of cycles for one element through all instructions.
// Results do not depend on the number of threads.
// REQUIRES: AssignRegisters was called; outputs
// share no buffer with inputs but where MayShareBuffer allows it.
void RunFused(const FusedProgram& program, std::span<const Operand> inputs,
              std::span<const int64_t> shape, std::span<void* const> outputs, double cost,
              const ParallelFor& each);

}  // namespace penstock::kernels
