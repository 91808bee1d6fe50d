#include "penstock/io/event_file.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <utility>

#include "penstock/io/file_tree.h"
#include "penstock/io/wire_reader.h"
#include "penstock/io/wire_writer.h"

namespace penstock::io {
namespace {

constexpr char kFileVersion[] = "brain.Event:2";

std::string HostName() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
  std::string host(name);
  std::replace(host.begin(), host.end(), '/', '_');
  return host;
}

std::string FileName(std::string_view suffix) {
  static std::atomic<int64_t> number{0};
  return Format("events.out.tfevents.{}.{}.{}.{}{}", static_cast<int64_t>(WallTime()), HostName(),
                getpid(), number++, suffix);
}

bool IsContent(const WireReader& reader) {
  for (const Event::Kind kind :
       {Event::kVersion, Event::kGraph, Event::kSummary, Event::kRunMetadata})
    if (reader.Is(kind, WireReader::kBytes)) return true;
  return false;
}

}  // namespace

double WallTime() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

std::string SerializeEvent(const Event& event) {
  WireWriter writer;
  if (event.wall_time != 0) writer.Double(1, event.wall_time);
  if (event.step != 0) writer.Varint(2, static_cast<uint64_t>(event.step));
  return writer.Bytes(event.kind, event.content).text();
}

Result<Event> ParseEvent(std::string_view bytes) {
  Event event;
  bool has_content = false;
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.Is(1, WireReader::kFixed64))
      event.wall_time = std::bit_cast<double>(reader.number());
    if (reader.Is(2, WireReader::kVarint)) event.step = static_cast<int64_t>(reader.number());
    if (!IsContent(reader)) continue;
    event.kind = static_cast<Event::Kind>(reader.field());
    event.content = reader.bytes();
    has_content = true;
  }
  if (!reader.ok() || !has_content) return DataLoss("{} bytes are no event", bytes.size());
  return event;
}

std::string TaggedRunMetadata(std::string_view tag, std::string_view step_stats) {
  const WireWriter metadata = WireWriter().Bytes(1, step_stats);
  return WireWriter().Bytes(1, tag).Bytes(2, metadata.text()).text();
}

Result<EventFile> EventFile::Create(const std::string& folder, std::string_view suffix) {
  TRY(MakeFolders(folder));
  std::string path = folder + "/" + FileName(suffix);
  TRY_ASSIGN(RecordWriter writer, RecordWriter::Open(path));
  EventFile file(std::move(path), std::move(writer));
  TRY(file.Add({.wall_time = WallTime(), .kind = Event::kVersion, .content = kFileVersion}));
  // A reader that comes now finds an event file, and a folder that takes no bytes shows at once.
  TRY(file.Flush());
  return file;
}

}  // namespace penstock::io
