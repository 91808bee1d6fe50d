#include <unistd.h>

#include <atomic>
#include <utility>

#include "penstock/io/file_tree.h"
#include "penstock/io/record.h"
#include "penstock/train/data/element_bytes.h"
#include "penstock/train/data/rows.h"
#include "penstock/train/data/stages.h"

// Elements that are read from their source once. A pass that was not finished keeps nothing.

namespace penstock::data {
namespace {

using Elements = std::vector<Element>;

// The elements of the first finished pass. Threads: all methods may be called concurrently.
class Kept {
 public:
  std::shared_ptr<const Elements> get() const {
    MutexLock lock(mu_);
    return elements_;
  }
  void Set(Elements elements) {
    MutexLock lock(mu_);
    if (elements_ == nullptr) elements_ = std::make_shared<const Elements>(std::move(elements));
  }

 private:
  mutable Mutex mu_;
  std::shared_ptr<const Elements> elements_ GUARDED_BY(mu_);
};

class KeptCursor final : public Cursor {
 public:
  explicit KeptCursor(std::shared_ptr<const Elements> elements) : elements_(std::move(elements)) {}
  Result<bool> Next(Element* element) override {
    if (at_ == elements_->size()) return false;
    *element = (*elements_)[at_++];
    return true;
  }
  Result<int64_t> Skip(int64_t n) override {
    const auto count = std::min(static_cast<size_t>(n), elements_->size() - at_);
    at_ += count;
    return static_cast<int64_t>(count);
  }

 private:
  const std::shared_ptr<const Elements> elements_;
  size_t at_ = 0;
};

class KeepingCursor final : public Cursor {
 public:
  KeepingCursor(std::unique_ptr<Cursor> input, std::shared_ptr<Kept> kept)
      : input_(std::move(input)), kept_(std::move(kept)) {}
  Result<bool> Next(Element* element) override {
    TRY_ASSIGN(const bool more, input_->Next(element));
    if (more) {
      elements_.push_back(*element);
    } else {
      kept_->Set(std::move(elements_));
    }
    return more;
  }

 private:
  const std::unique_ptr<Cursor> input_;
  const std::shared_ptr<Kept> kept_;
  Elements elements_;
};

class MemoryCache final : public Stage {
 public:
  explicit MemoryCache(StagePtr input) : input_(std::move(input)) {}

  Result<std::unique_ptr<Cursor>> Open(const Pass& pass) const override {
    if (auto elements = kept_->get())
      return std::unique_ptr<Cursor>(new KeptCursor(std::move(elements)));
    // Always the elements of epoch 0, so that a resumed program caches what it cached before.
    TRY_ASSIGN(std::unique_ptr<Cursor> input, input_->Open(pass.OfEpoch(0)));
    return std::unique_ptr<Cursor>(new KeepingCursor(std::move(input), kept_));
  }
  std::optional<int64_t> Size() const override {
    const auto elements = kept_->get();
    return elements ? static_cast<int64_t>(elements->size()) : input_->Size();
  }
  std::string Describe() const override { return input_->Describe() + " > Cache"; }

 private:
  const StagePtr input_;
  const std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
};

// A cache file is a record file: what it was made from, then an element a record, then an empty
// record that says that it is whole.
class FileCacheReader final : public Cursor {
 public:
  FileCacheReader(io::RecordReader reader, std::string path, std::shared_ptr<Counters> counters)
      : reader_(std::move(reader)), path_(std::move(path)), counters_(std::move(counters)) {}

