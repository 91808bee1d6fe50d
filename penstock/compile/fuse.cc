#include "penstock/compile/passes.h"

namespace penstock {

// Fuses nothing yet.
Status FuseElementwise(Graph&) { return OkStatus(); }

}  // namespace penstock
