#include "penstock/client/ops.h"

namespace penstock::client_internal {

#define PENSTOCK_TYPED_OP(Name, op) template AttrMap EncodeAttrs<ops::op>(const void*);
PENSTOCK_TYPED_OPS(PENSTOCK_TYPED_OP)
#undef PENSTOCK_TYPED_OP

}  // namespace penstock::client_internal
