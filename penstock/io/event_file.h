#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/core/status.h"
#include "penstock/io/record.h"

// Event files, which TensorBoard follows while they grow. Messages are protobuf's; the number of a
// field stands before it.
//
//   file     = record file (record.h) of Events, of which the first is the version "brain.Event:2"
//   Event    = 1: wall_time:double  2: step:int64  one of
//              3: version  4: GraphDef  5: Summary (summary.h)  8: Metadata
//   Metadata = 1: tag  2: RunMetadata
//   name     = "events.out.tfevents." seconds "." host "." process "." number suffix

namespace penstock::io {

// What happened at one time.
struct Event {
  // The numbers of the fields.
  enum Kind : uint32_t { kVersion = 3, kGraph = 4, kSummary = 5, kRunMetadata = 8 };

  double wall_time = 0;  // seconds since 1970
  int64_t step = 0;
  Kind kind = kSummary;
  std::string content = {};
};

std::string SerializeEvent(const Event& event);
// DataLoss when the bytes are no Event, or of a kind that is not listed above.
Result<Event> ParseEvent(std::string_view bytes);

// The Metadata of a traced step; `step_stats` is a serialized StepStats.
std::string TaggedRunMetadata(std::string_view tag, std::string_view step_stats);

// Writes a new event file.
// Threads: one at a time. After an error the file may end inside a record, where readers stop:
// every later call returns that error again, and the events that follow belong in a new file.
class EventFile {
 public:
  // Makes the folder if there is none. Two files never get one name.
  static Result<EventFile> Create(const std::string& folder, std::string_view suffix = "");

  const std::string& path() const { return path_; }
  Status Add(const Event& event) { return writer_.Write(SerializeEvent(event)); }
  // Hands everything to the operating system: whole records, which survive the process.
  Status Flush() { return writer_.Flush(); }
  Status Close() { return writer_.Close(); }

 private:
  EventFile(std::string path, RecordWriter writer)
      : path_(std::move(path)), writer_(std::move(writer)) {}

  std::string path_;
  RecordWriter writer_;
};

// Seconds since 1970.
double WallTime();

}  // namespace penstock::io
