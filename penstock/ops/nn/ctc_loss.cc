#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/nn/ctc.h"
#include "penstock/ops/nn/log_sum.h"

// T times, U labels with blanks between and around them, C classes.

namespace penstock::ops {
namespace {

// One sequence. Logits and derivatives of consecutive times lie `stride` elements apart.
template <class T>
struct Sequence {
  const std::vector<int32_t>& labels;  // with blanks: 2 n + 1
  int64_t times;
  int64_t classes;
  bool merges;
  T* softmax;  // [times, classes]
  T* alpha;    // [times, labels]
  T* beta;

  int64_t U() const { return static_cast<int64_t>(labels.size()); }
  int32_t blank() const { return static_cast<int32_t>(classes - 1); }
  int32_t label(int64_t u) const { return labels[static_cast<size_t>(u)]; }
  T LogProbability(int64_t u, int64_t t) const { return std::log(softmax[t * classes + label(u)]); }
  bool Stays(int64_t u) const { return merges || label(u) == blank(); }
  // From u on to u + 2, past a blank.
  bool Skips(int64_t u) const {
    return label(u) != blank() && !(merges && label(u) == label(u + 2));
  }

  void FillSoftmax(const T* logits, int64_t stride) {
    for (int64_t t = 0; t < times; ++t) {
      const T* row = logits + t * stride;
      const T largest = *std::max_element(row, row + classes);
      T sum = 0;
      for (int64_t c = 0; c < classes; ++c)
        sum += softmax[t * classes + c] = std::exp(row[c] - largest);
      for (int64_t c = 0; c < classes; ++c) softmax[t * classes + c] /= sum;
    }
  }
  // log p of all beginnings that end at time t in label u.
  void Forward() {
    std::fill_n(alpha, times * U(), kLogZero<T>);
    for (int64_t u = 0; u < std::min<int64_t>(2, U()); ++u) alpha[u] = LogProbability(u, 0);
    for (int64_t t = 1; t < times; ++t) {
      const T* before = alpha + (t - 1) * U();
      for (int64_t u = 0; u < std::min(U(), 2 * (t + 1)); ++u) {
        T sum = Stays(u) ? before[u] : kLogZero<T>;
        if (u > 0) sum = LogSum(sum, before[u - 1]);
        if (u > 1 && Skips(u - 2)) sum = LogSum(sum, before[u - 2]);
        alpha[t * U() + u] = sum + LogProbability(u, t);
      }
    }
  }
  // log p of all ends after time t from label u.
  void Backward() {
    std::fill_n(beta, times * U(), kLogZero<T>);
    for (int64_t u = std::max<int64_t>(U() - 2, 0); u < U(); ++u) beta[(times - 1) * U() + u] = 0;
    for (int64_t t = times - 2; t >= 0; --t) {
      const T* after = beta + (t + 1) * U();
      for (int64_t u = 0; u < U(); ++u) {
        T sum = Stays(u) ? after[u] + LogProbability(u, t + 1) : kLogZero<T>;
        if (u + 1 < U()) sum = LogSum(sum, after[u + 1] + LogProbability(u + 1, t + 1));
        if (u + 2 < U() && Skips(u)) sum = LogSum(sum, after[u + 2] + LogProbability(u + 2, t + 1));
        beta[t * U() + u] = sum;
      }
    }
  }
  // Returns the loss. `by_label` has room for `classes`.
  T Differentiate(T* gradient, int64_t stride, T* by_label) {
    T log_p = kLogZero<T>;
    for (int64_t u = 0; u < U(); ++u) log_p = LogSum(log_p, alpha[u] + beta[u]);
    for (int64_t t = 0; t < times; ++t) {
      T* row = gradient + t * stride;
      std::copy_n(softmax + t * classes, classes, row);
      if (log_p == kLogZero<T>) continue;  // there is no way to these labels
      std::fill_n(by_label, classes, kLogZero<T>);
      for (int64_t u = 0; u < U(); ++u) {
        T& sum = by_label[label(u)];
        sum = LogSum(sum, alpha[t * U() + u] + beta[t * U() + u]);
      }
      for (int64_t c = 0; c < classes; ++c) {
        row[c] -= static_cast<T>(std::exp(static_cast<float>(by_label[c] - log_p)));
      }
    }
    return -log_p;
  }
};

// The labels of each sequence with blanks between and around them.
Result<std::vector<std::vector<int32_t>>> SpreadLabels(int64_t batch, int64_t classes,
                                                       bool collapses, const Tensor& indices,
                                                       const Tensor& values) {
  const int64_t blank = classes - 1;
  std::vector<std::vector<int32_t>> given(static_cast<size_t>(batch));
  const int64_t* index = indices.data<int64_t>();
  for (int64_t k = 0; k < values.num_elements(); ++k) {
    const int64_t row = index[2 * k], column = index[2 * k + 1];
    if (!InRange(row, batch) || column < 0)
      return InvalidArgument("labels_indices[{}] = [{}, {}] is out of bounds: need 0 <= row < {}",
                             k, row, column, batch);
    if (k > 0 &&
        (row < index[2 * k - 2] || (row == index[2 * k - 2] && column <= index[2 * k - 1])))
      return InvalidArgument("labels_indices[{}] = [{}, {}] is out of order", k, row, column);
    given[static_cast<size_t>(row)].push_back(values.data<int32_t>()[k]);
  }
  for (size_t b = 0; b < given.size(); ++b) {
    if (given[b].empty()) return InvalidArgument("Labels length is zero in batch {}", b);
    std::vector<int32_t> spread{static_cast<int32_t>(blank)};
    bool ended = false;
    for (size_t k = 0; k < given[b].size(); ++k) {
      const int32_t label = given[b][k];
      if (collapses && k > 0 && label == given[b][k - 1]) continue;
      if (label < 0)
        return InvalidArgument("All labels must be nonnegative integers, got {} in batch {}", label,
                               b);
      if (label >= blank) {
        ended = true;
        continue;
      }
      if (ended)
        return InvalidArgument("Saw a label, {}, after a blank in batch {} with {} classes", label,
                               b, classes);
      spread.push_back(label);
      spread.push_back(static_cast<int32_t>(blank));
    }
    given[b] = std::move(spread);
  }
  return given;
}

}  // namespace

Result<std::array<Shape, 2>> CTCLoss::InferShape(const Shape& inputs, const Shape& labels_indices,
                                                 const Shape& labels_values,
                                                 const Shape& sequence_length) const {
  TRY(CheckRank(inputs, 3, "inputs"));
  TRY(CheckRank(labels_indices, 2, "labels_indices"));
  TRY(CheckVector(labels_values, "labels_values"));
  TRY(CheckVector(sequence_length, "sequence_length"));
  if (labels_indices.has_rank()) {
    if (labels_indices.dim(1) >= 0 && labels_indices.dim(1) != 2)
      return InvalidArgument("labels_indices must have two columns, got {}", labels_indices);
    if (labels_values.has_rank() && labels_values.dim(0) >= 0 && labels_indices.dim(0) >= 0 &&
        labels_values.dim(0) != labels_indices.dim(0))
      return InvalidArgument("labels_indices and labels_values must be as many, got {} and {}",
                             labels_indices.dim(0), labels_values.dim(0));
  }
  Shape out = inputs.has_rank() ? inputs : Shape::UnknownOfRank(3);
  const int64_t lengths = sequence_length.has_rank() ? sequence_length.dim(0) : -1;
  if (out.dim(1) >= 0 && lengths >= 0 && out.dim(1) != lengths)
    return InvalidArgument(
        "len(sequence_length) != batch_size. len(sequence_length): {} batch_size: {}", lengths,
        out.dim(1));
  if (out.dim(1) < 0) out.set_dim(1, lengths);
  for (int axis = 0; axis < 3; ++axis) {
    if (out.dim(axis) == 0)
      return InvalidArgument("inputs must have times, a batch and classes, got {}", out);
  }
  return std::array<Shape, 2>{Shape{out.dim(1)}, out};
}

void CTCLoss::Gradient(Gradients& g) const {
  g.Set(0, Op("ExpandDims", g.dy(0), IntScalar(g.scope(), -1)) * g.output(1));
}

template <class T>
Status CTCLoss::ComputeCpu(CpuContext& context, const Tensor& inputs, const Tensor& labels_indices,
                           const Tensor& labels_values, const Tensor& sequence_length, Tensor& loss,
                           Tensor& gradient) const {
  const int64_t times = inputs.shape().dim(0), batch = inputs.shape().dim(1);
  const int64_t classes = inputs.shape().dim(2);
  const int32_t* lengths = sequence_length.data<int32_t>();
  if (classes > std::numeric_limits<int32_t>::max())
    return InvalidArgument("num_classes must fit 32 bits, got {}", classes);
  TRY_ASSIGN(const auto labels, SpreadLabels(batch, classes, preprocess_collapse_repeated,
                                             labels_indices, labels_values));
  int64_t longest = 0;
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t needed = static_cast<int64_t>(labels[static_cast<size_t>(b)].size()) / 2;
    longest = std::max(longest, 2 * needed + 1);
    if (lengths[b] < 0 || lengths[b] > times)
      return InvalidArgument("sequence_length({}) must be in [0, {}], got {}", b, times,
                             lengths[b]);
    if (lengths[b] < needed && !ignore_longer_outputs_than_inputs)
      return InvalidArgument(
          "Not enough time for target transition sequence (required: {}, available: {})", needed,
          lengths[b]);
  }
  std::fill_n(gradient.mutable_data<T>(), gradient.num_elements(), T(0));
  const auto room = CheckedMul(2 * longest + classes, times);
  const auto whole = room ? CheckedMul(*room + classes, batch) : room;
  if (!whole) return InvalidArgument("{} labels over {} times are too many", longest, times);
  TRY_ASSIGN(Tensor scratch, context.Allocate(kDTypeOf<T>, Shape{batch, *whole / batch}));
  context.parallel()(
      batch, 100.0 * static_cast<double>(times * (longest + classes)),
      [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) {
          T& sequence_loss = loss.mutable_data<T>()[b];
          sequence_loss = 0;
          const auto& own = labels[static_cast<size_t>(b)];
          if (lengths[b] == 0 || lengths[b] < static_cast<int64_t>(own.size()) / 2) continue;
          T* softmax = scratch.mutable_data<T>() + b * (*whole / batch);
          T* alpha = softmax + times * classes;
          T* beta = alpha + times * longest;
          Sequence<T> sequence{own, lengths[b], classes, ctc_merge_repeated, softmax, alpha, beta};
          sequence.FillSoftmax(inputs.data<T>() + b * classes, batch * classes);
          sequence.Forward();
          sequence.Backward();
          sequence_loss = sequence.Differentiate(gradient.mutable_data<T>() + b * classes,
                                                 batch * classes, beta + times * longest);
        }
      });
  return OkStatus();
}

void RegisterCtcLoss(Registrar& registrar) { registrar.Add<CTCLoss>(); }

}  // namespace penstock::ops
