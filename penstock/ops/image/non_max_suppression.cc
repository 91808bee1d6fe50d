#include "penstock/ops/image/non_max_suppression.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <vector>

#include "penstock/core/function_ref.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/image/box_overlap.h"

namespace penstock::ops {
namespace {

Status CheckThreshold(float threshold) {
  if (threshold >= 0 && threshold <= 1) return OkStatus();
  return InvalidArgument("iou_threshold must be in [0, 1], got {}", threshold);
}

float ScalarIn(const Tensor& tensor) {
  return tensor.dtype() == DType::kHalf ? static_cast<float>(tensor.scalar<half>())
                                        : tensor.scalar<float>();
}

// Checks what all forms have and gives the shape of the selection: of unknown length, or of
// max_output_size when `padded`.
Result<Shape> InferSelected(const Shape& boxes, const Shape& scores,
                            const Integers& max_output_size, int64_t columns, bool padded) {
  TRY(CheckRank(boxes, 2, "boxes"));
  TRY(CheckVector(scores, "scores"));
  TRY(CheckScalar(max_output_size.shape(), "max_output_size"));
  if (boxes.has_rank()) {
    if (columns >= 0 && boxes[1] >= 0 && boxes[1] != columns)
      return InvalidArgument("boxes must have {} columns, got shape {}", columns, boxes);
    if (scores.has_rank() && boxes[0] >= 0 && scores[0] >= 0 && boxes[0] != scores[0])
      return InvalidArgument("there must be a score for each box: {} vs {}", boxes[0], scores[0]);
  }
  if (!max_output_size.known()) return Shape{Shape::kUnknownDim};
  if (max_output_size[0] < 0)
    return InvalidArgument("max_output_size must not be negative, got {}", max_output_size[0]);
  return Shape{padded ? max_output_size[0] : Shape::kUnknownDim};
}

Status CheckThreshold(const Known& threshold) {
  TRY(CheckScalar(*threshold.shape, "iou_threshold"));
  if (threshold.value == nullptr) return OkStatus();
  return CheckThreshold(ScalarIn(*threshold.value));
}

struct Limits {
  int64_t count;
  float overlap;
  float score = std::numeric_limits<float>::lowest();
  float sigma = 0;
};

template <class T>
struct Selection {
  std::vector<int32_t> boxes;
  std::vector<T> scores;
};

// Arithmetic is rounded to T at each step, as scores of 16 bits are compared as such.
template <class T>
Selection<T> Select(const T* scores, int64_t count, const Limits& limits,
                    FunctionRef<float(int64_t, int64_t)> overlap_of) {
  struct Candidate {
    int32_t box;
    int32_t compared;  // with the boxes selected before this one
    T score;
    bool operator<(const Candidate& other) const {
      return score == other.score ? box > other.box : score < other.score;
    }
  };
  const T threshold = T(limits.overlap);
  const T least =
      std::is_same_v<T, half> && limits.score < -65504.0f ? T(-65504.0f) : T(limits.score);
  const bool soft = limits.sigma > 0;
  const T scale = soft ? T(-0.5f / limits.sigma) : T(0.0f);
  std::vector<Candidate> all;
  for (int64_t i = 0; i < count; ++i)
    if (scores[i] > least) all.push_back({static_cast<int32_t>(i), 0, scores[i]});
  std::priority_queue<Candidate> queue(std::less<Candidate>(), std::move(all));

  Selection<T> selection;
  while (static_cast<int64_t>(selection.boxes.size()) < limits.count && !queue.empty()) {
    Candidate next = queue.top();
    queue.pop();
    const T before = next.score;
    bool passed_over = false;
    for (auto j = static_cast<int32_t>(selection.boxes.size()) - 1; j >= next.compared; --j) {
      const T overlap = T(overlap_of(next.box, selection.boxes[j]));
      if (!soft && overlap > threshold) {
        passed_over = true;
        break;
      }
      if (soft) {
        next.score =
            T(next.score * T(std::exp(static_cast<float>(T(T(scale * overlap) * overlap)))));
        if (next.score <= least) break;
      }
    }
    next.compared = static_cast<int32_t>(selection.boxes.size());
    if (passed_over) continue;
    if (next.score == before) {
      selection.boxes.push_back(next.box);
      selection.scores.push_back(next.score);
    } else if (next.score > least) {
      queue.push(next);
    }
  }
  return selection;
}

template <class T>
Status SetVector(CpuContext& context, int output, const std::vector<T>& values, int64_t length) {
  TRY(context.AllocateOutput(output, kDTypeOf<T>, Shape{length}));
  T* to = context.output(output).template mutable_data<T>();
  std::fill(std::copy(values.begin(), values.end(), to), to + length, T(0));
  return OkStatus();
}

Status SetCount(CpuContext& context, int output, size_t count) {
  TRY(context.AllocateOutput(output, DType::kInt32, Shape()));
  *context.output(output).mutable_data<int32_t>() = static_cast<int32_t>(count);
  return OkStatus();
}

// Which outputs there are beside the indices, by their place; -1 for none.
struct Outputs {
  bool padded = false;
  int scores = -1;
  int count = -1;
};

Status SelectBoxes(CpuContext& context, const Tensor& boxes, const Tensor& scores,
                   const Limits& limits, const Outputs& outputs) {
  return ForDType(scores.dtype(), Types<float, half>(), [&]<class T>() -> Status {
    const T* corners = boxes.data<T>();
    const Selection<T> selection = Select<T>(
        scores.data<T>(), scores.num_elements(), limits,
        [&](int64_t i, int64_t j) { return BoxOverlap(corners + 4 * i, corners + 4 * j); });
    const int64_t length =
        outputs.padded ? limits.count : static_cast<int64_t>(selection.boxes.size());
    TRY(SetVector(context, 0, selection.boxes, length));
    if (outputs.scores >= 0) TRY(SetVector(context, outputs.scores, selection.scores, length));
    if (outputs.count >= 0) TRY(SetCount(context, outputs.count, selection.boxes.size()));
    return OkStatus();
  });
}

}  // namespace

Status NonMaxSuppression::CheckAttrs() const { return CheckThreshold(iou_threshold); }
Result<Shape> NonMaxSuppression::InferShape(const Shape& boxes, const Shape& scores,
                                            const Integers& max_output_size) const {
  return InferSelected(boxes, scores, max_output_size, 4, false);
}
Status NonMaxSuppression::ComputeCpu(CpuContext& context, const Tensor& boxes, const Tensor& scores,
                                     const Tensor& max_output_size) const {
  return SelectBoxes(context, boxes, scores, {max_output_size.scalar<int32_t>(), iou_threshold},
                     {});
}

Result<Shape> NonMaxSuppressionV2::InferShape(const Shape& boxes, const Shape& scores,
                                              const Integers& max_output_size,
                                              const Known& iou_threshold) const {
  TRY(CheckThreshold(iou_threshold));
  return InferSelected(boxes, scores, max_output_size, 4, false);
}
Status NonMaxSuppressionV2::ComputeCpu(CpuContext& context, const Tensor& boxes,
                                       const Tensor& scores, const Tensor& max_output_size,
                                       const Tensor& iou_threshold) const {
  return SelectBoxes(context, boxes, scores,
                     {max_output_size.scalar<int32_t>(), ScalarIn(iou_threshold)}, {});
}

Result<Shape> NonMaxSuppressionV3::InferShape(const Shape& boxes, const Shape& scores,
                                              const Integers& max_output_size,
                                              const Known& iou_threshold,
                                              const Shape& score_threshold) const {
  TRY(CheckThreshold(iou_threshold));
  TRY(CheckScalar(score_threshold, "score_threshold"));
  return InferSelected(boxes, scores, max_output_size, 4, false);
}
Status NonMaxSuppressionV3::ComputeCpu(CpuContext& context, const Tensor& boxes,
                                       const Tensor& scores, const Tensor& max_output_size,
                                       const Tensor& iou_threshold,
                                       const Tensor& score_threshold) const {
  return SelectBoxes(
      context, boxes, scores,
      {max_output_size.scalar<int32_t>(), ScalarIn(iou_threshold), ScalarIn(score_threshold)}, {});
}

Result<std::array<Shape, 2>> NonMaxSuppressionV4::InferShape(const Shape& boxes,
                                                             const Shape& scores,
                                                             const Integers& max_output_size,
                                                             const Known& iou_threshold,
                                                             const Shape& score_threshold) const {
  TRY(CheckThreshold(iou_threshold));
  TRY(CheckScalar(score_threshold, "score_threshold"));
  TRY_ASSIGN(const Shape selected,
             InferSelected(boxes, scores, max_output_size, 4, pad_to_max_output_size));
  return std::array<Shape, 2>{selected, Shape()};
}
Status NonMaxSuppressionV4::ComputeCpu(CpuContext& context, const Tensor& boxes,
                                       const Tensor& scores, const Tensor& max_output_size,
                                       const Tensor& iou_threshold,
                                       const Tensor& score_threshold) const {
  return SelectBoxes(
      context, boxes, scores,
      {max_output_size.scalar<int32_t>(), ScalarIn(iou_threshold), ScalarIn(score_threshold)},
      {.padded = pad_to_max_output_size, .count = 1});
}

Result<std::array<Shape, 3>> NonMaxSuppressionV5::InferShape(
    const Shape& boxes, const Shape& scores, const Integers& max_output_size,
    const Known& iou_threshold, const Shape& score_threshold, const Known& soft_nms_sigma) const {
  TRY(CheckThreshold(iou_threshold));
  TRY(CheckScalar(score_threshold, "score_threshold"));
  TRY(CheckScalar(*soft_nms_sigma.shape, "soft_nms_sigma"));
  if (soft_nms_sigma.value != nullptr && !(ScalarIn(*soft_nms_sigma.value) >= 0)) {
    return InvalidArgument("soft_nms_sigma must not be negative, got {}",
                           ScalarIn(*soft_nms_sigma.value));
  }
  TRY_ASSIGN(const Shape selected,
             InferSelected(boxes, scores, max_output_size, 4, pad_to_max_output_size));
  return std::array<Shape, 3>{selected, selected, Shape()};
}
Status NonMaxSuppressionV5::ComputeCpu(CpuContext& context, const Tensor& boxes,
                                       const Tensor& scores, const Tensor& max_output_size,
                                       const Tensor& iou_threshold, const Tensor& score_threshold,
                                       const Tensor& soft_nms_sigma) const {
  return SelectBoxes(context, boxes, scores,
                     {max_output_size.scalar<int32_t>(), ScalarIn(iou_threshold),
                      ScalarIn(score_threshold), ScalarIn(soft_nms_sigma)},
                     {.padded = pad_to_max_output_size, .scores = 1, .count = 2});
}

Result<Shape> NonMaxSuppressionWithOverlaps::InferShape(const Shape& overlaps, const Shape& scores,
                                                        const Integers& max_output_size,
                                                        const Shape& overlap_threshold,
                                                        const Shape& score_threshold) const {
  TRY(CheckScalar(overlap_threshold, "overlap_threshold"));
  TRY(CheckScalar(score_threshold, "score_threshold"));
  if (overlaps.has_rank() && overlaps.rank() == 2 && overlaps[0] >= 0 && overlaps[1] >= 0 &&
      overlaps[0] != overlaps[1]) {
    return InvalidArgument("overlaps must be square, got shape {}", overlaps);
  }
  return InferSelected(overlaps, scores, max_output_size, Shape::kUnknownDim, false);
}
Status NonMaxSuppressionWithOverlaps::ComputeCpu(CpuContext& context, const Tensor& overlaps,
                                                 const Tensor& scores,
                                                 const Tensor& max_output_size,
                                                 const Tensor& overlap_threshold,
                                                 const Tensor& score_threshold) const {
  const int64_t count = scores.num_elements();
  const Limits limits{max_output_size.scalar<int32_t>(), overlap_threshold.scalar<float>(),
                      score_threshold.scalar<float>()};
  const Selection<float> selection =
      Select<float>(scores.data<float>(), count, limits,
                    [&](int64_t i, int64_t j) { return overlaps.data<float>()[i * count + j]; });
  return SetVector(context, 0, selection.boxes, static_cast<int64_t>(selection.boxes.size()));
}

void RegisterNonMaxSuppression(Registrar& registrar) {
  registrar.AddAll<NonMaxSuppression, NonMaxSuppressionV2, NonMaxSuppressionV3, NonMaxSuppressionV4,
                   NonMaxSuppressionV5, NonMaxSuppressionWithOverlaps, CombinedNonMaxSuppression>();
}

}  // namespace penstock::ops
