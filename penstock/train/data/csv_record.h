#pragma once

#include <string>
#include <vector>

#include "penstock/io/compression.h"

// Records of comma-separated values.
//
//   record = field (delimiter field)* end of line
//   field  = text without quotes | '"' (text | '""')* '"'
//
// A field in quotes may hold delimiters and ends of lines, which are read as "\n".

namespace penstock::data {

struct CsvRecord {
  std::vector<std::string> fields;
  uint64_t offset = 0;  // where it begins
  int64_t line = 0;     // its number, from 1
};

// Reads the records of a file. Threads: one at a time.
class CsvReader {
 public:
  CsvReader(io::InputStream stream, char delimiter)
      : stream_(std::move(stream)), delimiter_(delimiter) {}

  // The next record that is no empty line; false at the end. InvalidArgument when a quote is not as
  // it should be: the record is then passed over.
  Result<bool> Next(CsvRecord* record);
  uint64_t offset() const { return stream_.offset(); }
  const std::string& path() const { return stream_.path(); }
  // "iris.csv: line 3 (offset 120)"
  std::string Place(const CsvRecord& record) const;

 private:
  // Splits what was read; false when a quote is still open.
  Result<bool> Split(const std::string& text, std::vector<std::string>* fields) const;

  io::InputStream stream_;
  const char delimiter_;
  int64_t line_ = 0;
};

}  // namespace penstock::data
