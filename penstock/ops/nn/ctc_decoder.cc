#include <algorithm>
#include <vector>

#include "penstock/ops/nn/ctc.h"
#include "penstock/ops/nn/ctc_beam.h"

namespace penstock::ops {
namespace {

Status CheckLengths(const Tensor& sequence_length, int64_t times) {
  const int32_t* lengths = sequence_length.data<int32_t>();
  for (int64_t b = 0; b < sequence_length.num_elements(); ++b) {
    if (lengths[b] <= times) continue;
    return InvalidArgument("expected sequence_length({}) <= {}, got {}", b, times, lengths[b]);
  }
  return OkStatus();
}

// Sequences of different lengths as a sparse matrix, at outputs `indices`, `values` and `shape`.
Status StoreSparse(CpuContext& context, const std::vector<std::vector<int64_t>>& sequences,
                   int indices, int values, int shape) {
  int64_t total = 0, longest = 0;
  for (const auto& sequence : sequences) {
    total += static_cast<int64_t>(sequence.size());
    longest = std::max(longest, static_cast<int64_t>(sequence.size()));
  }
  TRY(context.AllocateOutput(indices, DType::kInt64, Shape{total, 2}));
  TRY(context.AllocateOutput(values, DType::kInt64, Shape{total}));
  TRY(context.AllocateOutput(shape, DType::kInt64, Shape{2}));
  int64_t* index = context.output(indices).mutable_data<int64_t>();
  int64_t* value = context.output(values).mutable_data<int64_t>();
  for (size_t b = 0; b < sequences.size(); ++b) {
    for (size_t k = 0; k < sequences[b].size(); ++k) {
      *index++ = static_cast<int64_t>(b);
      *index++ = static_cast<int64_t>(k);
      *value++ = sequences[b][k];
    }
  }
  context.output(shape).mutable_data<int64_t>()[0] = static_cast<int64_t>(sequences.size());
  context.output(shape).mutable_data<int64_t>()[1] = longest;
  return OkStatus();
}

// The batch size of inputs and lengths, or unknown.
Result<int64_t> BatchOf(const Shape& inputs, const Shape& sequence_length) {
  TRY(CheckRank(inputs, 3, "inputs"));
  TRY(CheckVector(sequence_length, "sequence_length"));
  const int64_t batch = inputs.has_rank() ? inputs.dim(1) : -1;
  const int64_t lengths = sequence_length.has_rank() ? sequence_length.dim(0) : -1;
  if (batch >= 0 && lengths >= 0 && batch != lengths) {
    return InvalidArgument(
        "len(sequence_length) != batch_size. len(sequence_length): {} batch_size: {}", lengths,
        batch);
  }
  for (int axis = 0; axis < 3 && inputs.has_rank(); ++axis) {
    if (inputs.dim(axis) == 0)
      return InvalidArgument("inputs must have times, a batch and classes, got {}", inputs);
  }
  return batch >= 0 ? batch : lengths;
}

}  // namespace

Result<std::array<Shape, 4>> CTCGreedyDecoder::InferShape(const Shape& inputs,
                                                          const Shape& sequence_length) const {
  TRY_ASSIGN(const int64_t batch, BatchOf(inputs, sequence_length));
  return std::array<Shape, 4>{Shape{-1, 2}, Shape{-1}, Shape{2}, Shape{batch, 1}};
}

template <class T>
Status CTCGreedyDecoder::ComputeCpu(CpuContext& context, const Tensor& inputs,
                                    const Tensor& sequence_length) const {
  const int64_t times = inputs.shape().dim(0), batch = inputs.shape().dim(1);
  const int64_t classes = inputs.shape().dim(2);
  TRY(CheckLengths(sequence_length, times));
  const int64_t blank = blank_index < 0 ? blank_index + classes : blank_index;
  if (!InRange(blank, classes)) {
    return InvalidArgument("blank_index expected to be between {} and {} but was {}", -classes,
                           classes - 1, blank_index);
  }
  TRY(context.AllocateOutput(3, inputs.dtype(), Shape{batch, 1}));
  std::vector<std::vector<int64_t>> sequences(static_cast<size_t>(batch));
  for (int64_t b = 0; b < batch; ++b) {
    T& score = context.output(3).mutable_data<T>()[b];
    score = 0;
    int64_t previous = -1;
    for (int64_t t = 0; t < sequence_length.data<int32_t>()[b]; ++t) {
      const T* row = inputs.data<T>() + (t * batch + b) * classes;
      const int64_t best = std::max_element(row, row + classes) - row;
      score -= row[best];
      if (best != blank && !(merge_repeated && best == previous)) {
        sequences[static_cast<size_t>(b)].push_back(best);
      }
      previous = best;
    }
  }
  return StoreSparse(context, sequences, 0, 1, 2);
}

Status CTCBeamSearchDecoder::CheckAttrs() const {
  if (top_paths >= 1 && top_paths <= beam_width) return OkStatus();
  return InvalidArgument("top_paths must be in [1, beam_width = {}], got {}", beam_width,
                         top_paths);
}

Result<std::vector<Shape>> CTCBeamSearchDecoder::InferShape(const Shape& inputs,
                                                            const Shape& sequence_length) const {
  TRY_ASSIGN(const int64_t batch, BatchOf(inputs, sequence_length));
  const auto paths = static_cast<size_t>(top_paths);
  std::vector<Shape> shapes(paths, Shape{-1, 2});
  shapes.resize(2 * paths, Shape{-1});
  shapes.resize(3 * paths, Shape{2});
  shapes.push_back(Shape{batch, top_paths});
  return shapes;
}

template <class T>
Status CTCBeamSearchDecoder::ComputeCpu(CpuContext& context, const Tensor& inputs,
                                        const Tensor& sequence_length) const {
  const int64_t times = inputs.shape().dim(0), batch = inputs.shape().dim(1);
  const int64_t classes = inputs.shape().dim(2);
  TRY(CheckLengths(sequence_length, times));
  const int paths = static_cast<int>(top_paths);
  TRY(context.AllocateOutput(3 * paths, inputs.dtype(), Shape{batch, top_paths}));
  T* scores = context.output(3 * paths).mutable_data<T>();
  std::vector<std::vector<std::vector<int64_t>>> found(
      static_cast<size_t>(paths), std::vector<std::vector<int64_t>>(static_cast<size_t>(batch)));
  for (int64_t b = 0; b < batch; ++b) {
    CtcBeam<T> beam(beam_width, classes);
    for (int64_t t = 0; t < sequence_length.data<int32_t>()[b]; ++t) {
      beam.Step(inputs.data<T>() + (t * batch + b) * classes);
    }
    auto best = beam.Paths(merge_repeated);
    if (best.size() < static_cast<size_t>(paths)) {
      return InvalidArgument("the search found {} paths in batch {}, less than top_paths = {}",
                             best.size(), b, paths);
    }
    for (size_t p = 0; p < found.size(); ++p) {
      scores[b * top_paths + static_cast<int64_t>(p)] = best[p].score;
      found[p][static_cast<size_t>(b)] = std::move(best[p].labels);
    }
  }
  for (int p = 0; p < paths; ++p) {
    TRY(StoreSparse(context, found[static_cast<size_t>(p)], p, paths + p, 2 * paths + p));
  }
  return OkStatus();
}

void RegisterCtcDecoder(Registrar& registrar) {
  registrar.AddAll<CTCGreedyDecoder, CTCBeamSearchDecoder>();
}

}  // namespace penstock::ops
