#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/status.h"
#include "penstock/graph/op_def.h"

namespace penstock::tf {
class OpDef;
}  // namespace penstock::tf

namespace penstock {

// Descriptions, deprecation, full types and handle data are left out: OpDef has no place for them.
// Types that we do not have are left out of lists of allowed types.
Result<OpDef> OpDefFromProto(const tf::OpDef& proto);
Status OpDefToProto(const OpDef& def, tf::OpDef* proto);

// Reads an OpList in text form, such as TensorFlow's ops.pbtxt.
Result<std::vector<OpDef>> ParseOpListText(std::string_view text);

// Lists in what `ours` is not the op that `theirs` describes, one sentence each; nothing when it
// is. Names, order and types of arguments and the flags must be equal; attributes may come in any
// order and must agree in kind, default and minimum. We may allow fewer types or strings, never
// more.
std::vector<std::string> CompareOpDefs(const OpDef& ours, const OpDef& theirs);

}  // namespace penstock
