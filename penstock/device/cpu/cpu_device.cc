#include "penstock/device/cpu/caching_allocator.h"
#include "penstock/device/device.h"

namespace penstock {
namespace {

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(const CpuOptions& options)
      : name_(options.name),
        allocator_(CachingAllocator::New(options.memory_limit)),
        pool_(ThreadBudget(options.threads)),
        state_(std::make_shared<StateRegistry>()) {}
  ~CpuDevice() override { allocator_->Retire(); }

  const std::string& name() const override { return name_; }
  std::string_view type() const override { return "CPU"; }
  Allocator* allocator() const override { return allocator_; }
  ThreadPool* pool() const override { return &pool_; }
  const std::shared_ptr<StateRegistry>& state() const override { return state_; }

 private:
  const std::string name_;
  CachingAllocator* const allocator_;
  mutable ThreadPool pool_;
  const std::shared_ptr<StateRegistry> state_;
};

}  // namespace

std::shared_ptr<Device> MakeCpuDevice(const CpuOptions& options) {
  return std::make_shared<CpuDevice>(options);
}

}  // namespace penstock
