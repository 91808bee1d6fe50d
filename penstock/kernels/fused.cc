#include "penstock/kernels/fused.h"

#include <algorithm>
#include <cstddef>

#include "penstock/kernels/broadcast_plan.h"
#include "penstock/kernels/fused_fold.h"
#include "penstock/kernels/inline_array.h"
#include "penstock/kernels/operand_feed.h"

namespace penstock::kernels {
namespace {

// What the blocks of all live values may take: most of a first-level cache. Shorter blocks cost
// more calls than longer ones cost misses, so there is a least length.
constexpr int64_t kCacheBytes = 32 << 10;
constexpr int64_t kMinBlock = 512;
constexpr int64_t kMaxBlock = 4096;

// More than this is not found in a second-level cache, and is worth asking for ahead where there
// are instructions enough to do it between. With fewer the processor's own prefetching is better.
constexpr int64_t kPrefetchBytes = 1 << 20;
constexpr size_t kPrefetchInstructions = 4;

bool WorthPrefetching(const FusedProgram& program, int64_t streamed_bytes, int64_t n) {
  return program.instructions.size() >= kPrefetchInstructions &&
         n > kPrefetchBytes / std::max<int64_t>(streamed_bytes, 1);
}

// The bytes of memory that an element is read from and written to.
int64_t StreamedBytes(const FusedProgram& program, std::span<const Operand> inputs) {
  int64_t bytes = 0;
  for (const Operand& input : inputs) bytes += input.is_scalar ? 0 : input.element_bytes;
  for (const FusedInstruction& instruction : program.instructions) {
    if (program.places[instruction.result].output >= 0) bytes += instruction.result_bytes;
  }
  return bytes;
}

int64_t ChooseBlock(const FusedProgram& program, int64_t streamed_bytes) {
  const int64_t bytes = streamed_bytes + int64_t{program.num_registers} * program.register_bytes;
  const int64_t fitting = kCacheBytes / std::max<int64_t>(bytes, 1) / 64 * 64;
  return std::clamp(fitting, kMinBlock, kMaxBlock);
}

// What the threads share.
struct FusedCall {
  const FusedProgram& program;
  std::span<const Operand> inputs;
  std::span<void* const> outputs;
  const BroadcastPlan& plan;
  OperandFeed::Limits limits;
  bool prefetches;
};

// Runs the program over ranges of elements on one thread.
class FusedRunner {
 public:
  explicit FusedRunner(const FusedCall& call)
      : call_(call),
        tile_bytes_(OperandFeed::TileBytes(call.plan, call.inputs, call.limits)),
        register_stride_(Aligned(call.limits.max_run * call.program.register_bytes)),
        scratch_(tile_bytes_ + register_stride_ * call.program.num_registers + kAlignment),
        tiles_(scratch_.data() + Aligned(reinterpret_cast<uintptr_t>(scratch_.data())) -
               reinterpret_cast<uintptr_t>(scratch_.data())),
        reduced_(call.program.reduction ? call.program.reduction->value : -1),
        values_(call.program.places.size()),
        feed_(call.plan, call.inputs, call.limits, tiles_) {}

  // Calls after(begin, n) when the values of n elements from `begin` on stand in their places.
  template <class After>
  void Run(int64_t begin, int64_t end, After after) {
    const int num_instructions = static_cast<int>(call_.program.instructions.size());
    while (begin < end) {
      const int64_t n = feed_.Next(begin, end, values_.data());
      const int64_t ahead = call_.prefetches ? std::min(n, end - begin - n) : 0;
      for (int i = 0; i < num_instructions; ++i) {
        Prefetch(begin + n + ahead * i / num_instructions,
                 begin + n + ahead * (i + 1) / num_instructions);
        Execute(call_.program.instructions[i], begin, n);
      }
      after(begin, n);
      begin += n;
    }
  }

  const OperandFeed::Run& value(int v) const { return values_[v]; }

 private:
  static constexpr size_t kAlignment = 64;
  static constexpr int64_t kLine = 64;  // bytes of a cache line
  static constexpr size_t kInlineScratch = 64 << 10;

