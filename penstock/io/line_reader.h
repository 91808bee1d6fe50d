#pragma once

#include <cstdint>
#include <string>

#include "penstock/core/status.h"
#include "penstock/io/file.h"

namespace penstock::io {

// Reads the lines of a text file one after the other. A line ends with '\n', the last one may lack
// it; '\r' is left out wherever it stands, as TensorFlow's readers do.
// Threads: one at a time.
class LineReader {
 public:
  static Result<LineReader> Open(const std::string& path);

  // Reads the next line; false at the end of the file. ResourceExhausted when a line is longer than
  // kMaxLineBytes.
  Result<bool> Read(std::string* line);

  static constexpr size_t kMaxLineBytes = size_t{1} << 30;

 private:
  explicit LineReader(File file) : file_(std::move(file)) {}

  File file_;
  uint64_t offset_ = 0;  // of the file, behind the buffer
  std::string buffer_;
  size_t at_ = 0;  // in the buffer
};

}  // namespace penstock::io
