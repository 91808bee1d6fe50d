#include "tests/conformance/case_files.h"

#include <algorithm>
#include <filesystem>

#include "penstock/io/record.h"

namespace penstock::conformance {

Result<std::vector<std::string>> FindRecordFiles(const std::string& directory,
                                                 const std::vector<std::string_view>& prefixes) {
  std::error_code error;
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().extension() != ".tfrecord") continue;
    const std::string name = entry.path().filename();
    const bool wanted = std::any_of(prefixes.begin(), prefixes.end(),
                                    [&](std::string_view p) { return name.starts_with(p); });
    if (wanted) paths.push_back(entry.path());
  }
  if (error) return NotFound("{}: {}", directory, error.message());
  std::sort(paths.begin(), paths.end());
  return paths;
}

Status ForEachRecord(const std::string& path,
                     const std::function<Status(const std::string& record)>& visit) {
  TRY_ASSIGN(io::RecordReader reader, io::RecordReader::Open(path));
  std::string record;
  while (true) {
    TRY_ASSIGN(const bool more, reader.Read(&record));
    if (!more) return OkStatus();
    TRY(visit(record));
  }
}

}  // namespace penstock::conformance