  static constexpr size_t Aligned(size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  // Asks for a part of the next block, from the buffers that are read or written in order: between
  // the first instruction and the last memory would be idle otherwise, and the processor's own
  // prefetching forgets where it was. Inlined, because GCC takes a function that does nothing but
  // prefetch for one without effect.
  [[gnu::always_inline]] inline void Prefetch(int64_t begin, int64_t end) const {
    if (begin == end) return;
    for (int k = 0; k < call_.plan.num_operands(); ++k) {
      if (call_.plan.kind(k) != BroadcastPlan::Kind::kDense) continue;
      const int bytes = call_.inputs[k].element_bytes;
      const std::byte* data = static_cast<const std::byte*>(call_.inputs[k].data);
      for (int64_t i = begin * bytes; i < end * bytes; i += kLine)
        __builtin_prefetch(data + i, 0, 2);
    }
    for (const FusedInstruction& instruction : call_.program.instructions) {
      const int output = call_.program.places[instruction.result].output;
      if (output < 0) continue;
      const int bytes = instruction.result_bytes;
      const std::byte* data = static_cast<const std::byte*>(call_.outputs[output]);
      for (int64_t i = begin * bytes; i < end * bytes; i += kLine)
        __builtin_prefetch(data + i, 1, 2);
    }
  }

  void Execute(const FusedInstruction& instruction, int64_t begin, int64_t n) {
    const void* args[3];
    uint32_t scalars = 0;
    for (int a = 0; a < instruction.arity; ++a) {
      const OperandFeed::Run& arg = values_[instruction.args[a]];
      args[a] = arg.data;
      scalars |= static_cast<uint32_t>(arg.is_scalar) << a;
    }
    const FusedProgram::Place place = call_.program.places[instruction.result];
    // One element for all makes one element for all, unless each is asked for.
    const bool is_scalar = scalars == (1u << instruction.arity) - 1 && place.output < 0 &&
                           instruction.result != reduced_;
    std::byte* result = place.output < 0
                            ? tiles_ + tile_bytes_ + register_stride_ * place.register_index
                            : static_cast<std::byte*>(call_.outputs[place.output]) +
                                  begin * instruction.result_bytes;
    instruction.fn(args, scalars, result, is_scalar ? 1 : n);
    values_[instruction.result] = {result, is_scalar};
  }

  const FusedCall& call_;
  const size_t tile_bytes_;
  const size_t register_stride_;
  InlineArray<std::byte, kInlineScratch> scratch_;  // the tiles, then the registers
  std::byte* const tiles_;
  const int reduced_;                         // the value that is reduced, or -1
  InlineArray<OperandFeed::Run, 32> values_;  // by value number; the feed fills in the inputs
  OperandFeed feed_;
};

void RunAndReduce(const FusedCall& call, std::span<const int64_t> shape, double cost,
                  const ParallelFor& each) {
  const FusedReduction& reduction = *call.program.reduction;
  FusedFold fold(reduction, shape, call.outputs.back());
  each(fold.num_pieces(), cost * static_cast<double>(fold.piece_elements()),
       [&](int64_t first, int64_t last) {
         FusedRunner runner(call);
         for (int64_t piece = first; piece < last; ++piece) {
           FusedFold::Piece sums(fold, piece);
           runner.Run(sums.begin(), sums.end(), [&](int64_t begin, int64_t n) {
             sums.Add(runner.value(reduction.value), begin, n);
           });
           sums.Finish();
         }
       });
  fold.Finish();
}

}  // namespace

void RunFused(const FusedProgram& program, std::span<const Operand> inputs,
              std::span<const int64_t> shape, std::span<void* const> outputs, double cost,
              const ParallelFor& each) {
  int64_t n = 1;
  for (int64_t dim : shape) n *= dim;
  if (n == 0) {
    if (program.reduction) FusedFold(*program.reduction, shape, outputs.back()).Finish();
    return;
  }
  const BroadcastPlan plan(shape, inputs);
  const int64_t streamed_bytes = StreamedBytes(program, inputs);
  const int64_t block = ChooseBlock(program, streamed_bytes);
  const FusedCall call{program,
                       inputs,
                       outputs,
                       plan,
                       {.long_row = block, .max_run = block, .tile = block},
                       WorthPrefetching(program, streamed_bytes, n)};
  if (program.reduction) return RunAndReduce(call, shape, cost, each);
  each(
      n, cost,
      [&](int64_t begin, int64_t end) {
        FusedRunner(call).Run(begin, end, [](int64_t, int64_t) {});
      },
      OperandFeed::PreferredRun(plan, call.limits));
}

}  // namespace penstock::kernels
