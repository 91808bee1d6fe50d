#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "penstock/core/mutex.h"
#include "penstock/core/resource.h"
#include "penstock/ops/data/dataset.h"

namespace penstock::ops {

// An iterator that lives between steps. Calls that come while another is served wait in a line, and
// hold no thread.
// Threads: all methods may be called concurrently. REQUIRES: owned by a shared_ptr.
class IteratorState final : public Resource, public std::enable_shared_from_this<IteratorState> {
 public:
  // Nothing at the end.
  using Done = std::function<void(Result<std::optional<Element>>)>;

  // Begins anew. A call that is being served goes on with the old dataset.
  void Restart(const Dataset& dataset);
  // The same, unless it has begun before.
  void StartOnce(const Dataset& dataset);
  bool initialized() const;
  // `step` must live until `done` is called, which may be before this returns.
  void GetNext(const StepResources& step, Done done);

  std::string DebugString() const override { return "Iterator"; }

 private:
  class Call;
  struct Request {
    const StepResources* step;
    Done done;
  };

  // Serves calls until one waits or none is left.
  void Serve(Request request);
  std::optional<Request> TakeNext();

  mutable Mutex mu_;
  std::shared_ptr<DatasetIterator> iterator_ GUARDED_BY(mu_);
  bool busy_ GUARDED_BY(mu_) = false;
  std::deque<Request> line_ GUARDED_BY(mu_);
};

}  // namespace penstock::ops
