#include "penstock/graph/registry.h"

#include <algorithm>

namespace penstock {

OpInfo::OpInfo() = default;
OpInfo::OpInfo(OpInfo&&) noexcept = default;
OpInfo::OpInfo(const OpInfo&) = default;
OpInfo& OpInfo::operator=(const OpInfo&) = default;
OpInfo::~OpInfo() = default;

Status OpRegistry::Add(OpInfo info) {
  std::string name = info.def.name;
  const bool added = ops_.emplace(name, std::make_unique<OpInfo>(std::move(info))).second;
  if (!added) return AlreadyExists("op {} is registered twice", name);
  return OkStatus();
}

const OpInfo* OpRegistry::Find(std::string_view name) const {
  const auto it = ops_.find(std::string(name));
  return it == ops_.end() ? nullptr : it->second.get();
}

std::vector<std::string> OpRegistry::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, info] : ops_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace penstock
