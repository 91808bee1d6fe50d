#include "penstock/compile/passes.h"

namespace penstock {

// Merges nothing yet.
Status MergeCommonSubexpressions(Graph&) { return OkStatus(); }

}  // namespace penstock
