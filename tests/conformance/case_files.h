#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/status.h"
#include "penstock/proto/golden_case.pb.h"

namespace penstock::conformance {

// The files of `directory` whose name is one of the prefixes followed by "*.tfrecord", sorted.
// NotFound when the directory cannot be read.
Result<std::vector<std::string>> FindRecordFiles(const std::string& directory,
                                                 const std::vector<std::string_view>& prefixes);

// Calls `visit` with every record of the file. Stops at the first error, its own or the visitor's.
Status ForEachRecord(const std::string& path,
                     const std::function<Status(const std::string& record)>& visit);

// The same for files of one kind of message (golden_case.proto).
template <class Message>
Status ForEachCase(const std::string& path, const std::function<Status(const Message&)>& visit) {
  return ForEachRecord(path, [&](const std::string& record) -> Status {
    Message message;
    if (!message.ParseFromString(record)) return DataLoss("{}: a record does not parse", path);
    return visit(message);
  });
}

}  // namespace penstock::conformance
