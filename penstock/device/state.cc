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

void StateRegistry::MarkDropped(Resource& resource) {
  if (auto* variable = dynamic_cast<StateVariable*>(&resource)) {
    variable->dropped_.store(true, std::memory_order_release);
  }
}

Status StateRegistry::Remove(std::string_view container, std::string_view name) {
  std::shared_ptr<Resource> removed;  // destroyed without the lock: its destructor is not ours
  MutexLock lock(mu_);
  const auto it = resources_.find(Key(container, name));
  if (it == resources_.end()) {
    return NotFound("resource {}/{} does not exist", Printable(container), Printable(name));
  }
  removed = std::move(it->second);
  resources_.erase(it);
  MarkDropped(*removed);
  generation_.fetch_add(1, std::memory_order_release);
  return OkStatus();
}

void StateRegistry::Clear(std::string_view container) {
  const std::string wanted = Key(container, "").first;
  std::vector<std::shared_ptr<Resource>> removed;
  MutexLock lock(mu_);
  for (auto it = resources_.begin(); it != resources_.end();) {
    if (it->first.first != wanted) {
      ++it;
      continue;
    }
    MarkDropped(*it->second);
    removed.push_back(std::move(it->second));
    it = resources_.erase(it);
  }
  generation_.fetch_add(1, std::memory_order_release);
}

std::map<std::string, size_t> StateRegistry::MemoryByContainer() const {
  std::vector<std::pair<std::string, std::shared_ptr<Resource>>> all;
  {
    MutexLock lock(mu_);
    for (const auto& [key, resource] : resources_) all.emplace_back(key.first, resource);
  }
  // Resources lock themselves, some for long: nobody waits for the registry meanwhile.
  std::map<std::string, size_t> bytes;
  for (const auto& [container, resource] : all) bytes[container] += resource->MemoryBytes();
  return bytes;
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
