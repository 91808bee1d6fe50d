#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/io/record_scan.h"
#include "penstock/train/data/tf_examples.h"

namespace penstock::data {

struct RecordSet {
  std::vector<std::string> files;
  RecordOptions options;

  // "a.tfrecord", "a.tfrecord and 3 more": in the order they are read.
  std::string Describe() const;
};

// The records of several files, one after the other. What cannot be read is reported as the options
// say; a file of which a length is damaged, or that is cut, is left at that record.
// Threads: one at a time.
class RecordFiles {
 public:
  RecordFiles(std::shared_ptr<const RecordSet> set, Pass pass)
      : set_(std::move(set)), pass_(std::move(pass)) {}

  // The next record, of which the data fit their checksum unless `unchecked`; false at the end.
  Result<bool> Next(io::RecordScanner::Record* record, bool unchecked = false);
  // The file that the last record came from, and an error with its place.
  size_t file() const { return file_; }
  Status At(uint64_t offset, const Status& why) const { return At(file_, offset, why); }
  Status At(size_t file, uint64_t offset, const Status& why) const;
  // Leaves the last record out, or fails.
  Status Reject(uint64_t offset, const Status& why) const {
    return BadRecord(set_->options.on_bad, At(offset, why), *pass_.counters);
  }

 private:
  const std::shared_ptr<const RecordSet> set_;
  const Pass pass_;
  std::optional<io::RecordScanner> scanner_;
  size_t file_ = 0;
};

}  // namespace penstock::data
