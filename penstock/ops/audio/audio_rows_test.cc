#include "penstock/io/wav.h"
#include "penstock/ops/audio/spectrum.h"
#include "penstock/ops/audio/wav.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;

// Two frames of two channels.
std::string Wav() {
  const float samples[] = {0, 0.5f, -1, 2};
  return *io::WriteWav(samples, 2, 8000);
}
std::string WavWithout(size_t bytes) {
  const std::string whole = Wav();
  return whole.substr(0, whole.size() - bytes);
}

const OpRows kWavRows{
    Row(DecodeWav{})
        .Inputs(Scalar(Wav()))
        .Expect(Values<float>({2, 2}, {0, 0.5f, -1, 32767.0f / 32768}), Scalar<int32_t>(8000)),
    Row(DecodeWav{.desired_channels = 3, .desired_samples = 3})
        .Inputs(Scalar(Wav()))
        .Expect(
            Values<float>({3, 3}, {0, 0.5f, 0.5f, -1, 32767.0f / 32768, 32767.0f / 32768, 0, 0, 0}),
            Scalar<int32_t>(8000))
        .Named("more"),
    Row(DecodeWav{}).Inputs(Scalar(WavWithout(1))).Fails(kBad, "8 bytes").Named("cut_data"),
    Row(DecodeWav{}).Inputs(Scalar(WavWithout(20))).Fails(kBad, "bytes").Named("cut_header"),
    Row(DecodeWav{}).Inputs(Scalar<std::string>("RIFX")).Fails(kBad, "RIFF"),
    Row(DecodeWav{.desired_samples = -2}).Inputs(Scalar(Wav())).Fails(kBad, "-2"),
    Row(EncodeWav{})
        .Inputs(Values<float>({2, 2}, {0, 0.5f, -1, 2}), Scalar<int32_t>(8000))
        .Expect(Scalar(Wav())),
    Row(EncodeWav{}).Inputs(Empty({0, 1}), Scalar<int32_t>(8000)).Named("silence"),
    Row(EncodeWav{}).Inputs(Uniform({2, 2}), Scalar<int32_t>(0)).Fails(kBad, "0"),
    Row(EncodeWav{}).Inputs(Empty({2, 0}), Scalar<int32_t>(8000)).Fails(kBad, "channels"),
};

const OpRows kSpectrumRows{
    // A constant has its power at frequency 0 and, under the window, beside it.
    Row(AudioSpectrogram{.window_size = 4, .stride = 2, .magnitude_squared = true})
        .Inputs(Values<float>({6, 1}, {1, 1, 1, 1, 1, 1}))
        .Expect(Values<float>({1, 2, 3}, {4, 1, 0, 4, 1, 0})),
    Row(AudioSpectrogram{.window_size = 6, .stride = 1}).Inputs(Uniform({40, 2})),
    Row(AudioSpectrogram{.window_size = 9, .stride = 1}).Inputs(Uniform({8, 2})).Named("short"),
    Row(AudioSpectrogram{.window_size = 1, .stride = 1})
        .Inputs(Uniform({8, 2}))
        .Fails(kBad, "window_size"),
    Row(AudioSpectrogram{.window_size = 4, .stride = 0}).Inputs(Uniform({8, 2})).Fails(kBad, "0"),
    Row(Mfcc{}).Inputs(Uniform({2, 3, 129}, 0, 9), Scalar<int32_t>(16000)),
    Row(Mfcc{}).Inputs(Empty({0, 3, 129}), Scalar<int32_t>(16000)).Named("empty"),
    Row(Mfcc{}).Inputs(Uniform({2, 3, 129}), Scalar<int32_t>(0)).Fails(kBad, "sample_rate"),
    Row(Mfcc{.dct_coefficient_count = 41})
        .Inputs(Uniform({2, 3, 129}), Scalar<int32_t>(16000))
        .Fails(kBad, "41"),
    Row(Mfcc{}).Inputs(Uniform({2, 3, 1}), Scalar<int32_t>(16000)).Fails(kBad, "frequencies"),
};

}  // namespace
}  // namespace penstock::rows
