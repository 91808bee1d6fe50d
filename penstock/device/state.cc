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
  std::map<std::string, std::map<std::string, std::shared_ptr<Resource>>> containers;
  {
    MutexLock lock(mu_);
    for (const auto& [key, resource] : resources_) containers[key.first][key.second] = resource;
  }
  // Without the lock: a resource may take its time to describe itself.
  std::string out;
  for (const auto& [container, resources] : containers) {
    std::string lines;
    size_t sum = 0;
    for (const auto& [name, resource] : resources) {
      const size_t bytes = resource->MemoryBytes();
      sum += bytes;
      lines += Format("  {}/{}: {}, {} bytes\n", container, name, resource->DebugString(), bytes);
    }
    out += Format("container {}: {} resources, {} bytes\n", container, resources.size(), sum);
    out += lines;
  }
  return out;
}

}  // namespace penstock
