#include "penstock/device/kernel.h"

#include <map>

namespace penstock {

void Kernel::ComputeAsync(KernelContext& context, std::function<void(Status)> done) {
  done(Compute(context));
}

struct KernelRegistry::Table {
  std::map<std::pair<std::string, std::string>, KernelFactory> factories;
};

KernelRegistry::KernelRegistry() : table_(std::make_unique<Table>()) {}
KernelRegistry::~KernelRegistry() = default;

Status KernelRegistry::Add(std::string_view op, std::string_view device_type,
                           KernelFactory factory) {
  const bool added =
      table_->factories.emplace(std::pair(op, device_type), std::move(factory)).second;
  if (!added) return AlreadyExists("op {} has two kernels for {}", op, device_type);
  return OkStatus();
}

bool KernelRegistry::Has(std::string_view op, std::string_view device_type) const {
  return table_->factories.contains(std::pair<std::string, std::string>(op, device_type));
}

Result<std::unique_ptr<Kernel>> KernelRegistry::Create(std::string_view op,
                                                       std::string_view device_type,
                                                       const KernelRequest& request) const {
  const auto it = table_->factories.find(std::pair<std::string, std::string>(op, device_type));
  if (it == table_->factories.end())
    return NotFound("op {} has no kernel for device type {}", op, device_type);
  return it->second(request);
}

}  // namespace penstock
