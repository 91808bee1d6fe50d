#include "penstock/io/wav.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "penstock/core/checked.h"
#include "penstock/io/little_endian.h"

namespace penstock::io {
namespace {

constexpr int64_t kBytesPerSample = 2;

// Takes pieces off the front; the first piece that is missing is an error for all that follow.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : left_(bytes) {}

  std::string_view Take(size_t size) {
    if (size > left_.size()) {
      status_ = InvalidArgument("WAV: {} bytes were expected, got {}", size, left_.size());
      left_ = {};
      return {};
    }
    const std::string_view piece = left_.substr(0, size);
    left_.remove_prefix(size);
    return piece;
  }
  template <class T>
  T Number() {
    const std::string_view piece = Take(sizeof(T));
    return piece.empty() ? T(0) : LoadLittleEndian<T>(piece.data());
  }
  // Up to the end.
  void Skip(size_t size) { left_.remove_prefix(std::min(size, left_.size())); }
  bool at_end() const { return left_.empty(); }
  const Status& status() const { return status_; }

 private:
  std::string_view left_;
  Status status_;
};

Status Expect(std::string_view what, uint64_t expected, uint64_t got) {
  if (expected == got) return OkStatus();
  return InvalidArgument("WAV: {} must be {}, got {}", what, expected, got);
}

// Reads up to the end of the format and fills what it says.
Status ReadFormat(Cursor& at, WavFile* file) {
  constexpr std::array<std::string_view, 8> kSkipped{"JUNK", "bext", "iXML", "qlty",
                                                     "mext", "levl", "link", "axml"};
  if (at.Take(4) != "RIFF") return InvalidArgument("WAV: the file must begin with RIFF");
  at.Number<uint32_t>();
  if (at.Take(4) != "WAVE") return InvalidArgument("WAV: the RIFF file must be a WAVE");
  for (std::string_view name = at.Take(4); name != "fmt "; name = at.Take(4)) {
    TRY(at.status());
    if (std::ranges::find(kSkipped, name) == kSkipped.end())
      return InvalidArgument("WAV: the chunk {} was not expected before the format", name);
    at.Take(at.Number<uint32_t>());
  }
  const uint32_t size = at.Number<uint32_t>();
  const uint16_t encoding = at.Number<uint16_t>();
  file->channels = at.Number<uint16_t>();
  file->rate = at.Number<uint32_t>();
  const uint32_t bytes_per_second = at.Number<uint32_t>();
  const uint16_t bytes_per_frame = at.Number<uint16_t>();
  const uint16_t bits = at.Number<uint16_t>();
  TRY(at.status());
  if (size != 16 && size != 18)
    return InvalidArgument("WAV: the format must take 16 or 18 bytes, got {}", size);
  TRY(Expect("the encoding", 1, encoding));
  TRY(Expect("the bits of a sample", 16, bits));
  if (file->channels < 1) return InvalidArgument("WAV: there must be a channel");
  TRY(Expect("the bytes of all channels", static_cast<uint64_t>(file->channels * kBytesPerSample),
             bytes_per_frame));
  TRY(Expect("the bytes of a second", uint64_t{bytes_per_frame} * file->rate, bytes_per_second));
  at.Skip(size - 16);
  return OkStatus();
}

}  // namespace

float WavFile::Sample(int64_t i) const {
  const uint16_t bits = LoadLittleEndian<uint16_t>(data.data() + i * kBytesPerSample);
  return static_cast<float>(static_cast<int16_t>(bits)) * (1.0f / 32768);
}

Result<WavFile> ReadWav(std::string_view bytes) {
  Cursor at(bytes);
  WavFile file;
  TRY(ReadFormat(at, &file));
  bool found = false;
  while (!at.at_end()) {
    const std::string_view name = at.Take(4);
    const uint32_t size = at.Number<uint32_t>();
    TRY(at.status());
    if (size > std::numeric_limits<int32_t>::max())
      return InvalidArgument("WAV: the chunk {} of {} bytes is too large", name, size);
    if (name != "data") {
      at.Skip(size);
      continue;
    }
    if (found) return InvalidArgument("WAV: there must be one data chunk, got two");
    found = true;
    file.frames = size / (file.channels * kBytesPerSample);
    file.data = at.Take(static_cast<size_t>(file.frames * file.channels * kBytesPerSample));
    TRY(at.status());
  }
  if (!found) return InvalidArgument("WAV: there is no data chunk");
  return file;
}

Result<std::string> WriteWav(std::span<const float> samples, int64_t channels, int64_t rate) {
  constexpr int64_t kHeader = 44;
  if (rate <= 0 || rate > std::numeric_limits<uint32_t>::max())
    return InvalidArgument("WAV: the rate must be in [1, 2^32), got {}", rate);
  if (channels <= 0 || channels > std::numeric_limits<uint16_t>::max())
    return InvalidArgument("WAV: the channels must be in [1, 2^16), got {}", channels);
  const auto data_bytes = CheckedMul(static_cast<int64_t>(samples.size()), kBytesPerSample);
  if (!data_bytes || *data_bytes > std::numeric_limits<uint32_t>::max() - kHeader)
    return InvalidArgument("WAV: {} samples are too many for a file", samples.size());
  std::string file;
  file.reserve(static_cast<size_t>(kHeader + *data_bytes));
  const auto append = [&]<class T>(T number) {
    char bytes[sizeof(T)];
    StoreLittleEndian(number, bytes);
    file.append(bytes, sizeof bytes);
  };
  file.append("RIFF");
  append(static_cast<uint32_t>(kHeader - 8 + *data_bytes));
  file.append("WAVEfmt ");
  append(uint32_t{16});
  append(uint16_t{1});
  append(static_cast<uint16_t>(channels));
  append(static_cast<uint32_t>(rate));
  append(static_cast<uint32_t>(rate * channels * kBytesPerSample));
  append(static_cast<uint16_t>(channels * kBytesPerSample));
  append(uint16_t{16});
  file.append("data");
  append(static_cast<uint32_t>(*data_bytes));
  for (const float sample : samples) {
    const float rounded = std::round(sample * 32768.0f);
    const float clipped = std::min(std::max(rounded, -32768.0f), 32767.0f);  // NaN as the lowest
    append(static_cast<uint16_t>(static_cast<int16_t>(clipped == clipped ? clipped : -32768.0f)));
  }
  return file;
}

}  // namespace penstock::io
