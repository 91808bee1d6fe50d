#include "penstock/io/object_names.h"

#include "penstock/proto/trackable_object_graph.pb.h"

namespace penstock::io {
namespace {

constexpr char kObjectGraph[] = "_CHECKPOINTABLE_OBJECT_GRAPH";
constexpr std::string_view kValue = "/.ATTRIBUTES/VARIABLE_VALUE";

}  // namespace

Result<std::map<std::string, std::string>> ObjectNames(const BundleReader& reader) {
  std::map<std::string, std::string> names;
  const Result<const BundleEntry*> entry = reader.Find(kObjectGraph);
  if (!entry.ok() || (*entry)->dtype != DType::kString || (*entry)->shape.num_elements() != 1)
    return names;
  TRY_ASSIGN(const Tensor bytes, reader.Read(kObjectGraph));
  tf::TrackableObjectGraph graph;
  if (!graph.ParseFromString(bytes.scalar<std::string>()))
    return DataLoss("the objects of the checkpoint do not parse");
  for (const auto& object : graph.nodes()) {
    for (const auto& attribute : object.attributes()) {
      const std::string& key = attribute.checkpoint_key();
      if (!reader.Find(key).ok()) continue;
      if (!attribute.full_name().empty()) names.try_emplace(attribute.full_name(), key);
      if (key.ends_with(kValue)) names.try_emplace(key.substr(0, key.size() - kValue.size()), key);
    }
  }
  return names;
}

}  // namespace penstock::io