  Status CheckHeader(const std::string& expected) {
    std::string header;
    TRY_ASSIGN(const bool more, reader_.Read(&header));
    if (more && header == expected) return OkStatus();
    return FailedPrecondition(
        "{} is a cache of other data; remove it. It was made from: {}; these are: {}",
        Printable(path_), Printable(header), Printable(expected));
  }
  Result<bool> Next(Element* element) override {
    if (ended_) return false;
    const uint64_t offset = reader_.offset();
    std::string record;
    TRY_ASSIGN(const bool more, reader_.Read(&record));
    if (!more) return DataLoss("{} ends without its last record", Printable(path_));
    ended_ = record.empty();
    if (ended_) return false;
    counters_->bytes += static_cast<int64_t>(record.size());
    Result<Element> read = ElementFromBytes(record);
    if (!read.ok())
      return read.status().Annotate(Format("{}: record at offset {}", Printable(path_), offset));
    *element = *std::move(read);
    return true;
  }

 private:
  io::RecordReader reader_;
  const std::string path_;
  const std::shared_ptr<Counters> counters_;
  bool ended_ = false;
};

// Writes beside the file, and gives it its name at the end.
class FileCacheWriter final : public Cursor {
 public:
  FileCacheWriter(std::unique_ptr<Cursor> input, io::RecordWriter writer, std::string partial,
                  std::string path)
      : input_(std::move(input)),
        writer_(std::move(writer)),
        partial_(std::move(partial)),
        path_(std::move(path)) {}
  ~FileCacheWriter() override {
    if (!done_) (void)io::RemoveFile(partial_);
  }

  Status WriteHeader(const std::string& header) { return writer_.Write(header); }
  Result<bool> Next(Element* element) override {
    if (done_) return false;
    TRY_ASSIGN(const bool more, input_->Next(element));
    if (more) {
      TRY_ASSIGN(const std::string bytes, ElementToBytes(*element));
      TRY(writer_.Write(bytes));
      return true;
    }
    TRY(writer_.Write(""));
    TRY(writer_.Sync());
    TRY(writer_.Close());
    TRY(io::RenameFile(partial_, path_));
    done_ = true;
    return false;
  }

 private:
  const std::unique_ptr<Cursor> input_;
  io::RecordWriter writer_;
  const std::string partial_, path_;
  bool done_ = false;
};

class FileCache final : public Stage {
 public:
  FileCache(StagePtr input, std::string path) : input_(std::move(input)), path_(std::move(path)) {}

  Result<std::unique_ptr<Cursor>> Open(const Pass& pass) const override {
    const std::string header = "penstock data cache 1: " + input_->Describe();
    if (io::FileExists(path_)) {
      TRY_ASSIGN(io::RecordReader reader, io::RecordReader::Open(path_));
      auto cursor = std::make_unique<FileCacheReader>(std::move(reader), path_, pass.counters);
      TRY(cursor->CheckHeader(header));
      return std::unique_ptr<Cursor>(std::move(cursor));
    }
    // Several readers, here or in other processes, may be at it: each writes a file of its own.
    static std::atomic<int64_t> number{0};
    const std::string partial = Format("{}.partial-{}-{}", path_, ::getpid(), number++);
    TRY_ASSIGN(std::unique_ptr<Cursor> input, input_->Open(pass.OfEpoch(0)));
    TRY_ASSIGN(io::RecordWriter writer, io::RecordWriter::Open(partial));
    auto cursor =
        std::make_unique<FileCacheWriter>(std::move(input), std::move(writer), partial, path_);
    TRY(cursor->WriteHeader(header));
    return std::unique_ptr<Cursor>(std::move(cursor));
  }
  std::optional<int64_t> Size() const override { return input_->Size(); }
  std::string Describe() const override { return input_->Describe() + " > Cache"; }

 private:
  const StagePtr input_;
  const std::string path_;
};

}  // namespace

StagePtr MakeMemoryCache(StagePtr input) { return std::make_shared<MemoryCache>(std::move(input)); }

Result<StagePtr> MakeFileCache(StagePtr input, std::string path) {
  if (path.empty()) return InvalidArgument("Cache: the path of its file is empty");
  return StagePtr(std::make_shared<FileCache>(std::move(input), std::move(path)));
}

}  // namespace penstock::data
