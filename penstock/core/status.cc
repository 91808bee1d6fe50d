#include "penstock/core/status.h"

namespace penstock {

std::string_view ToString(Code code) {
  switch (code) {
    case Code::kOk:
      return "OK";
    case Code::kCancelled:
      return "CANCELLED";
    case Code::kUnknown:
      return "UNKNOWN";
    case Code::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case Code::kDeadlineExceeded:
      return "DEADLINE_EXCEEDED";
    case Code::kNotFound:
      return "NOT_FOUND";
    case Code::kAlreadyExists:
      return "ALREADY_EXISTS";
    case Code::kPermissionDenied:
      return "PERMISSION_DENIED";
    case Code::kResourceExhausted:
      return "RESOURCE_EXHAUSTED";
    case Code::kFailedPrecondition:
      return "FAILED_PRECONDITION";
    case Code::kAborted:
      return "ABORTED";
    case Code::kOutOfRange:
      return "OUT_OF_RANGE";
    case Code::kUnimplemented:
      return "UNIMPLEMENTED";
    case Code::kInternal:
      return "INTERNAL";
    case Code::kUnavailable:
      return "UNAVAILABLE";
    case Code::kDataLoss:
      return "DATA_LOSS";
    case Code::kUnauthenticated:
      return "UNAUTHENTICATED";
  }
  return "UNKNOWN";
}

Status::Status(Code code, std::string message) {
  if (code == Code::kOk) return;
  if (message.size() > kMaxMessageBytes) {
    message.resize(kMaxMessageBytes);
    message.append("...");
  }
  rep_ = new Rep{code, std::move(message)};
}

Status::Status(Code code, std::string_view pattern, std::initializer_list<FormatArg> args)
    : Status(code, FormatText(pattern, args)) {}

const Status::Rep* Status::Copy(const Rep* rep) { return new Rep(*rep); }

void Status::Free(const Rep* rep) { delete rep; }

const std::string& Status::message() const {
  static const std::string kEmpty;
  return rep_ ? rep_->message : kEmpty;
}

Status Status::Annotate(std::string_view context) const {
  if (ok()) return *this;
  return Status(rep_->code, std::string(context) + ": " + rep_->message);
}

std::string Status::ToString() const {
  if (ok()) return "OK";
  return std::string(penstock::ToString(rep_->code)) + ": " + rep_->message;
}

}  // namespace penstock
