#include "penstock/train/data/csv_record.h"

namespace penstock::data {
namespace {

constexpr size_t kMaxRecordBytes = 64 << 20;

}  // namespace

std::string CsvReader::Place(const CsvRecord& record) const {
  return Format("{}: line {} (offset {})", Printable(path()), record.line, record.offset);
}

Result<bool> CsvReader::Split(const std::string& text, std::vector<std::string>* fields) const {
  fields->clear();
  for (size_t at = 0;; ++at) {
    std::string field;
    if (at < text.size() && text[at] == '"') {
      for (++at;; ++at) {
        if (at >= text.size()) return false;
        if (text[at] != '"') {
          field += text[at];
        } else if (at + 1 < text.size() && text[at + 1] == '"') {
          field += text[at++];
        } else {
          break;
        }
      }
      ++at;
      if (at < text.size() && text[at] != delimiter_)
        return InvalidArgument("a field goes on after its quotes");
    } else {
      const size_t end = std::min(text.find(delimiter_, at), text.size());
      field = text.substr(at, end - at);
      at = end;
      if (field.find('"') != std::string::npos)
        return InvalidArgument("a quote stands inside a field without quotes");
    }
    fields->push_back(std::move(field));
    if (at >= text.size()) return true;
  }
}

Result<bool> CsvReader::Next(CsvRecord* record) {
  std::string text, line;
  do {
    record->offset = stream_.offset();
    TRY_ASSIGN(const bool more, stream_.ReadLine(&text, kMaxRecordBytes));
    if (!more) return false;
    record->line = ++line_;
  } while (text.empty());
  while (true) {
    TRY_ASSIGN(const bool whole, Split(text, &record->fields));
    if (whole) return true;
    TRY_ASSIGN(const bool more, stream_.ReadLine(&line, kMaxRecordBytes));
    if (!more) return InvalidArgument("a quote is not closed before the end of the file");
    ++line_;
    if (text.size() + line.size() > kMaxRecordBytes)
      return ResourceExhausted("{}: a quote is not closed", Place(*record));
    text.append("\n").append(line);
  }
}

}  // namespace penstock::data
