#include "penstock/ops/data/files.h"

#include <optional>

#include "penstock/io/file.h"
#include "penstock/ops/files/record_source.h"

namespace penstock::ops {
namespace {

// Reads the records of one file after the other.
class FilesIterator final : public DatasetIterator {
 public:
  FilesIterator(std::vector<std::string> paths, const MakeSource& make)
      : paths_(std::move(paths)), source_(make()) {}

  Result<Pulled> Next(Puller&, Element* element) override {
    while (open_ || at_ < paths_.size()) {
      if (!open_) {
        TRY(source_->Open(paths_[at_++], nullptr));
        open_ = true;
      }
      std::string key, value;
      bool last = false;
      const Result<bool> more = source_->Next(&key, &value, &last);
      if (more.ok() && *more) {
        element->push_back(Tensor::Scalar(std::move(value)));
        return Pulled::kElement;
      }
      open_ = false;  // damaged or at its end; the next file follows
      if (!more.ok()) return more.status();
    }
    return Pulled::kEnd;
  }

 private:
  const std::vector<std::string> paths_;
  const std::unique_ptr<RecordSource> source_;
  size_t at_ = 0;  // the next file
  bool open_ = false;
};

class Files final : public Dataset {
 public:
  Files(std::vector<std::string> paths, MakeSource make)
      : paths_(std::move(paths)), make_(std::move(make)) {}
  std::unique_ptr<DatasetIterator> MakeIterator() const override {
    return std::make_unique<FilesIterator>(paths_, make_);
  }

 private:
  const std::vector<std::string> paths_;
  const MakeSource make_;
};

Status SetFiles(CpuContext& context, const Tensor& filenames, MakeSource make) {
  const auto paths = filenames.values<std::string>();
  return SetDataset(context,
                    std::make_shared<Files>(std::vector<std::string>(paths.begin(), paths.end()),
                                            std::move(make)));
}

// Pieces of one length that fill a file without rest; a reader would pass over a rest.
class ExactPieces final : public RecordSource {
 public:
  explicit ExactPieces(const FixedLengthSpec& spec) : spec_(spec) {}

  Status Open(const std::string& work, const SourcePosition*) override {
    TRY_ASSIGN(io::File file, io::File::OpenToRead(work));
    TRY_ASSIGN(const uint64_t size, file.Size());
    const auto header = static_cast<uint64_t>(spec_.header_bytes);
    const auto footer = static_cast<uint64_t>(spec_.footer_bytes);
    const auto length = static_cast<uint64_t>(spec_.record_bytes);
    const bool fits = header <= size && footer <= size - header;
    const uint64_t body = fits ? size - header - footer : 0;
    if (!fits || body % length != 0) {
      return InvalidArgument(
          "Excluding the header ({} bytes) and footer ({} bytes), input file \"{}\" has body "
          "length "
          "{} bytes, which is not an exact multiple of the record length ({} bytes).",
          header, footer, Printable(work), body, length);
    }
    file_.emplace(std::move(file));
    at_ = header;
    end_ = header + body;
    return OkStatus();
  }

  Result<bool> Next(std::string*, std::string* value, bool*) override {
    if (at_ >= end_) return false;
    value->resize(static_cast<size_t>(spec_.record_bytes));
    TRY_ASSIGN(const size_t got, file_->ReadAt(at_, value->size(), value->data()));
    if (got != value->size())
      return DataLoss("{}: the file shrank while it was read", Printable(file_->path()));
    at_ += got;
    return true;
  }

