#include <algorithm>
#include <limits>

#include "penstock/kernels/fused.h"

namespace penstock::kernels {
namespace {

constexpr int kNever = std::numeric_limits<int>::max();

int NumValues(const FusedProgram& program) {
  int n = program.num_inputs;
  for (const FusedInstruction& instruction : program.instructions)
    n = std::max(n, instruction.result + 1);
  return n;
}

// The last instruction that reads each value; a value that nobody reads dies where it is made.
std::vector<int> LastReads(const FusedProgram& program) {
  std::vector<int> last(NumValues(program), -1);
  for (int i = 0; i < static_cast<int>(program.instructions.size()); ++i) {
    const FusedInstruction& instruction = program.instructions[i];
    last[instruction.result] = i;
    for (int a = 0; a < instruction.arity; ++a) last[instruction.args[a]] = i;
  }
  if (program.reduction) last[program.reduction->value] = kNever;
  return last;
}

}  // namespace

void AssignRegisters(FusedProgram& program) {
  using Place = FusedProgram::Place;
  const std::vector<int> last_read = LastReads(program);
  std::vector<int> bytes(last_read.size(), 0);
  program.places.assign(last_read.size(), Place());
  program.num_registers = program.register_bytes = 0;
  for (int i = 0; i < static_cast<int>(program.outputs.size()); ++i) {
    program.places[program.outputs[i]].output = i;
  }
  std::vector<int> free_registers;
  for (int i = 0; i < static_cast<int>(program.instructions.size()); ++i) {
    const FusedInstruction& instruction = program.instructions[i];
    bytes[instruction.result] = instruction.result_bytes;
    // Registers that become free with this instruction. One whose elements are of the result's size
    // may hold the result already: a block function reads an element before it writes it.
    std::vector<int> dying;
    int& result_register = program.places[instruction.result].register_index;
    const bool needs_register = program.places[instruction.result].output < 0;
    for (int a = 0; a < instruction.arity; ++a) {
      const int arg = instruction.args[a];
      const int held = program.places[arg].register_index;
      if (held < 0 || last_read[arg] != i) continue;
      if (std::find(dying.begin(), dying.end(), held) != dying.end() || held == result_register)
        continue;
      if (needs_register && result_register < 0 && bytes[arg] == instruction.result_bytes) {
        result_register = held;
      } else {
        dying.push_back(held);
      }
    }
    if (needs_register) {
      if (result_register < 0 && !free_registers.empty()) {
        result_register = free_registers.back();
        free_registers.pop_back();
      }
      if (result_register < 0) result_register = program.num_registers++;
      program.register_bytes = std::max(program.register_bytes, instruction.result_bytes);
      if (last_read[instruction.result] == i) dying.push_back(result_register);
    }
    free_registers.insert(free_registers.end(), dying.begin(), dying.end());
  }
}

bool MayShareBuffer(const FusedProgram& program, int output, int input) {
  bool written = false;
  for (const FusedInstruction& instruction : program.instructions) {
    for (int a = 0; written && a < instruction.arity; ++a) {
      if (instruction.args[a] == input) return false;
    }
    written = written || instruction.result == program.outputs[output];
  }
  return true;
}

}  // namespace penstock::kernels
