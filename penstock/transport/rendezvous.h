#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "penstock/core/cancellation.h"
#include "penstock/core/status.h"
#include "penstock/core/tensor.h"

namespace penstock {

// Where the tensors of one step meet by key: a Send with the Recv of the same key, in either order.
// A value that was sent twice before it is received queues, first in first out; so do receivers.
// Threads: all methods may be called concurrently. Callbacks run on the thread that completes them,
// with no lock held.
class Rendezvous {
 public:
  // `is_dead`: the branch that makes the value was not taken; the tensor is then empty.
  using RecvDone = std::function<void(const Status& status, Tensor value, bool is_dead)>;

  virtual ~Rendezvous() = default;
  // Hands the value to the first receiver that waits, or keeps it until one comes.
  virtual Status Send(const std::string& key, Tensor value, bool is_dead) = 0;
  // Calls `done` once: with the value, with the reason of Abort, or with that of `cancellation`
  // (which may be null, and else must live until then).
  virtual void RecvAsync(const std::string& key, Cancellation* cancellation, RecvDone done) = 0;
  // Fails every receiver that waits, drops every value, and fails all later calls with `why`. The
  // first reason wins.
  virtual void Abort(const Status& why) = 0;
};

// The tensors of a step in this process. May be destroyed when nobody waits any more; whoever still
// does is told that it was aborted.
std::unique_ptr<Rendezvous> MakeLocalRendezvous();

// TensorFlow's form of a key: "send_device;incarnation in hex;recv_device;tensor_name;frame:iter".
std::string RendezvousKey(std::string_view send_device, int64_t send_device_incarnation,
                          std::string_view recv_device, std::string_view tensor_name,
                          int64_t frame = 0, int64_t iteration = 0);

}  // namespace penstock