 private:
  const FixedLengthSpec spec_;
  std::optional<io::File> file_;
  uint64_t at_ = 0;
  uint64_t end_ = 0;
};

Result<io::Compression> CompressionIn(const Tensor& compression_type) {
  const std::string& type = compression_type.scalar<std::string>();
  const std::optional<io::Compression> compression = io::ParseCompression(type);
  if (!compression) return InvalidArgument("Unsupported compression_type: {}.", Printable(type));
  return *compression;
}

Result<Shape> CheckFilenames(const Shape& filenames) {
  if (filenames.has_rank() && filenames.rank() > 1)
    return InvalidArgument("`filenames` must be a scalar or a vector, got shape {}", filenames);
  return Shape();
}

Status SetFixed(CpuContext& context, const Tensor& filenames, FixedLengthSpec spec,
                int64_t buffer_size) {
  if (buffer_size < 0) return InvalidArgument("`buffer_size` must be >= 0 (0 == default)");
  TRY(spec.Check());
  if (spec.compression != io::Compression::kNone)
    return SetFiles(context, filenames, FixedLengthSource(spec));
  return SetFiles(context, filenames, [spec] { return std::make_unique<ExactPieces>(spec); });
}

}  // namespace

Result<Shape> TextLineDataset::InferShape(const Shape& filenames, const Shape& compression_type,
                                          const Shape& buffer_size) const {
  TRY(CheckFilenames(filenames));
  return DatasetOfScalars(compression_type, buffer_size);
}

Status TextLineDataset::ComputeCpu(CpuContext& context, const Tensor& filenames,
                                   const Tensor& compression_type, int64_t buffer_size) const {
  TRY_ASSIGN(const io::Compression compression, CompressionIn(compression_type));
  if (buffer_size < 0) return InvalidArgument("`buffer_size` must be >= 0 (0 == default)");
  return SetFiles(context, filenames, TextLineSource(0, compression));
}

Result<Shape> TFRecordDataset::InferShape(const Shape& filenames, const Shape& compression_type,
                                          const Shape& buffer_size) const {
  TRY(CheckFilenames(filenames));
  return DatasetOfScalars(compression_type, buffer_size);
}

Status TFRecordDataset::ComputeCpu(CpuContext& context, const Tensor& filenames,
                                   const Tensor& compression_type, int64_t buffer_size) const {
  TRY_ASSIGN(const io::Compression compression, CompressionIn(compression_type));
  if (buffer_size < -1) {
    return InvalidArgument(
        "`buffer_size` must be >= 0 (0 == no buffering) or -1 (not said), got {}", buffer_size);
  }
  return SetFiles(context, filenames, TfRecordSource(compression));
}

Result<Shape> FixedLengthRecordDataset::InferShape(const Shape& filenames,
                                                   const Shape& header_bytes,
                                                   const Shape& record_bytes,
                                                   const Shape& footer_bytes,
                                                   const Shape& buffer_size) const {
  TRY(CheckFilenames(filenames));
  return DatasetOfScalars(header_bytes, record_bytes, footer_bytes, buffer_size);
}

Status FixedLengthRecordDataset::ComputeCpu(CpuContext& context, const Tensor& filenames,
                                            int64_t header_bytes, int64_t record_bytes,
                                            int64_t footer_bytes, int64_t buffer_size) const {
  return SetFixed(context, filenames, {header_bytes, record_bytes, footer_bytes}, buffer_size);
}

Result<Shape> FixedLengthRecordDatasetV2::InferShape(
    const Shape& filenames, const Shape& header_bytes, const Shape& record_bytes,
    const Shape& footer_bytes, const Shape& buffer_size, const Shape& compression_type) const {
  TRY(CheckFilenames(filenames));
  return DatasetOfScalars(header_bytes, record_bytes, footer_bytes, buffer_size, compression_type);
}

Status FixedLengthRecordDatasetV2::ComputeCpu(CpuContext& context, const Tensor& filenames,
                                              int64_t header_bytes, int64_t record_bytes,
                                              int64_t footer_bytes, int64_t buffer_size,
                                              const Tensor& compression_type) const {
  TRY_ASSIGN(const io::Compression compression, CompressionIn(compression_type));
  return SetFixed(context, filenames,
                  {header_bytes, record_bytes, footer_bytes, record_bytes, compression},
                  buffer_size);
}

void RegisterDatasetFiles(Registrar& registrar) {
  registrar.AddAll<TextLineDataset, TFRecordDataset, FixedLengthRecordDataset,
                   FixedLengthRecordDatasetV2>();
}

}  // namespace penstock::ops
