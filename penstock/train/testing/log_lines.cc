#include "penstock/train/testing/log_lines.h"

#include "penstock/core/log.h"

namespace penstock {

LogLines::LogLines() {
  SetLogSink([this](LogLevel, std::string_view line) { text_ += std::string(line) + "\n"; });
}

LogLines::~LogLines() { SetLogSink(nullptr); }

}  // namespace penstock
