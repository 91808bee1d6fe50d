#pragma once

#include <memory>
#include <string>

#include "penstock/core/status.h"
#include "penstock/graph/attr_value.h"
#include "penstock/graph/tensor_proto.h"

namespace google::protobuf {
template <class Key, class T>
class Map;
}  // namespace google::protobuf
namespace penstock::tf {
class AttrValue;
class NodeDef;
}  // namespace penstock::tf

namespace penstock {

using AttrMessages = google::protobuf::Map<std::string, tf::AttrValue>;

// What becomes of a value of a kind or dtype that we do not know.
enum class UnknownValues {
  kError,  // of a node: its op would need the value
  kKeep,   // of a function or a default: as AttrValue::Opaque, nobody may ever ask for it
};

Result<AttrValue> AttrFromProto(const tf::AttrValue& proto, UnknownValues unknown,
                                ImportBudget* budget);
Status AttrToProto(const AttrValue& value, tf::AttrValue* proto);

// Reads attributes, sorted by name. Those that begin with '_' are kept whatever they hold. Messages
// that say more than an AttrValue can (unknown fields, names of dimensions) are added to `rest` as
// well.
Status AttrsFromProto(const AttrMessages& proto, UnknownValues unknown, ImportBudget* budget,
                      AttrMap* attrs, AttrMessages* rest);
// The inverse. On entry `proto` holds what went to `rest`: messages that still mean the same value
// stay as they are.
Status AttrsToProto(const AttrMap& attrs, AttrMessages* proto);

// Reads the attributes of a node. `extra` gets, as bytes of a NodeDef, what neither name, op,
// inputs, device nor attributes say; null when that is nothing.
Status ReadNodeDef(const tf::NodeDef& proto, UnknownValues unknown, ImportBudget* budget,
                   AttrMap* attrs, std::shared_ptr<const std::string>* extra);
// Writes what ReadNodeDef read. REQUIRES: `proto` is empty.
Status WriteNodeDef(const AttrMap& attrs, const std::shared_ptr<const std::string>& extra,
                    tf::NodeDef* proto);

}  // namespace penstock
