#include "penstock/graph/wire.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <climits>

#if GOOGLE_PROTOBUF_VERSION < 4000000
#include <google/protobuf/stubs/logging.h>
#endif

namespace penstock {
namespace {

namespace gp = google::protobuf;

constexpr int kMaxDepth = 100;  // protobuf's own limit for bytes; it has none for text

// Keeps the first error.
class FirstError final : public gp::io::ErrorCollector {
 public:
  void AddError(int line, gp::io::ColumnNumber column, const std::string& message) override {
    if (text_.empty())
      text_ = Format("line {}, column {}: {}", line + 1, column + 1, Printable(message));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// protobuf logs strings that are no UTF-8, line by line as a peer pleases: the Status says enough.
#if GOOGLE_PROTOBUF_VERSION < 4000000
using Silence = gp::LogSilencer;
#else
struct Silence {
  ~Silence() {}
};
#endif

}  // namespace

Status FromWire(std::string_view wire, int64_t max_bytes, gp::Message* message) {
  const int64_t limit = std::min<int64_t>(max_bytes, INT_MAX);
  if (static_cast<int64_t>(wire.size()) > limit) {
    return InvalidArgument("a {} may have {} bytes, got {}", message->GetDescriptor()->name(),
                           limit, wire.size());
  }
  const Silence silence;
  if (!message->ParseFromArray(wire.data(), static_cast<int>(wire.size()))) {
    return InvalidArgument("{} bytes are no {}", wire.size(), message->GetDescriptor()->name());
  }
  return OkStatus();
}

Result<std::string> ToWire(const gp::Message& message) {
  const size_t bytes = message.ByteSizeLong();
  if (bytes > static_cast<size_t>(INT_MAX)) {
    return InvalidArgument("a {} of {} bytes is longer than protobuf allows",
                           message.GetDescriptor()->name(), bytes);
  }
  std::string wire;
  wire.reserve(bytes);
  gp::io::StringOutputStream stream(&wire);
  gp::io::CodedOutputStream out(&stream);
  out.SetSerializationDeterministic(true);
  message.SerializeWithCachedSizes(&out);
  out.Trim();
  return wire;
}

Status FromText(std::string_view text, gp::Message* message) {
  gp::io::ArrayInputStream stream(text.data(),
                                  static_cast<int>(std::min<size_t>(text.size(), INT_MAX)));
  FirstError error;
  gp::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(kMaxDepth);
  if (text.size() > static_cast<size_t>(INT_MAX) || !parser.Parse(&stream, message)) {
    return InvalidArgument("the text is no {}: {}", message->GetDescriptor()->name(), error.text());
  }
  return OkStatus();
}

bool HasUnknownFields(const gp::Message& message) {
  return !message.GetReflection()->GetUnknownFields(message).empty();
}

void CopyUnknownFields(const gp::Message& from, gp::Message* to) {
  to->GetReflection()->MutableUnknownFields(to)->MergeFrom(
      from.GetReflection()->GetUnknownFields(from));
}

}  // namespace penstock
