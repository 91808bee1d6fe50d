#include "penstock/ops/image/scale_and_translate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "penstock/ops/image/image_batch.h"
#include "penstock/ops/image/sampling_kernel.h"

namespace penstock::ops {
namespace {

// The pixels that each result along one axis is a weighted sum of: `size` of them from starts[i]
// on, with the weights [i * size, (i + 1) * size).
struct Spans {
  int64_t size = 0;
  std::vector<int64_t> starts;
  Tensor weights;

  const float* Weights(int64_t i) const { return weights.data<float>() + i * size; }
};

Result<Spans> MakeSpans(CpuContext& context, int64_t size, int64_t results) {
  Spans spans{size, std::vector<int64_t>(static_cast<size_t>(results)), {}};
  TRY_ASSIGN(spans.weights, context.Allocate(DType::kFloat, Shape{results, size}));
  std::ranges::fill(spans.weights.mutable_values<float>(), 0.0f);
  return spans;
}

int64_t Pixel(float place, int64_t pixels) {
  return static_cast<int64_t>(std::clamp(place, 0.0f, static_cast<float>(pixels - 1)));
}

// One axis of `from` pixels that becomes one of `to`.
struct Resampling {
  const SamplingKernel& kernel;
  bool antialias;
  int64_t from;
  int64_t to;
  float scale;
  float translation;

  Result<Spans> Forward(CpuContext& context) const {
    const float inverse = 1.0f / scale;
    const float shift = -inverse * translation;
    const float widening = antialias ? std::max(inverse, 1.0f) : 1.0f;
    const float reach = kernel.radius * widening;
    const float pixels = 2 * std::ceil(reach) + 1;
    const bool all = !(pixels < static_cast<float>(from));
    TRY_ASSIGN(Spans spans, MakeSpans(context, all ? from : static_cast<int64_t>(pixels), to));
    const float narrowing = 1.0f / widening;
    for (int64_t i = 0; i < to; ++i) {
      const float place = (static_cast<float>(i) + 0.5f) * inverse + shift;
      if (!(place >= 0 && place <= static_cast<float>(from))) continue;
      const int64_t begin = Pixel(std::ceil(place - reach - 0.5f), from);
      const int64_t last = Pixel(std::floor(place + reach - 0.5f), from);
      const int64_t end = std::min(last + 1, begin + spans.size);
      float* weights = spans.weights.mutable_data<float>() + i * spans.size;
      spans.starts[i] = begin;
      Weigh(begin, end, place, narrowing, weights);
    }
    return spans;
  }

  // The other way: what each pixel of the original gave to the results.
  Result<Spans> Backward(CpuContext& context) const {
    TRY_ASSIGN(const Spans forward, Forward(context));
    std::vector<int64_t> first(static_cast<size_t>(from), to), last(static_cast<size_t>(from), -1);
    int64_t longest = 0;
    const auto for_each_weight = [&](auto&& f) {
      for (int64_t i = 0; i < to; ++i) {
        for (int64_t k = 0; k < forward.size && forward.starts[i] + k < from; ++k) {
          const float weight = forward.Weights(i)[k];
          if (weight != 0) f(i, forward.starts[i] + k, weight);
        }
      }
    };
    for_each_weight([&](int64_t i, int64_t pixel, float) {
      first[pixel] = std::min(first[pixel], i);
      last[pixel] = i;
      longest = std::max(longest, i - first[pixel] + 1);
    });
    TRY_ASSIGN(Spans spans, MakeSpans(context, longest, from));
    for (int64_t pixel = 0; pixel < from; ++pixel)
      spans.starts[pixel] = last[pixel] < 0 ? 0 : first[pixel];
    for_each_weight([&](int64_t i, int64_t pixel, float weight) {
      spans.weights.mutable_data<float>()[pixel * longest + i - first[pixel]] += weight;
    });
    return spans;
  }

