#include "penstock/train/data/record_files.h"

namespace penstock::data {
namespace {

io::Compression ToIo(RecordCompression compression) {
  switch (compression) {
    case RecordCompression::kGzip:
      return io::Compression::kGzip;
    case RecordCompression::kZlib:
      return io::Compression::kZlib;
    case RecordCompression::kNone:
      break;
  }
  return io::Compression::kNone;
}

}  // namespace

std::string RecordSet::Describe() const {
  if (files.empty()) return "no files";
  return files.size() == 1 ? files[0] : Format("{} and {} more", files[0], files.size() - 1);
}

Status RecordFiles::At(size_t file, uint64_t offset, const Status& why) const {
  return why.Annotate(Format("{}: record at offset {}", Printable(set_->files[file]), offset));
}

Result<bool> RecordFiles::Next(io::RecordScanner::Record* record, bool unchecked) {
  while (file_ < set_->files.size()) {
    TRY(pass_.CheckStop());
    if (!scanner_) {
      // A file that is not there is no bad record.
      TRY_ASSIGN(scanner_,
                 io::RecordScanner::Open(set_->files[file_], ToIo(set_->options.compression)));
    }
    const Result<bool> more = scanner_->Next(record);
    if (!more.ok()) TRY(BadRecord(set_->options.on_bad, more.status(), *pass_.counters));
    if (!more.ok() || !*more) {
      scanner_.reset();
      ++file_;
      continue;
    }
    pass_.counters->bytes.fetch_add(static_cast<int64_t>(record->data.size()),
                                    std::memory_order_relaxed);
    if (unchecked || record->Intact()) return true;
    TRY(BadRecord(set_->options.on_bad, scanner_->Damaged(record->offset), *pass_.counters));
  }
  return false;
}

}  // namespace penstock::data
