#include "penstock/io/line_reader.h"

#include <algorithm>
#include <utility>

namespace penstock::io {
namespace {

constexpr size_t kBufferBytes = 256 << 10;

}  // namespace

Result<LineReader> LineReader::Open(const std::string& path) {
  TRY_ASSIGN(File file, File::OpenToRead(path));
  return LineReader(std::move(file));
}

Result<bool> LineReader::Read(std::string* line) {
  line->clear();
  bool found = false;
  while (true) {
    if (at_ == buffer_.size()) {
      buffer_.resize(kBufferBytes);
      Result<size_t> got = file_.ReadAt(offset_, buffer_.size(), buffer_.data());
      buffer_.resize(got.ok() ? *got : 0);
      at_ = 0;
      if (!got.ok()) return got.status();
      offset_ += *got;
      if (buffer_.empty()) return found;  // a last line without an end
    }
    found = true;
    const size_t end = std::min(buffer_.find('\n', at_), buffer_.size());
    if (line->size() + (end - at_) > kMaxLineBytes) {
      return ResourceExhausted("{}: a line is longer than {} bytes", Printable(file_.path()),
                               kMaxLineBytes);
    }
    std::copy_if(buffer_.begin() + static_cast<ptrdiff_t>(at_),
                 buffer_.begin() + static_cast<ptrdiff_t>(end), std::back_inserter(*line),
                 [](char c) { return c != '\r'; });
    at_ = end;
    if (end < buffer_.size()) {
      ++at_;
      return true;
    }
  }
}

}  // namespace penstock::io
