#pragma once

#include <cstdint>

#include "penstock/core/function_ref.h"

namespace penstock {

class ThreadPool;

// How a kernel spreads its work over the threads it was given. Copies are cheap; a default one is
// serial. Threads: one ParallelFor may be used by many threads at once.
class ParallelFor {
 public:
  ParallelFor() = default;
  explicit ParallelFor(ThreadPool* pool) : pool_(pool) {}

  // Calls body(begin, end) for disjoint ranges that cover [0, n), and returns when all are done.
  // `cost` is a rough number of cycles an item takes: little work stays on the calling thread.
  // `grain` is the smallest useful range; range bounds are multiples of it (except n). How [0, n)
  // is cut depends on the threads at hand: a kernel whose result hangs on the cut (a sum) fixes its
  // own blocks and passes their number as n.
  void operator()(int64_t n, double cost, FunctionRef<void(int64_t begin, int64_t end)> body,
                  int64_t grain = 1) const;

  // The number of threads that may take part, the caller's included.
  int threads() const;

 private:
  ThreadPool* pool_ = nullptr;
};

}  // namespace penstock
