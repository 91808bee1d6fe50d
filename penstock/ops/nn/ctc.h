#pragma once

#include <array>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Connectionist temporal classification: labels for sequences of which it is not known when each
// label occurs. inputs are logits [time, batch, classes]; one class is the blank, which stands for
// no label.

namespace penstock::ops {

using CtcType = TypeVarOr<"T", float, float, double>;

// The loss of each sequence, -log p(labels), and its derivative by the inputs. Labels are a sparse
// matrix [batch, position]; the last class is the blank, and labels end at the first of them.
struct CTCLoss {
  static constexpr auto kName = "CTCLoss";
  static constexpr double kCost = 200;
  bool preprocess_collapse_repeated = false;
  bool ctc_merge_repeated = true;
  bool ignore_longer_outputs_than_inputs = false;
  using Sig =
      Signature<In<"inputs", CtcType>, In<"labels_indices", int64_t>, In<"labels_values", int32_t>,
                In<"sequence_length", int32_t>, Out<"loss", CtcType>, Out<"gradient", CtcType>>;
  static constexpr std::tuple kAttrs{
      Field{"preprocess_collapse_repeated", &CTCLoss::preprocess_collapse_repeated},
      Field{"ctc_merge_repeated", &CTCLoss::ctc_merge_repeated},
      Field{"ignore_longer_outputs_than_inputs", &CTCLoss::ignore_longer_outputs_than_inputs}};

  Result<std::array<Shape, 2>> InferShape(const Shape& inputs, const Shape& labels_indices,
                                          const Shape& labels_values,
                                          const Shape& sequence_length) const;
  void Gradient(Gradients& g) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& inputs, const Tensor& labels_indices,
                    const Tensor& labels_values, const Tensor& sequence_length, Tensor& loss,
                    Tensor& gradient) const;
};

// The likeliest class of each time, without blanks and, if merge_repeated, repetitions.
struct CTCGreedyDecoder {
  static constexpr auto kName = "CTCGreedyDecoder";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 10;
  bool merge_repeated = false;
  int64_t blank_index = -1;  // a negative one counts from the last class
  using Sig = Signature<In<"inputs", CtcType>, In<"sequence_length", int32_t>,
                        Out<"decoded_indices", int64_t>, Out<"decoded_values", int64_t>,
                        Out<"decoded_shape", int64_t>, Out<"log_probability", CtcType>>;
  static constexpr std::tuple kAttrs{Field{"merge_repeated", &CTCGreedyDecoder::merge_repeated},
                                     Field{"blank_index", &CTCGreedyDecoder::blank_index}};

  Result<std::array<Shape, 4>> InferShape(const Shape& inputs, const Shape& sequence_length) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& inputs, const Tensor& sequence_length) const;
};

// The top_paths likeliest sequences that a search with beam_width candidates finds; of what it
// finds, repetitions are left out if merge_repeated. The last class is the blank.
struct CTCBeamSearchDecoder {
  static constexpr auto kName = "CTCBeamSearchDecoder";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 1000;
  int64_t beam_width = 1;
  int64_t top_paths = 1;
  bool merge_repeated = true;
  using Paths = List<"top_paths", int64_t>;
  using Sig = Signature<In<"inputs", CtcType>, In<"sequence_length", int32_t>,
                        Out<"decoded_indices", Paths>, Out<"decoded_values", Paths>,
                        Out<"decoded_shape", Paths>, Out<"log_probability", CtcType>>;
  static constexpr std::tuple kAttrs{
      Field{"beam_width", &CTCBeamSearchDecoder::beam_width}.Required().Min(1),
      Field{"top_paths", &CTCBeamSearchDecoder::top_paths}.Required(),
      Field{"merge_repeated", &CTCBeamSearchDecoder::merge_repeated}};

  Status CheckAttrs() const;
  Result<std::vector<Shape>> InferShape(const Shape& inputs, const Shape& sequence_length) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& inputs, const Tensor& sequence_length) const;
};

}  // namespace penstock::ops
