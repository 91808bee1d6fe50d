#include "penstock/ops/bessel.h"

#include "penstock/ops/elementwise_blocks.h"

namespace penstock::ops {

void RegisterBessel(Registrar& registrar, ElementwiseTable& table) {
  AddPlainBlocks(table, BesselOps());
  AddElementwise(registrar, BesselOps(), table);
}

}  // namespace penstock::ops
