#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "penstock/core/status.h"

// Sound as WAV files of 16-bit samples. All numbers are little-endian.
//   file    "RIFF" uint32 "WAVE" skipped* format chunk*
//   skipped one of eight names, then uint32 size, then as many bytes
//   format  "fmt " uint32 size (16 or 18) uint16 1, uint16 channels, uint32 rate, uint32 bytes a
//           second, uint16 bytes of all channels, uint16 16; two more bytes when the size is 18
//   chunk   4 characters, uint32 size, as many bytes; the one named "data" has the samples

namespace penstock::io {

// A file that was understood. The samples of all channels at a time are neighbours.
struct WavFile {
  int64_t channels = 0;
  int64_t frames = 0;  // samples a channel
  uint32_t rate = 0;   // frames a second
  std::string_view data;

  // In [-1, 1). REQUIRES: 0 <= i < frames * channels.
  float Sample(int64_t i) const;
};

// Checks the file; what it returns looks into `bytes`.
Result<WavFile> ReadWav(std::string_view bytes);
// Rounds samples to 16 bits, and what is too loud to the loudest.
Result<std::string> WriteWav(std::span<const float> samples, int64_t channels, int64_t rate);

}  // namespace penstock::io
