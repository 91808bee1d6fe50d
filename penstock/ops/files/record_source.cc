#include "penstock/ops/files/record_source.h"

#include <optional>

#include "penstock/io/file_tree.h"
#include "penstock/io/record.h"

namespace penstock::ops {
namespace {

// Of a file that is read from the front.
class StreamSource : public RecordSource {
 public:
  explicit StreamSource(io::Compression compression) : compression_(compression) {}

  Status Open(const std::string& work, const SourcePosition* from) final {
    TRY_ASSIGN(io::InputStream stream, io::InputStream::Open(work, compression_));
    stream_.emplace(std::move(stream));
    work_ = work;
    position_ = from != nullptr ? *from : SourcePosition();
    if (from == nullptr) return Begin();
    return stream_->Skip(from->offset).status();
  }
  SourcePosition position() const final { return position_; }

 protected:
  // What comes before the first record.
  virtual Status Begin() { return OkStatus(); }

  const io::Compression compression_;
  std::string work_;
  std::optional<io::InputStream> stream_;
  SourcePosition position_;
};

class TextLines final : public StreamSource {
 public:
  TextLines(int64_t skip, io::Compression compression) : StreamSource(compression), skip_(skip) {}

  Result<bool> Next(std::string* key, std::string* value, bool*) override {
    TRY_ASSIGN(const bool found, stream_->ReadLine(value));
    if (!found) return false;
    position_ = {stream_->offset(), position_.record + 1};
    *key = Format("{}:{}", work_, position_.record);
    return true;
  }

 private:
  Status Begin() override {
    std::string line;
    for (int64_t i = 0; i < skip_; ++i) {
      TRY_ASSIGN(const bool found, stream_->ReadLine(&line));
      if (!found) break;
      ++position_.record;
    }
    position_.offset = stream_->offset();
    return OkStatus();
  }

  const int64_t skip_;
};

class FixedLengthRecords final : public StreamSource {
 public:
  explicit FixedLengthRecords(const FixedLengthSpec& spec)
      : StreamSource(spec.compression), spec_(spec) {}

  // What follows the bytes of a record must be enough for the footer, so that many are read ahead.
  Result<bool> Next(std::string* key, std::string* value, bool*) override {
    const auto record = static_cast<size_t>(spec_.record_bytes);
    const size_t wanted = record + static_cast<size_t>(spec_.footer_bytes);
    if (ahead_.size() < wanted) TRY(stream_->Read(wanted - ahead_.size(), &ahead_).status());
    if (ahead_.size() < wanted) return false;
    value->assign(ahead_, 0, record);
    *key = Format("{}:{}", work_, position_.record);
    const size_t hop =
        static_cast<size_t>(spec_.hop_bytes == 0 ? spec_.record_bytes : spec_.hop_bytes);
    if (hop > ahead_.size()) TRY(stream_->Skip(hop - ahead_.size()).status());
    ahead_.erase(0, hop);
    position_ = {position_.offset + hop, position_.record + 1};
    return true;
  }

 private:
  Status Begin() override {
    ahead_.clear();
    TRY_ASSIGN(position_.offset, stream_->Skip(static_cast<uint64_t>(spec_.header_bytes)));
    return OkStatus();
  }

  const FixedLengthSpec spec_;
  std::string ahead_;
};

class PlainTfRecords final : public RecordSource {
 public:
  Status Open(const std::string& work, const SourcePosition* from) override {
    TRY_ASSIGN(io::RecordReader reader, io::RecordReader::Open(work));
    if (from != nullptr) reader.Seek(from->offset);
    reader_.emplace(std::move(reader));
    work_ = work;
    return OkStatus();
  }
  Result<bool> Next(std::string* key, std::string* value, bool*) override {
    *key = Format("{}:{}", work_, reader_->offset());
    return reader_->Read(value);
  }
  SourcePosition position() const override {
    return {reader_.has_value() ? reader_->offset() : 0, 0};
  }

 private:
  std::string work_;
  std::optional<io::RecordReader> reader_;
};

class CompressedTfRecords final : public StreamSource {
 public:
  using StreamSource::StreamSource;
  Result<bool> Next(std::string* key, std::string* value, bool*) override {
    *key = Format("{}:{}", work_, stream_->offset());
    TRY_ASSIGN(const bool found, io::ReadRecord(*stream_, value));
    position_.offset = stream_->offset();
    return found;
  }
};

class WholeFiles final : public RecordSource {
 public:
  Status Open(const std::string& work, const SourcePosition*) override {
    work_ = work;
    return OkStatus();
  }
  Result<bool> Next(std::string* key, std::string* value, bool* last) override {
    TRY_ASSIGN(*value, io::ReadWholeFile(work_));
    *key = work_;
    *last = true;
    return true;
  }

 private:
  std::string work_;
};

class Identities final : public RecordSource {
 public:
  Status Open(const std::string& work, const SourcePosition*) override {
    work_ = work;
    return OkStatus();
  }
  Result<bool> Next(std::string* key, std::string* value, bool* last) override {
    *key = *value = work_;
    *last = true;
    return true;
  }

 private:
  std::string work_;
};

}  // namespace

MakeSource TextLineSource(int64_t skip_header_lines, io::Compression compression) {
  return [=] { return std::make_unique<TextLines>(skip_header_lines, compression); };
}

Status FixedLengthSpec::Check() const {
  constexpr int64_t kMost = INT32_MAX;
  if (record_bytes <= 0 || record_bytes > kMost)
    return InvalidArgument("record_bytes must be in [1, {}], got {}", kMost, record_bytes);
  if (header_bytes < 0 || footer_bytes < 0 || footer_bytes > kMost || hop_bytes < 0 ||
      hop_bytes > kMost)
    return InvalidArgument(
        "header_bytes, footer_bytes and hop_bytes must be in [0, {}], got {}, {} and {}", kMost,
        header_bytes, footer_bytes, hop_bytes);
  return OkStatus();
}

MakeSource FixedLengthSource(const FixedLengthSpec& spec) {
  return [spec] { return std::make_unique<FixedLengthRecords>(spec); };
}

MakeSource TfRecordSource(io::Compression compression) {
  if (compression == io::Compression::kNone) {
    return [] { return std::make_unique<PlainTfRecords>(); };
  }
  return [compression] { return std::make_unique<CompressedTfRecords>(compression); };
}

MakeSource WholeFileSource() {
  return [] { return std::make_unique<WholeFiles>(); };
}
MakeSource IdentitySource() {
  return [] { return std::make_unique<Identities>(); };
}

}  // namespace penstock::ops
