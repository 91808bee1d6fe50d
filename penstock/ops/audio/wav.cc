#include "penstock/ops/audio/wav.h"

#include <algorithm>

#include "penstock/io/wav.h"

namespace penstock::ops {

Status DecodeWav::CheckAttrs() const {
  if (desired_channels < -1)
    return InvalidArgument("desired_channels must be at least -1, got {}", desired_channels);
  if (desired_samples < -1)
    return InvalidArgument("desired_samples must be at least -1, got {}", desired_samples);
  return OkStatus();
}

Result<std::array<Shape, 2>> DecodeWav::InferShape(const Shape& contents) const {
  TRY(CheckScalar(contents, "contents"));
  return std::array<Shape, 2>{Shape{desired_samples, desired_channels}, Shape()};
}

Status DecodeWav::ComputeCpu(CpuContext& context, const Tensor& contents) const {
  TRY_ASSIGN(const io::WavFile file, io::ReadWav(contents.scalar<std::string>()));
  const int64_t frames = desired_samples == -1 ? file.frames : desired_samples;
  const int64_t channels = desired_channels == -1 ? file.channels : desired_channels;
  TRY(context.AllocateOutput(0, DType::kFloat, Shape{frames, channels}));
  float* to = context.output(0).mutable_data<float>();
  const int64_t present = std::min(frames, file.frames);
  for (int64_t i = 0; i < present; ++i)
    for (int64_t c = 0; c < channels; ++c)
      *to++ = file.Sample(i * file.channels + std::min(c, file.channels - 1));
  std::fill_n(to, (frames - present) * channels, 0.0f);
  TRY(context.AllocateOutput(1, DType::kInt32, Shape()));
  *context.output(1).mutable_data<int32_t>() = static_cast<int32_t>(file.rate);
  return OkStatus();
}

Result<Shape> EncodeWav::InferShape(const Shape& audio, const Integers& sample_rate) const {
  TRY(CheckRank(audio, 2, "audio"));
  TRY(CheckScalar(sample_rate.shape(), "sample_rate"));
  if (sample_rate.known() && sample_rate[0] <= 0)
    return InvalidArgument("sample_rate must be positive, got {}", sample_rate[0]);
  return Shape();
}

Status EncodeWav::ComputeCpu(CpuContext&, const Tensor& audio, const Tensor& sample_rate,
                             Tensor& contents) const {
  TRY_ASSIGN(*contents.mutable_data<std::string>(),
             io::WriteWav(audio.values<float>(), audio.shape()[1], sample_rate.scalar<int32_t>()));
  return OkStatus();
}

void RegisterWav(Registrar& registrar) { registrar.AddAll<DecodeWav, EncodeWav>(); }

}  // namespace penstock::ops
