#include "penstock/train/save/background.h"

#include <system_error>
#include <utility>

#include "penstock/core/log.h"

namespace penstock {

Background::~Background() {
  if (const Status status = Wait(); !status.ok()) Log(LogLevel::kError, status.ToString());
}

Status Background::Wait() {
  if (thread_.joinable()) thread_.join();
  return std::exchange(status_, OkStatus()).Annotate(name_);
}

Status Background::Start(std::string name, std::function<Status()> task) {
  name_ = std::move(name);
  running_.store(true, std::memory_order_release);
  try {
    thread_ = std::thread([this, task = std::move(task)]() mutable {
      status_ = task();
      task = nullptr;  // lets go of what it holds
      running_.store(false, std::memory_order_release);
    });
  } catch (const std::system_error& error) {
    running_.store(false, std::memory_order_release);
    return ResourceExhausted("{}: no thread: {}", name_, error.what());
  }
  return OkStatus();
}

}  // namespace penstock
