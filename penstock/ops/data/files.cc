#include "penstock/ops/data/files.h"

#include <optional>

#include "penstock/io/line_reader.h"
#include "penstock/io/record.h"

namespace penstock::ops {
namespace {

// Reads the pieces of one file after the other. `Reader` has Open(path) of some arguments and
// Read(string*), which says whether there was one.
template <class Reader, class... Args>
class FilesIterator final : public DatasetIterator {
 public:
  FilesIterator(std::vector<std::string> paths, std::tuple<Args...> args)
      : paths_(std::move(paths)), args_(std::move(args)) {}

  Result<Pulled> Next(Puller&, Element* element) override {
    while (reader_ || at_ < paths_.size()) {
      if (!reader_) {
        const std::string& path = paths_[at_++];
        TRY_ASSIGN(
            reader_,
            std::apply([&](const Args&... args) { return Reader::Open(path, args...); }, args_));
      }
      std::string text;
      const Result<bool> more = reader_->Read(&text);
      if (more.ok() && *more) {
        element->push_back(Tensor::Scalar(std::move(text)));
        return Pulled::kElement;
      }
      reader_.reset();  // damaged or at its end; the next file follows
      if (!more.ok()) return more.status();
    }
    return Pulled::kEnd;
  }

 private:
  const std::vector<std::string> paths_;
  const std::tuple<Args...> args_;
  size_t at_ = 0;  // the next file
  std::optional<Reader> reader_;
};

template <class Reader, class... Args>
class Files final : public Dataset {
 public:
  Files(std::vector<std::string> paths, Args... args)
      : paths_(std::move(paths)), args_(std::move(args)...) {}
  std::unique_ptr<DatasetIterator> MakeIterator() const override {
    return std::make_unique<FilesIterator<Reader, Args...>>(paths_, args_);
  }

 private:
  const std::vector<std::string> paths_;
  const std::tuple<Args...> args_;
};

template <class Reader, class... Args>
Status SetFiles(CpuContext& context, const Tensor& filenames, Args... args) {
  const auto paths = filenames.values<std::string>();
  return SetDataset(context, std::make_shared<Files<Reader, Args...>>(
                                 std::vector<std::string>(paths.begin(), paths.end()), args...));
}

// Reads pieces of one length.
class FixedReader {
 public:
  struct Layout {
    uint64_t header, record, footer;
  };

  static Result<FixedReader> Open(const std::string& path, const Layout& layout) {
    TRY_ASSIGN(io::File file, io::File::OpenToRead(path));
    TRY_ASSIGN(const uint64_t size, file.Size());
    const bool fits = layout.header <= size && layout.footer <= size - layout.header;
    const uint64_t body = fits ? size - layout.header - layout.footer : 0;
    if (!fits || body % layout.record != 0) {
      return InvalidArgument(
          "Excluding the header ({} bytes) and footer ({} bytes), input file \"{}\" has body "
          "length "
          "{} bytes, which is not an exact multiple of the record length ({} bytes).",
          layout.header, layout.footer, Printable(path), body, layout.record);
    }
    return FixedReader(std::move(file), layout.header, layout.header + body, layout.record);
  }

  Result<bool> Read(std::string* record) {
    if (at_ >= end_) return false;
    record->resize(length_);
    TRY_ASSIGN(const size_t got, file_.ReadAt(at_, record->size(), record->data()));
    if (got != length_) return DataLoss("{}: the file shrank while it was read", file_.path());
    at_ += length_;
    return true;
  }

 private:
  FixedReader(io::File file, uint64_t begin, uint64_t end, uint64_t length)
      : file_(std::move(file)), at_(begin), end_(end), length_(length) {}

  io::File file_;
  uint64_t at_;
  uint64_t end_;
  uint64_t length_;
};

Status CheckNotCompressed(const Tensor& compression_type) {
  const std::string& type = compression_type.scalar<std::string>();
  if (type.empty()) return OkStatus();
  if (type != "GZIP" && type != "ZLIB")
    return InvalidArgument("Unsupported compression_type: {}.", Printable(type));
  return Unimplemented("files that are compressed as a whole ({}) are not read", type);
}

Result<Shape> CheckFilenames(const Shape& filenames) {
  if (filenames.has_rank() && filenames.rank() > 1)
    return InvalidArgument("`filenames` must be a scalar or a vector, got shape {}", filenames);
  return Shape();
}

Status SetFixed(CpuContext& context, const Tensor& filenames, int64_t header, int64_t record,
                int64_t footer, int64_t buffer_size) {
  if (header < 0 || record <= 0 || footer < 0 || buffer_size < 0) {
    return InvalidArgument(
        "header_bytes, footer_bytes and buffer_size must be >= 0 and record_bytes > 0, got {}, {}, "
        "{} and {}",
        header, footer, buffer_size, record);
  }
  const FixedReader::Layout layout{static_cast<uint64_t>(header), static_cast<uint64_t>(record),
                                   static_cast<uint64_t>(footer)};
  return SetFiles<FixedReader>(context, filenames, layout);
}

}  // namespace

Result<Shape> TextLineDataset::InferShape(const Shape& filenames, const Shape& compression_type,
                                          const Shape& buffer_size) const {
  TRY(CheckFilenames(filenames));
  return DatasetOfScalars(compression_type, buffer_size);
}

Status TextLineDataset::ComputeCpu(CpuContext& context, const Tensor& filenames,
                                   const Tensor& compression_type, int64_t buffer_size) const {
  TRY(CheckNotCompressed(compression_type));
  if (buffer_size < 0) return InvalidArgument("`buffer_size` must be >= 0 (0 == default)");
  return SetFiles<io::LineReader>(context, filenames);
}

Result<Shape> TFRecordDataset::InferShape(const Shape& filenames, const Shape& compression_type,
                                          const Shape& buffer_size) const {
  TRY(CheckFilenames(filenames));
  return DatasetOfScalars(compression_type, buffer_size);
}

Status TFRecordDataset::ComputeCpu(CpuContext& context, const Tensor& filenames,
                                   const Tensor& compression_type, int64_t buffer_size) const {
  TRY(CheckNotCompressed(compression_type));
  if (buffer_size < -1) {
    return InvalidArgument(
        "`buffer_size` must be >= 0 (0 == no buffering) or -1 (not said), got {}", buffer_size);
  }
  return SetFiles<io::RecordReader>(context, filenames);
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
  return SetFixed(context, filenames, header_bytes, record_bytes, footer_bytes, buffer_size);
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
  TRY(CheckNotCompressed(compression_type));
  return SetFixed(context, filenames, header_bytes, record_bytes, footer_bytes, buffer_size);
}

void RegisterDatasetFiles(Registrar& registrar) {
  registrar.AddAll<TextLineDataset, TFRecordDataset, FixedLengthRecordDataset,
                   FixedLengthRecordDatasetV2>();
}

}  // namespace penstock::ops
