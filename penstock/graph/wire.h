#pragma once

#include <string>
#include <string_view>

#include "penstock/core/status.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace penstock {

// Messages as bytes and as text, for the readers and writers of this room. Errors name the type of
// the message.

// Parses `wire`, at most `max_bytes` long. The depth of nesting is limited by protobuf (100).
Status FromWire(std::string_view wire, int64_t max_bytes, google::protobuf::Message* message);
// Equal messages give equal bytes: maps are sorted.
Result<std::string> ToWire(const google::protobuf::Message& message);
// The error says line and column.
Status FromText(std::string_view text, google::protobuf::Message* message);

// True when the message came with fields that its type does not have. Messages inside it are not
// looked at.
bool HasUnknownFields(const google::protobuf::Message& message);
// Moves such fields over, and back.
void CopyUnknownFields(const google::protobuf::Message& from, google::protobuf::Message* to);

}  // namespace penstock
