#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace penstock {

enum class LogLevel { kInfo = 0, kWarning = 1, kError = 2 };

// Writes one line to the process-wide sink (standard error unless set). TF_CPP_MIN_LOG_LEVEL hides
// lower levels.
void Log(LogLevel level, std::string_view line);

// Replaces the sink; an empty function restores standard error.
// Threads: may be called at any time; the sink is called by one thread at a time.
void SetLogSink(std::function<void(LogLevel, std::string_view)> sink);

}  // namespace penstock
