#include "penstock/session/stall_watch.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "penstock/core/log.h"

namespace penstock {

std::chrono::milliseconds StallLimitFromEnvironment() {
  const char* text = std::getenv("PENSTOCK_STALL_REPORT_MS");
  if (text == nullptr || *text == '\0') return std::chrono::milliseconds(0);
  int64_t value = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, value);
  constexpr int64_t kLongest = int64_t{1000} * 60 * 60 * 24 * 365;
  if (error != std::errc() || rest != end || value <= 0 || value > kLongest) {
    Log(LogLevel::kWarning,
        Format("PENSTOCK_STALL_REPORT_MS must be a positive number of milliseconds, got \"{}\": "
               "ignored",
               Printable(text)));
    return std::chrono::milliseconds(0);
  }
  return std::chrono::milliseconds(value);
}

StallWatch::~StallWatch() {
  MutexLock lock(mu_);
  stopped_ = true;  // the timer sets no alarm while it goes
}

void StallWatch::StepAdded() {
  if (!on()) return;
  MutexLock lock(mu_);
  if (!armed_) Arm();
}

void StallWatch::Arm() {
  armed_ = true;
  // Four looks a limit: a stall is reported at most a quarter late.
  const auto pause =
      std::max<std::chrono::steady_clock::duration>(limit_ / 4, std::chrono::milliseconds(1));
  timer_.Set(std::chrono::steady_clock::now() + pause, [this] { Look(); });
}

void StallWatch::Look() {
  bool stalled = false;
  bool idle = true;
  const auto now = std::chrono::steady_clock::now();
  {
    // With the lock: a step that is added now is seen, or arms anew.
    MutexLock lock(mu_);
    for (StepTable* table : tables_) {
      idle &= table->empty();
      stalled |= table->FindStalled(now, limit_);
    }
    armed_ = false;
    if (!idle && !stopped_) Arm();
  }
  if (stalled) {
    Log(LogLevel::kWarning,
        Format("a step made no progress for {}\n{}", DurationText(limit_), dump_()));
  }
}

}  // namespace penstock
