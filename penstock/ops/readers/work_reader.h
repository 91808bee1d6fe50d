#pragma once

#include <functional>
#include <memory>
#include <string>

#include "penstock/core/status.h"

namespace penstock::ops {

// Reads the records of one work unit, which is usually a file.
// Threads: one at a time.
class WorkReader {
 public:
  virtual ~WorkReader() = default;
  // The next record, and a key that says where it was; false at the end.
  virtual Result<bool> Read(std::string* key, std::string* value) = 0;
};

// Opens a work unit by its name.
using WorkOpener = std::function<Result<std::unique_ptr<WorkReader>>(const std::string& work)>;

// The work unit itself, and the whole of the file that it names.
WorkOpener IdentityOpener();
WorkOpener WholeFileOpener();
WorkOpener TextLineOpener(int64_t skip_header_lines);
WorkOpener RecordOpener();
// Pieces of `record` bytes, each `hop` bytes after the one before.
WorkOpener FixedLengthOpener(int64_t header, int64_t record, int64_t footer, int64_t hop);

}  // namespace penstock::ops
