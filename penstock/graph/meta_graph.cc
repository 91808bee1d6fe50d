#include "penstock/graph/meta_graph.h"

#include <google/protobuf/arena.h>

#include <limits>
#include <utility>

#include "penstock/graph/graph_def.h"
#include "penstock/graph/wire.h"
#include "penstock/proto/meta_graph.pb.h"

namespace penstock {
namespace {

constexpr int64_t kAnySize = std::numeric_limits<int64_t>::max();

std::map<std::string, std::string> TensorNames(
    const google::protobuf::Map<std::string, tf::TensorInfo>& infos) {
  std::map<std::string, std::string> names;
  for (const auto& [key, info] : infos) {
    if (!info.name().empty()) names[key] = info.name();
  }
  return names;
}

}  // namespace

Result<std::vector<std::string>> MetaGraph::Tags() const {
  tf::MetaGraphDef proto;
  TRY(FromWire(rest, kAnySize, &proto));
  const auto& tags = proto.meta_info_def().tags();
  return std::vector<std::string>(tags.begin(), tags.end());
}

Result<std::map<std::string, GraphSignature>> MetaGraph::Signatures() const {
  tf::MetaGraphDef proto;
  TRY(FromWire(rest, kAnySize, &proto));
  std::map<std::string, GraphSignature> signatures;
  for (const auto& [name, def] : proto.signature_def()) {
    signatures[name] = {TensorNames(def.inputs()), TensorNames(def.outputs()), def.method_name()};
  }
  return signatures;
}

Result<MetaGraph> MetaGraphFromProto(const tf::MetaGraphDef& proto, const OpRegistry& registry,
                                     const ImportLimits& limits) {
  TRY_ASSIGN(Graph graph, GraphFromProto(proto.graph_def(), registry, limits));
  // Field by field: copying the whole first would double what a large graph takes.
  tf::MetaGraphDef rest;
  if (proto.has_meta_info_def()) *rest.mutable_meta_info_def() = proto.meta_info_def();
  if (proto.has_graph_def()) rest.mutable_graph_def();
  if (proto.has_saver_def()) *rest.mutable_saver_def() = proto.saver_def();
  *rest.mutable_collection_def() = proto.collection_def();
  *rest.mutable_signature_def() = proto.signature_def();
  *rest.mutable_asset_file_def() = proto.asset_file_def();
  if (proto.has_object_graph_def()) *rest.mutable_object_graph_def() = proto.object_graph_def();
  CopyUnknownFields(proto, &rest);
  TRY_ASSIGN(std::string wire, ToWire(rest));
  return MetaGraph{std::move(graph), std::move(wire)};
}

Result<MetaGraph> ParseMetaGraphDef(std::string_view wire, const OpRegistry& registry,
                                    const ImportLimits& limits) {
  google::protobuf::Arena arena;
  auto* proto = google::protobuf::Arena::CreateMessage<tf::MetaGraphDef>(&arena);
  TRY(FromWire(wire, limits.max_wire_bytes, proto));
  return MetaGraphFromProto(*proto, registry, limits);
}

Status MetaGraphToProto(const MetaGraph& meta, tf::MetaGraphDef* proto) {
  proto->Clear();
  TRY(FromWire(meta.rest, kAnySize, proto));
  return GraphToProto(meta.graph, proto->mutable_graph_def());
}

Result<std::string> SerializeMetaGraphDef(const MetaGraph& meta) {
  google::protobuf::Arena arena;
  auto* proto = google::protobuf::Arena::CreateMessage<tf::MetaGraphDef>(&arena);
  TRY(MetaGraphToProto(meta, proto));
  return ToWire(*proto);
}

}  // namespace penstock
