#include "penstock/ops/special.h"

#include "penstock/ops/elementwise_blocks.h"

namespace penstock::ops {

void RegisterSpecial(Registrar& registrar, ElementwiseTable& table) {
  AddPlainBlocks(table, SpecialOps());
  AddElementwise(registrar, SpecialOps(), table);
}

}  // namespace penstock::ops
