#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/core/status.h"
#include "penstock/io/file.h"

// Streams of DEFLATE (RFC 1951), bare or in the wrapping of zlib (RFC 1950) or gzip (RFC 1952).
// zlib is an optional part of the build (zlib1g-dev): without it whatever is compressed is
// Unimplemented.

namespace penstock::io {

enum class Compression { kNone, kZlib, kGzip, kDeflate };
// TensorFlow's "", "ZLIB" and "GZIP"; nothing for others.
std::optional<Compression> ParseCompression(std::string_view name);

// The bytes that were compressed; what stands after the stream is left out, and a stream that is
// cut gives what it held. DataLoss when it is none, ResourceExhausted past `limit` bytes.
Result<std::string> Uncompress(Compression compression, std::string_view bytes,
                               uint64_t limit = INT32_MAX);

// A file read from its beginning to its end, uncompressed on the way.
// Threads: one at a time.
class InputStream {
 public:
  struct Inflater;  // of the source file

  static Result<InputStream> Open(const std::string& path, Compression compression);
  InputStream(InputStream&&) noexcept;
  InputStream& operator=(InputStream&&) noexcept;
  ~InputStream();

  const std::string& path() const { return file_.path(); }
  // How many bytes were read or skipped.
  uint64_t offset() const { return offset_; }
  // Appends the next `n` bytes to `out`, and says how many there were: fewer only at the end.
  Result<size_t> Read(size_t n, std::string* out);
  // The same without keeping them.
  Result<uint64_t> Skip(uint64_t n);
  // The next line without its end ("\n", "\r\n"); false at the end of the file. ResourceExhausted
  // when it is longer than `limit`.
  Result<bool> ReadLine(std::string* line, size_t limit = INT32_MAX);

 private:
  InputStream(File file, std::unique_ptr<Inflater> inflater);
  // Makes sure that there is something in the buffer; false at the end.
  Result<bool> Fill();
  std::string_view Buffered() const { return std::string_view(buffer_).substr(taken_); }
  void Take(size_t n);

  File file_;
  std::unique_ptr<Inflater> inflater_;  // null for kNone
  uint64_t file_offset_ = 0;
  uint64_t offset_ = 0;
  std::string buffer_;
  size_t taken_ = 0;
};

}  // namespace penstock::io
