#include "penstock/transport/rendezvous.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <deque>
#include <unordered_map>
#include <utility>

#include "penstock/core/mutex.h"

namespace penstock {
namespace {

// One receiver. All but the constants are guarded by the table's lock.
struct Receiver {
  // Constant after construction.
  std::string key;
  Rendezvous::RecvDone done;
  Cancellation* cancellation = nullptr;
  Cancellation::Token token = 0;

  enum class State { kNew, kWaiting, kCancelledEarly, kCompleted };
  State state = State::kNew;
};

struct Value {
  Tensor tensor;
  bool is_dead = false;
};

// Invariant: a slot has values or receivers, never both, and is dropped when it has neither.
struct Slot {
  std::deque<Value> values;
  std::deque<std::shared_ptr<Receiver>> receivers;
};

// Calls back, after which the step that waited may be gone.
void Complete(const Receiver& receiver, const Status& status, Value value) {
  // Whether it was still registered does not matter: the callback finds the receiver completed.
  if (receiver.token != 0) (void)receiver.cancellation->Deregister(receiver.token);
  receiver.done(status, std::move(value.tensor), value.is_dead);
}

// What was sent or is waited for. Shared with the callbacks of cancellations: one that is under way
// when the rendezvous goes finds it still there.
class Table {
 public:
  Status Send(const std::string& key, Value value) {
    std::shared_ptr<Receiver> receiver;
    {
      MutexLock lock(mu_);
      if (!aborted_.ok()) return aborted_;
      Slot& slot = slots_[key];
      if (slot.receivers.empty()) {
        slot.values.push_back(std::move(value));
        return OkStatus();
      }
      receiver = std::move(slot.receivers.front());
      receiver->state = Receiver::State::kCompleted;
      slot.receivers.pop_front();
      if (slot.receivers.empty()) slots_.erase(key);
    }
    Complete(*receiver, OkStatus(), std::move(value));
    return OkStatus();
  }

  // Completes the receiver now or keeps it.
  void Receive(const std::shared_ptr<Receiver>& receiver) {
    Value value;
    Status status;
    {
      MutexLock lock(mu_);
      if (receiver->state == Receiver::State::kCancelledEarly) {
        status = receiver->cancellation->status();
      } else if (!aborted_.ok()) {
        status = aborted_;
      } else {
        Slot& slot = slots_[receiver->key];
        if (slot.values.empty()) {
          receiver->state = Receiver::State::kWaiting;
          slot.receivers.push_back(receiver);
          return;
        }
        value = std::move(slot.values.front());
        slot.values.pop_front();
        if (slot.values.empty()) slots_.erase(receiver->key);
      }
      receiver->state = Receiver::State::kCompleted;
    }
    Complete(*receiver, status, std::move(value));
  }

  void Cancel(const std::shared_ptr<Receiver>& receiver) {
    {
      MutexLock lock(mu_);
      if (receiver->state == Receiver::State::kNew) {
        receiver->state = Receiver::State::kCancelledEarly;  // Receive sees to it
        return;
      }
      if (receiver->state != Receiver::State::kWaiting) return;
      receiver->state = Receiver::State::kCompleted;
      Slot& slot = slots_[receiver->key];
      slot.receivers.erase(std::find(slot.receivers.begin(), slot.receivers.end(), receiver));
      if (slot.receivers.empty()) slots_.erase(receiver->key);
    }
    Complete(*receiver, receiver->cancellation->status(), {});
  }

  void Abort(Status why) {
    if (why.ok()) why = Cancelled("the rendezvous was aborted");
    std::unordered_map<std::string, Slot> slots;
    {
      MutexLock lock(mu_);
      if (!aborted_.ok()) return;
      aborted_ = why;
      slots.swap(slots_);
      for (auto& [key, slot] : slots) {
        for (auto& receiver : slot.receivers) receiver->state = Receiver::State::kCompleted;
      }
    }
    for (auto& [key, slot] : slots) {
      for (auto& receiver : slot.receivers) Complete(*receiver, why, {});
    }
  }

 private:
  Mutex mu_;
  std::unordered_map<std::string, Slot> slots_ GUARDED_BY(mu_);
  Status aborted_ GUARDED_BY(mu_);
};

class LocalRendezvous final : public Rendezvous {
 public:
  ~LocalRendezvous() override { table_->Abort(Cancelled("the step has ended")); }

  Status Send(const std::string& key, Tensor value, bool is_dead) override {
    return table_->Send(key, {std::move(value), is_dead});
  }
  void RecvAsync(const std::string& key, Cancellation* cancellation, RecvDone done) override {
    // Kept here while the callback runs, which may end the step and with it this rendezvous.
    const std::shared_ptr<Table> table = table_;
    auto receiver = std::make_shared<Receiver>();
    receiver->key = key;
    receiver->done = std::move(done);
    receiver->cancellation = cancellation;
    // Before it can be completed: afterwards the cancellation may be gone.
    if (cancellation != nullptr) {
      receiver->token = cancellation->Register([table, receiver] { table->Cancel(receiver); });
      if (receiver->token == 0) {
        receiver->done(cancellation->status(), Tensor(), false);
        return;
      }
    }
    table->Receive(receiver);
  }
  void Abort(const Status& why) override {
    const std::shared_ptr<Table> table = table_;
    table->Abort(why);
  }

 private:
  const std::shared_ptr<Table> table_ = std::make_shared<Table>();
};

}  // namespace

std::unique_ptr<Rendezvous> MakeLocalRendezvous() { return std::make_unique<LocalRendezvous>(); }

std::string RendezvousKey(std::string_view send_device, int64_t send_device_incarnation,
                          std::string_view recv_device, std::string_view tensor_name, int64_t frame,
                          int64_t iteration) {
  char incarnation[17];
  std::snprintf(incarnation, sizeof incarnation, "%016" PRIx64,
                static_cast<uint64_t>(send_device_incarnation));
  return Format("{};{};{};{};{}:{}", send_device, incarnation, recv_device, tensor_name, frame,
                iteration);
}

}  // namespace penstock
