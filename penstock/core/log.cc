#include "penstock/core/log.h"

#include <cstdio>
#include <cstdlib>

#include "penstock/core/mutex.h"

namespace penstock {
namespace {

struct Sink {
  Mutex mu;
  std::function<void(LogLevel, std::string_view)> function GUARDED_BY(mu);
};

Sink& ProcessSink() {
  static Sink* const sink = new Sink;
  return *sink;
}

int MinLevel() {
  const char* text = std::getenv("TF_CPP_MIN_LOG_LEVEL");
  return text == nullptr ? 0 : std::atoi(text);
}

}  // namespace

void Log(LogLevel level, std::string_view line) {
  if (static_cast<int>(level) < MinLevel()) return;
  Sink& sink = ProcessSink();
  MutexLock lock(sink.mu);
  if (sink.function) return sink.function(level, line);
  static constexpr const char* kNames[] = {"info", "warning", "error"};
  std::fprintf(stderr, "penstock: %s: %.*s\n", kNames[static_cast<int>(level)],
               static_cast<int>(line.size()), line.data());
}

void SetLogSink(std::function<void(LogLevel, std::string_view)> sink) {
  Sink& process = ProcessSink();
  MutexLock lock(process.mu);
  process.function = std::move(sink);
}

}  // namespace penstock
