#include "penstock/train/data/bad_record.h"

#include "penstock/core/log.h"

namespace penstock::data {

Status BadRecord(OnBadRecord choice, const Status& why, Counters& counters) {
  constexpr int64_t kReported = 10;
  if (choice == OnBadRecord::kFail) return why;
  const int64_t number = ++counters.bad_records;
  if (number <= kReported)
    Log(LogLevel::kWarning,
        Format("a bad record is left out: {}{}", why.message(),
               number == kReported ? " (further ones are counted, not reported)" : ""));
  return OkStatus();
}

}  // namespace penstock::data
