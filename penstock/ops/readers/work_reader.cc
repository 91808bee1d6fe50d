#include "penstock/ops/readers/work_reader.h"

#include <algorithm>

#include "penstock/io/file_tree.h"
#include "penstock/io/line_reader.h"
#include "penstock/io/record.h"

namespace penstock::ops {
namespace {

using Opened = Result<std::unique_ptr<WorkReader>>;

template <class Reader, class... Args>
Opened Open(Args&&... args) {
  return std::unique_ptr<WorkReader>(std::make_unique<Reader>(std::forward<Args>(args)...));
}

// One record: the work unit, and what `read` makes of it.
class OneRecord final : public WorkReader {
 public:
  OneRecord(std::string key, std::string value) : key_(std::move(key)), value_(std::move(value)) {}
  Result<bool> Read(std::string* key, std::string* value) override {
    if (given_) return false;
    given_ = true;
    key->swap(key_);
    value->swap(value_);
    return true;
  }

 private:
  std::string key_, value_;
  bool given_ = false;
};

class Lines final : public WorkReader {
 public:
  Lines(std::string path, io::LineReader reader)
      : path_(std::move(path)), reader_(std::move(reader)) {}
  Result<bool> Read(std::string* key, std::string* value) override {
    TRY_ASSIGN(const bool more, reader_.Read(value));
    if (more) *key = Format("{}:{}", path_, ++number_);
    return more;
  }

 private:
  const std::string path_;
  io::LineReader reader_;
  int64_t number_ = 0;
};

class Records final : public WorkReader {
 public:
  Records(std::string path, io::RecordReader reader)
      : path_(std::move(path)), reader_(std::move(reader)) {}
  Result<bool> Read(std::string* key, std::string* value) override {
    *key = Format("{}:{}", path_, reader_.offset());
    return reader_.Read(value);
  }

 private:
  const std::string path_;
  io::RecordReader reader_;
};

class FixedPieces final : public WorkReader {
 public:
  FixedPieces(io::File file, uint64_t begin, uint64_t end, uint64_t length, uint64_t hop)
      : file_(std::move(file)), at_(begin), end_(end), length_(length), hop_(hop) {}
  Result<bool> Read(std::string* key, std::string* value) override {
    if (at_ > end_ || end_ - at_ < length_) return false;
    value->resize(length_);
    TRY_ASSIGN(const size_t got, file_.ReadAt(at_, value->size(), value->data()));
    if (got != length_)
      return DataLoss("{}: the file shrank while it was read", Printable(file_.path()));
    *key = Format("{}:{}", file_.path(), number_++);
    at_ += hop_;
    return true;
  }

 private:
  const io::File file_;
  uint64_t at_;
  const uint64_t end_;
  const uint64_t length_;
  const uint64_t hop_;
  int64_t number_ = 0;
};

}  // namespace

WorkOpener IdentityOpener() {
  return [](const std::string& work) -> Opened { return Open<OneRecord>(work, work); };
}

WorkOpener WholeFileOpener() {
  return [](const std::string& work) -> Opened {
    TRY_ASSIGN(std::string contents, io::ReadWholeFile(work));
    return Open<OneRecord>(work, std::move(contents));
  };
}

WorkOpener TextLineOpener(int64_t skip_header_lines) {
  return [skip_header_lines](const std::string& work) -> Opened {
    TRY_ASSIGN(io::LineReader reader, io::LineReader::Open(work));
    Opened lines = Open<Lines>(work, std::move(reader));
    std::string key, value;
    for (int64_t i = 0; i < skip_header_lines; ++i) {
      TRY_ASSIGN(const bool more, (*lines)->Read(&key, &value));
      if (!more) break;
    }
    return lines;
  };
}

WorkOpener RecordOpener() {
  return [](const std::string& work) -> Opened {
    TRY_ASSIGN(io::RecordReader reader, io::RecordReader::Open(work));
    return Open<Records>(work, std::move(reader));
  };
}

WorkOpener FixedLengthOpener(int64_t header, int64_t record, int64_t footer, int64_t hop) {
  return [=](const std::string& work) -> Opened {
    TRY_ASSIGN(io::File file, io::File::OpenToRead(work));
    TRY_ASSIGN(const uint64_t size, file.Size());
    const uint64_t end = size - std::min(size, static_cast<uint64_t>(footer));
    return Open<FixedPieces>(std::move(file), static_cast<uint64_t>(header), end,
                             static_cast<uint64_t>(record), static_cast<uint64_t>(hop));
  };
}

}  // namespace penstock::ops