 private:
  void Weigh(int64_t begin, int64_t end, float place, float narrowing, float* weights) const {
    float sum = 0;
    for (int64_t pixel = begin; pixel < end; ++pixel) {
      const float distance = static_cast<float>(pixel) + 0.5f - place;
      const float weight = kernel.weight(std::abs(distance * narrowing), kernel.radius);
      weights[pixel - begin] = weight;
      sum += weight;
    }
    const bool vanishes = std::abs(sum) < 1000.0f * std::numeric_limits<float>::min();
    const float scale_to_one = vanishes ? 0.0f : 1.0f / sum;
    for (int64_t k = 0; k < end - begin; ++k) weights[k] *= scale_to_one;
  }
};

// Sums along the columns, then along the rows; a thread works on whole rows of the result.
void Resample(CpuContext& context, const Tensor& images, const Spans& down, const Spans& across,
              Tensor& resized) {
  const ImageBatch in(images.shape()), out(resized.shape());
  const double cost = static_cast<double>(in.row()) * static_cast<double>(down.size) +
                      static_cast<double>(out.row()) * static_cast<double>(across.size);
  context.parallel()(out.batch * out.height, cost, [&](int64_t first, int64_t last) {
    std::vector<float> row(static_cast<size_t>(in.row()));
    for (int64_t i = first; i < last; ++i) {
      const int64_t y = i % out.height;
      const float* image = images.data<float>() + i / out.height * in.image();
      std::ranges::fill(row, 0.0f);
      for (int64_t k = 0; k < std::min(down.size, in.height - down.starts[y]); ++k) {
        const float* from = image + (down.starts[y] + k) * in.row();
        const float weight = down.Weights(y)[k];
        for (int64_t j = 0; j < in.row(); ++j) row[j] += weight * from[j];
      }
      float* to = resized.mutable_data<float>() + i * out.row();
      for (int64_t x = 0; x < out.width; ++x, to += out.channels) {
        std::fill_n(to, out.channels, 0.0f);
        for (int64_t k = 0; k < std::min(across.size, in.width - across.starts[x]); ++k) {
          const float* from = row.data() + (across.starts[x] + k) * in.channels;
          const float weight = across.Weights(x)[k];
          for (int64_t c = 0; c < in.channels; ++c) to[c] += weight * from[c];
        }
      }
    }
  });
}

Status CheckKernel(const std::string& kernel_type) {
  if (FindSamplingKernel(kernel_type) != nullptr) return OkStatus();
  return InvalidArgument("kernel_type must be the name of a sampling kernel, got {}", kernel_type);
}

// Two floats, of which the values must be positive when `positive`.
Status CheckPair(const Known& pair, std::string_view what, bool positive) {
  TRY(CheckVector(*pair.shape, what));
  if (pair.shape->has_rank() && (*pair.shape)[0] >= 0 && (*pair.shape)[0] != 2)
    return InvalidArgument("{} must have 2 elements, got {}", what, (*pair.shape)[0]);
  if (pair.value == nullptr || !positive) return OkStatus();
  for (const float value : pair.value->values<float>())
    if (!(value > 0)) return InvalidArgument("{} must be greater than zero, got {}", what, value);
  return OkStatus();
}

}  // namespace

Status ScaleAndTranslate::CheckAttrs() const { return CheckKernel(kernel_type); }

Result<Shape> ScaleAndTranslate::InferShape(const Shape& images, const Integers& size,
                                            const Known& scale, const Known& translation) const {
  TRY(CheckImages(images, "images"));
  TRY(CheckPair(scale, "scale", true));
  TRY(CheckPair(translation, "translation", false));
  TRY_ASSIGN(const auto height_and_width, HeightAndWidth(size, "size"));
  return WithSize(images, height_and_width);
}

void ScaleAndTranslate::Gradient(Gradients& g) const {
  if (g.input(0).dtype() != DType::kFloat) return;
  g.Set(0, g.scope().Add("ScaleAndTranslateGrad", {g.dy(), g.input(0), g.input(2), g.input(3)},
                         {{"kernel_type", kernel_type}, {"antialias", antialias}}));
}

Status ScaleAndTranslate::ComputeCpu(CpuContext& context, const Tensor& images, const Tensor&,
                                     const Tensor& scale, const Tensor& translation,
                                     Tensor& resized_images) const {
  if (resized_images.num_elements() == 0) return OkStatus();
  const ImageBatch in(images.shape()), out(resized_images.shape());
  const SamplingKernel& kernel = *FindSamplingKernel(kernel_type);
  TRY_ASSIGN(const Tensor floats, AsFloat(context, images));
  const float* s = scale.data<float>();
  const float* t = translation.data<float>();
  const Resampling rows{kernel, antialias, in.height, out.height, s[0], t[0]};
  const Resampling columns{kernel, antialias, in.width, out.width, s[1], t[1]};
  TRY_ASSIGN(const Spans down, rows.Forward(context));
  TRY_ASSIGN(const Spans across, columns.Forward(context));
  Resample(context, floats, down, across, resized_images);
  return OkStatus();
}

Status ScaleAndTranslateGrad::CheckAttrs() const { return CheckKernel(kernel_type); }

Result<Shape> ScaleAndTranslateGrad::InferShape(const Shape& grads, const Shape& original_image,
                                                const Known& scale,
                                                const Known& translation) const {
  TRY(CheckImages(grads, "grads"));
  TRY(CheckImages(original_image, "original_image"));
  TRY(CheckPair(scale, "scale", true));
  TRY(CheckPair(translation, "translation", false));
  return BatchLike(grads, original_image);
}

Status ScaleAndTranslateGrad::ComputeCpu(CpuContext& context, const Tensor& grads, const Tensor&,
                                         const Tensor& scale, const Tensor& translation,
                                         Tensor& output) const {
  if (output.num_elements() == 0) return OkStatus();
  const ImageBatch in(output.shape()), out(grads.shape());
  const SamplingKernel& kernel = *FindSamplingKernel(kernel_type);
  const float* s = scale.data<float>();
  const float* t = translation.data<float>();
  const Resampling rows{kernel, antialias, in.height, out.height, s[0], t[0]};
  const Resampling columns{kernel, antialias, in.width, out.width, s[1], t[1]};
  TRY_ASSIGN(const Spans down, rows.Backward(context));
  TRY_ASSIGN(const Spans across, columns.Backward(context));
  Resample(context, grads, down, across, output);
  return OkStatus();
}

void RegisterScaleAndTranslate(Registrar& registrar) {
  registrar.AddAll<ScaleAndTranslate, ScaleAndTranslateGrad>();
}

}  // namespace penstock::ops
