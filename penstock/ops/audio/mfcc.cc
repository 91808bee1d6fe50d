#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "penstock/ops/audio/spectrum.h"

namespace penstock::ops {
namespace {

double MelOf(double hertz) { return 1127.0 * std::log1p(hertz / 700.0); }

// Triangles over the bins of a spectrum, equally wide in mels: bin i gives `weight` of itself to
// the band and the rest to the next one.
class MelBands {
 public:
  // REQUIRES: attributes as CheckAttrs has it, at least two bins, a positive rate.
  MelBands(int64_t bins, double rate, const Mfcc& op) : count_(op.filterbank_channel_count) {
    const double low = MelOf(op.lower_frequency_limit), high = MelOf(op.upper_frequency_limit);
    const double spacing = (high - low) / static_cast<double>(count_ + 1);
    const auto centre = [&](int64_t band) { return low + spacing * static_cast<double>(band + 1); };
    const double hertz_per_bin = 0.5 * rate / static_cast<double>(bins - 1);
    // The bin of no frequency is never part of a band.
    first_ = BinAt(1.5 + op.lower_frequency_limit / hertz_per_bin, bins);
    last_ = BinAt(op.upper_frequency_limit / hertz_per_bin, bins);
    int64_t band = 0;
    for (int64_t i = first_; i <= std::min(last_, bins - 1); ++i) {
      const double mel = MelOf(static_cast<double>(i) * hertz_per_bin);
      while (band < count_ && centre(band) < mel) ++band;
      const double above = centre(band), below = band == 0 ? low : centre(band - 1);
      parts_.push_back({band - 1, (above - mel) / (above - below)});
    }
    complete_ = last_ < bins;
  }

  // Leaves the bands empty when the spectrum does not reach their upper limit.
  void Sum(const float* spectrum, std::vector<double>& bands) const {
    std::ranges::fill(bands, 0.0);
    for (size_t i = 0; complete_ && i < parts_.size(); ++i) {
      const double value =
          std::sqrt(static_cast<double>(spectrum[first_ + static_cast<int64_t>(i)]));
      const double weighted = value * parts_[i].weight;
      const int64_t band = parts_[i].band;
      if (band >= 0) bands[band] += weighted;
      if (band + 1 < count_) bands[band + 1] += value - weighted;
    }
  }
  bool complete() const { return complete_; }

 private:
  struct Part {
    int64_t band;
    double weight;
  };

  static int64_t BinAt(double place, int64_t bins) {
    return static_cast<int64_t>(std::min(place, static_cast<double>(bins)));
  }

  const int64_t count_;
  int64_t first_ = 0;
  int64_t last_ = 0;
  bool complete_ = false;
  std::vector<Part> parts_;
};

}  // namespace

Status Mfcc::CheckAttrs() const {
  constexpr int64_t kMax = int64_t{1} << 24;
  if (filterbank_channel_count < 1 || filterbank_channel_count > kMax) {
    return InvalidArgument("filterbank_channel_count must be in [1, {}], got {}", kMax,
                           filterbank_channel_count);
  }
  if (dct_coefficient_count < 1 || dct_coefficient_count > filterbank_channel_count) {
    return InvalidArgument("dct_coefficient_count must be in [1, {}], got {}",
                           filterbank_channel_count, dct_coefficient_count);
  }
  if (!(lower_frequency_limit >= 0 && upper_frequency_limit > lower_frequency_limit)) {
    return InvalidArgument("frequency limits must rise from 0, got {} and {}",
                           lower_frequency_limit, upper_frequency_limit);
  }
  return OkStatus();
}

Result<Shape> Mfcc::InferShape(const Shape& spectrogram, const Integers& sample_rate) const {
  TRY(CheckRank(spectrogram, 3, "spectrogram"));
  TRY(CheckScalar(sample_rate.shape(), "sample_rate"));
  if (sample_rate.known() && sample_rate[0] <= 0)
    return InvalidArgument("sample_rate must be positive, got {}", sample_rate[0]);
  if (!spectrogram.has_rank())
    return Shape{Shape::kUnknownDim, Shape::kUnknownDim, dct_coefficient_count};
  if (spectrogram[2] >= 0 && spectrogram[2] < 2)
    return InvalidArgument("spectrogram must have at least 2 frequencies, got {}", spectrogram[2]);
  return Shape::Make(std::array<int64_t, 3>{spectrogram[0], spectrogram[1], dct_coefficient_count});
}

Status Mfcc::ComputeCpu(CpuContext& context, const Tensor& spectrogram, const Tensor& sample_rate,
                        Tensor& output) const {
  if (output.num_elements() == 0) return OkStatus();
  const int64_t bins = spectrogram.shape()[2], count = filterbank_channel_count;
  const MelBands mel(bins, sample_rate.scalar<int32_t>(), *this);
  TRY_ASSIGN(Tensor cosines, context.Allocate(DType::kDouble, Shape{dct_coefficient_count, count}));
  const double norm = std::sqrt(2.0 / static_cast<double>(count));
  for (int64_t i = 0; i < dct_coefficient_count * count; ++i) {
    const double angle = static_cast<double>(i / count) *
                         (std::numbers::pi / static_cast<double>(count)) *
                         (static_cast<double>(i % count) + 0.5);
    cosines.mutable_data<double>()[i] = norm * std::cos(angle);
  }
  const double cost = static_cast<double>(bins) * 30 +
                      static_cast<double>(dct_coefficient_count) * static_cast<double>(count) * 2;
  context.parallel()(output.num_elements() / dct_coefficient_count, cost,
                     [&](int64_t begin, int64_t end) {
                       std::vector<double> bands(static_cast<size_t>(count));
                       for (int64_t frame = begin; frame < end; ++frame) {
                         mel.Sum(spectrogram.data<float>() + frame * bins, bands);
                         for (double& band : bands)
                           band = mel.complete() ? std::log(std::max(band, 1e-12)) : 0.0;
                         for (int64_t i = 0; i < dct_coefficient_count; ++i) {
                           const double* cosine = cosines.data<double>() + i * count;
                           double sum = 0;
                           for (int64_t k = 0; k < count; ++k) sum += cosine[k] * bands[k];
                           output.mutable_data<float>()[frame * dct_coefficient_count + i] =
                               static_cast<float>(sum);
                         }
                       }
                     });
  return OkStatus();
}

void RegisterSpectrum(Registrar& registrar) { registrar.AddAll<AudioSpectrogram, Mfcc>(); }

}  // namespace penstock::ops
