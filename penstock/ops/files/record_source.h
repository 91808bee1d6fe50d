#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "penstock/core/status.h"
#include "penstock/io/compression.h"

namespace penstock::ops {

// Where in a work unit (a file) a source is: enough to go on from there.
struct SourcePosition {
  uint64_t offset = 0;  // bytes, after uncompressing
  uint64_t record = 0;  // records, lines
};

// The records of one work unit after the other.
// Threads: one at a time.
class RecordSource {
 public:
  virtual ~RecordSource() = default;

  // Begins with a work unit, at its beginning or at a position that was saved in it.
  virtual Status Open(const std::string& work, const SourcePosition* from) = 0;
  // The next record; false when there is none. `*last` is set when it is known that none follows.
  virtual Result<bool> Next(std::string* key, std::string* value, bool* last) = 0;
  virtual SourcePosition position() const { return {}; }
};

using MakeSource = std::function<std::unique_ptr<RecordSource>()>;

// Lines without their ends; keys are "file:line", counted from 1.
MakeSource TextLineSource(int64_t skip_header_lines,
                          io::Compression compression = io::Compression::kNone);
// Records of equal size that begin every `hop_bytes`; keys are "file:record".
struct FixedLengthSpec {
  int64_t header_bytes = 0;
  int64_t record_bytes = 0;
  int64_t footer_bytes = 0;
  int64_t hop_bytes = 0;  // 0: as record_bytes
  io::Compression compression = io::Compression::kNone;

  Status Check() const;
};
MakeSource FixedLengthSource(const FixedLengthSpec& spec);
// TFRecord files; keys are "file:offset".
MakeSource TfRecordSource(io::Compression compression);
// All of a file; its key is its name.
MakeSource WholeFileSource();
// The work unit itself.
MakeSource IdentitySource();

}  // namespace penstock::ops
