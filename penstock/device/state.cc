#include "penstock/device/state.h"

namespace penstock {
namespace {

std::pair<std::string, std::string> Key(std::string_view container, std::string_view name) {
  return {std::string(container.empty() ? StateRegistry::kDefaultContainer : container),
          std::string(name)};
}

}  // namespace

std::string StateVariable::DebugString() const {
  const Tensor value = Read();
  return value.initialized() ? Format("variable {} {}", dtype_, value.shape())
                             : Format("variable {} (uninitialized)", dtype_);
}

size_t StateVariable::MemoryBytes() const {
  const Tensor value = Read();
  return value.initialized() ? value.bytes() : 0;
}

Result<std::shared_ptr<Resource>> StateRegistry::FindOrMakeResource(
    std::string_view container, std::string_view name,
    const std::function<std::shared_ptr<Resource>()>& make) {
  MutexLock lock(mu_);
  std::shared_ptr<Resource>& slot = resources_[Key(container, name)];
  if (slot == nullptr) slot = make();
  return slot;
}

std::shared_ptr<Resource> StateRegistry::Find(std::string_view container,
                                              std::string_view name) const {
  MutexLock lock(mu_);
  const auto it = resources_.find(Key(container, name));
  return it == resources_.end() ? nullptr : it->second;
}

Status StateRegistry::Remove(std::string_view container, std::string_view name) {
  MutexLock lock(mu_);
  if (resources_.erase(Key(container, name)) == 0)
    return NotFound("resource {}/{} does not exist", container, name);
  generation_.fetch_add(1, std::memory_order_release);
  return OkStatus();
}

void StateRegistry::Clear(std::string_view container) {
  const std::string wanted = Key(container, "").first;
  MutexLock lock(mu_);
  std::erase_if(resources_, [&](const auto& entry) { return entry.first.first == wanted; });
  generation_.fetch_add(1, std::memory_order_release);
}

std::vector<std::string> StateRegistry::Containers() const {
  std::vector<std::string> names;
  MutexLock lock(mu_);
  for (const auto& [key, resource] : resources_) {
    if (names.empty() || names.back() != key.first) names.push_back(key.first);
  }
  return names;
}

std::string StateRegistry::DebugString() const {
  std::string out;
  MutexLock lock(mu_);
  for (const auto& [key, resource] : resources_) {
    out += Format("{}/{}: {}, {} bytes\n", key.first, key.second, resource->DebugString(),
                  resource->MemoryBytes());
  }
  return out;
}

}  // namespace penstock
