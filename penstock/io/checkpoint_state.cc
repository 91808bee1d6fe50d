#include "penstock/io/checkpoint_state.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "penstock/io/crc32c.h"
#include "penstock/io/file_tree.h"
#include "penstock/proto/checkpoint_state.pb.h"

namespace penstock::io {
namespace {

constexpr uint64_t kMaxBytes = 64 << 20;
constexpr std::string_view kCrcLine = "# crc32c ";
constexpr std::string_view kMetricLine = "# metric \"";

// Errors of the text go nowhere: they would name lines of a file that is damaged anyway.
class NoErrors final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int, int, const std::string&) override {}
};

std::string HexOf(uint32_t crc) {
  char text[16];
  std::snprintf(text, sizeof text, "%08x", crc);
  return text;
}

// Without the checksum's line, which must be right where it is there.
Result<std::string_view> WithoutCrc(std::string_view text, std::string_view path) {
  const size_t at = text.rfind(kCrcLine);
  if (at == std::string_view::npos) {
    // What has metrics had a checksum.
    if (text.find(kMetricLine) == std::string_view::npos) return text;
    return DataLoss("{}: the file was cut", Printable(path));
  }
  if (text.substr(at + kCrcLine.size()) != HexOf(Crc32c(text.substr(0, at))) + "\n")
    return DataLoss("{}: checksum does not match", Printable(path));
  return text.substr(0, at);
}

// '# metric "prefix" value' of a line.
void ReadMetric(std::string_view line, CheckpointState* state) {
  if (!line.starts_with(kMetricLine)) return;
  line.remove_prefix(kMetricLine.size());
  const size_t quote = line.rfind("\" ");
  if (quote == std::string_view::npos) return;
  CheckpointRecord* record = state->Find(std::string(line.substr(0, quote)));
  double value = 0;
  const char* const begin = line.data() + quote + 2;
  const auto [end, error] = std::from_chars(begin, line.data() + line.size(), value);
  if (record != nullptr && error == std::errc()) record->metric = value;
}

}  // namespace

CheckpointRecord* CheckpointState::Find(const std::string& prefix) {
  const auto found = std::ranges::find(all, prefix, &CheckpointRecord::prefix);
  return found == all.end() ? nullptr : &*found;
}

Result<CheckpointState> ReadCheckpointState(const std::string& path) {
  TRY_ASSIGN(const std::string text, ReadWholeFile(path, kMaxBytes));
  return ParseCheckpointState(text, path);
}

Result<CheckpointState> ParseCheckpointState(std::string_view whole, std::string_view path) {
  TRY_ASSIGN(const std::string_view text, WithoutCrc(whole, path));
  tf::CheckpointState proto;
  NoErrors no_errors;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&no_errors);
  parser.AllowUnknownField(true);
  if (!parser.ParseFromString(std::string(text), &proto) || proto.model_checkpoint_path().empty())
    return DataLoss("{}: does not parse as the state of checkpoints", Printable(path));
  CheckpointState state;
  state.latest = proto.model_checkpoint_path();
  state.last_preserved_seconds = proto.last_preserved_timestamp();
  for (int i = 0; i < proto.all_model_checkpoint_paths_size(); ++i) {
    CheckpointRecord& record = state.all.emplace_back();
    record.prefix = proto.all_model_checkpoint_paths(i);
    if (i < proto.all_model_checkpoint_timestamps_size())
      record.seconds = proto.all_model_checkpoint_timestamps(i);
  }
  for (std::string_view left = text; !left.empty();) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(line.size() + 1, left.size()));
    ReadMetric(line, &state);
  }
  return state;
}

std::string CheckpointStateText(const CheckpointState& state) {
  tf::CheckpointState proto;
  proto.set_model_checkpoint_path(state.latest);
  proto.set_last_preserved_timestamp(state.last_preserved_seconds);
  std::string metrics;
  for (const CheckpointRecord& record : state.all) {
    proto.add_all_model_checkpoint_paths(record.prefix);
    proto.add_all_model_checkpoint_timestamps(record.seconds);
    if (!record.metric.has_value() || record.prefix.find('\n') != std::string::npos) continue;
    char value[40];
    std::snprintf(value, sizeof value, "%.17g", *record.metric);
    metrics += Format("{}{}\" {}\n", kMetricLine, record.prefix, value);
  }
  std::string text;
  google::protobuf::TextFormat::PrintToString(proto, &text);
  text += metrics;
  return text + std::string(kCrcLine) + HexOf(Crc32c(text)) + "\n";
}

Status WriteCheckpointState(const std::string& path, const CheckpointState& state) {
  return WriteFileAtomically(path, CheckpointStateText(state));
}

}  // namespace penstock::io
