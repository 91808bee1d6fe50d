#include <algorithm>
#include <limits>
#include <queue>
#include <vector>

#include "penstock/ops/image/box_overlap.h"
#include "penstock/ops/image/non_max_suppression.h"

namespace penstock::ops {
namespace {

struct Detection {
  int32_t box = -1;
  int32_t of_class = -1;
  float score = -std::numeric_limits<float>::infinity();
};

// One image: N boxes, each Q times (one for all classes, or one for each), C classes.
struct Image {
  const float* boxes;
  const float* scores;
  int64_t N, Q, C;

  const float* Box(int64_t box, int64_t of_class) const {
    return boxes + (box * Q + (Q > 1 ? of_class : 0)) * 4;
  }
};

struct Thresholds {
  int64_t per_class;
  float overlap;
  float score;
};

// Writes what is picked of one class to `picked`, at most limits.per_class of it. Which of equal
// scores comes first is up to the heap, as in stock TensorFlow.
void PickOfClass(const Image& image, int64_t of_class, const Thresholds& limits,
                 Detection* picked) {
  struct Candidate {
    int32_t box;
    float score;
  };
  const auto worse = [](const Candidate& a, const Candidate& b) { return a.score < b.score; };
  std::priority_queue<Candidate, std::vector<Candidate>, decltype(worse)> queue(worse);
  for (int64_t i = 0; i < image.N; ++i) {
    const float score = image.scores[i * image.C + of_class];
    if (score > limits.score) queue.push({static_cast<int32_t>(i), score});
  }
  int64_t count = 0;
  while (count < limits.per_class && !queue.empty()) {
    const Candidate next = queue.top();
    queue.pop();
    bool keep = true;
    for (int64_t j = count - 1; keep && j >= 0; --j) {
      keep = !(BoxOverlap(image.Box(next.box, of_class), image.Box(picked[j].box, of_class)) >
               limits.overlap);
    }
    if (keep) picked[count++] = {next.box, static_cast<int32_t>(of_class), next.score};
  }
}

Status CheckPositive(const Integers& value, std::string_view what) {
  TRY(CheckScalar(value.shape(), what));
  if (value.known() && value[0] <= 0)
    return InvalidArgument("{} must be positive, got {}", what, value[0]);
  return OkStatus();
}

}  // namespace

Result<std::array<Shape, 4>> CombinedNonMaxSuppression::InferShape(
    const Shape& boxes, const Shape& scores, const Integers& max_output_size_per_class,
    const Integers& max_total_size, const Known& iou_threshold,
    const Shape& score_threshold) const {
  TRY(CheckRank(boxes, 4, "boxes"));
  TRY(CheckRank(scores, 3, "scores"));
  TRY(CheckPositive(max_output_size_per_class, "max_output_size_per_class"));
  TRY(CheckPositive(max_total_size, "max_total_size"));
  TRY(CheckScalar(*iou_threshold.shape, "iou_threshold"));
  TRY(CheckScalar(score_threshold, "score_threshold"));
  if (iou_threshold.value != nullptr) {
    const float threshold = iou_threshold.value->scalar<float>();
    if (!(threshold >= 0 && threshold <= 1))
      return InvalidArgument("iou_threshold must be in [0, 1], got {}", threshold);
  }
  const Shape b = boxes.has_rank() ? boxes : Shape::UnknownOfRank(4);
  const Shape s = scores.has_rank() ? scores : Shape::UnknownOfRank(3);
  const auto differ = [](int64_t x, int64_t y) { return x >= 0 && y >= 0 && x != y; };
  if (differ(b[0], s[0]) || differ(b[1], s[1]) || differ(b[3], 4) ||
      (b[2] != 1 && differ(b[2], s[2]))) {
    return InvalidArgument(
        "boxes must be [batch, boxes, 1 or classes, 4] and scores [batch, boxes, classes], got {} "
        "and {}",
        boxes, scores);
  }
  int64_t size = max_total_size.known() ? max_total_size[0] : Shape::kUnknownDim;
  if (pad_per_class && size >= 0) {
    if (!max_output_size_per_class.known() || s[2] < 0) {
      size = Shape::kUnknownDim;
    } else if (s[2] == 0 || max_output_size_per_class[0] <= size / s[2]) {
      size = std::min(size, max_output_size_per_class[0] * s[2]);
    }
  }
  const int64_t batch = std::max(b[0], s[0]);
  return std::array<Shape, 4>{Shape{batch, size, 4}, Shape{batch, size}, Shape{batch, size},
                              Shape{batch}};
}

Status CombinedNonMaxSuppression::ComputeCpu(CpuContext& context, const Tensor& boxes,
                                             const Tensor& scores,
                                             const Tensor& max_output_size_per_class, const Tensor&,
                                             const Tensor& iou_threshold,
                                             const Tensor& score_threshold, Tensor& nmsed_boxes,
                                             Tensor& nmsed_scores, Tensor& nmsed_classes,
                                             Tensor& valid_detections) const {
  const int64_t batch = boxes.shape()[0], N = boxes.shape()[1], Q = boxes.shape()[2];
  const int64_t C = scores.shape()[2], size = nmsed_scores.shape()[1];
  const Thresholds limits{std::min<int64_t>(max_output_size_per_class.scalar<int32_t>(), N),
                          iou_threshold.scalar<float>(), score_threshold.scalar<float>()};
  const double cost = static_cast<double>(N) * static_cast<double>(C) * 50;
  context.parallel()(batch, cost, [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b) {
      const Image image{boxes.data<float>() + b * N * Q * 4, scores.data<float>() + b * N * C, N, Q,
                        C};
      std::vector<Detection> found(static_cast<size_t>(limits.per_class * C));
      for (int64_t c = 0; c < C; ++c)
        PickOfClass(image, c, limits, found.data() + c * limits.per_class);
      std::sort(found.begin(), found.end(),
                [](const Detection& x, const Detection& y) { return y.score < x.score; });
      const auto picked =
          std::count_if(found.begin(), found.end(), [](const Detection& d) { return d.box >= 0; });
      const int64_t valid = std::min<int64_t>(picked, size);
      valid_detections.mutable_data<int32_t>()[b] = static_cast<int32_t>(valid);
      float* to_box = nmsed_boxes.mutable_data<float>() + b * size * 4;
      float* to_score = nmsed_scores.mutable_data<float>() + b * size;
      float* to_class = nmsed_classes.mutable_data<float>() + b * size;
      std::fill_n(to_box, size * 4, 0.0f);
      std::fill_n(to_score, size, 0.0f);
      std::fill_n(to_class, size, 0.0f);
      for (int64_t i = 0; i < valid; ++i) {
        const float* box = image.Box(found[i].box, found[i].of_class);
        for (int k = 0; k < 4; ++k)
          to_box[4 * i + k] = clip_boxes ? std::max(std::min(box[k], 1.0f), 0.0f) : box[k];
        to_score[i] = found[i].score;
        to_class[i] = static_cast<float>(found[i].of_class);
      }
    }
  });
  return OkStatus();
}

}  // namespace penstock::ops
