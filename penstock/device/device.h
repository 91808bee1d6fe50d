#pragma once

#include <memory>
#include <string>

#include "penstock/core/allocator.h"
#include "penstock/core/thread_pool.h"
#include "penstock/device/state.h"

namespace penstock {

// Where nodes run: a name, a type, an allocator, threads and the state that its nodes own.
// Threads: all methods may be called concurrently.
class Device {
 public:
  virtual ~Device() = default;
  virtual const std::string& name() const = 0;  // "/job:localhost/replica:0/task:0/device:CPU:0"
  virtual std::string_view type() const = 0;    // "CPU"
  virtual Allocator* allocator() const = 0;
  virtual ThreadPool* pool() const = 0;
  // Shared by all sessions on this device.
  virtual const std::shared_ptr<StateRegistry>& state() const = 0;
};

struct CpuOptions {
  int threads = 0;           // 0: ThreadBudget()
  int64_t memory_limit = 0;  // bytes; 0: none
  std::string name = "/job:localhost/replica:0/task:0/device:CPU:0";
};
std::shared_ptr<Device> MakeCpuDevice(const CpuOptions& options = {});

}  // namespace penstock
