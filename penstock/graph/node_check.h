#pragma once

#include <vector>

#include "penstock/graph/attr_value.h"
#include "penstock/graph/op_def.h"
#include "penstock/graph/registry.h"

namespace penstock {

// Completes `attrs` against `def`: infers type, length and type-list attributes from the dtypes of
// the inputs, fills defaults, and checks kind, allowed values and minimum of each. Attributes whose
// name begins with '_' are kept unread. The error names the attribute.
Status CompleteAttrs(const OpDef& def, const std::vector<DType>& input_types, AttrMap* attrs);

// Expands the arguments of `def` under complete attributes. Fails when a length is negative or
// absurd.
Result<NodeTypes> ExpandTypes(const OpDef& def, const AttrMap& attrs);

}  // namespace penstock
