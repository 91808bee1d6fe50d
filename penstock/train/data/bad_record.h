#pragma once

#include "penstock/train/data/stage.h"

namespace penstock {

// What becomes of a record that cannot be read.
enum class OnBadRecord {
  kFail,  // its error ends the reading
  kSkip,  // it is left out, counted (DataStats) and, the first few, reported on the log
};

namespace data {

// Reports a bad record; `why` names its file and offset. OK when it is to be left out.
Status BadRecord(OnBadRecord choice, const Status& why, Counters& counters);

}  // namespace data
}  // namespace penstock
