#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "penstock/ops/queue/stage.h"

namespace penstock::ops {

// Elements kept between steps by key. The components of one may come, and leave, in several calls;
// an element can be taken once all have come. Threads: all methods may be called concurrently.
// `done` is called exactly once, without a lock held, perhaps before the method returns.
class StagingMap final : public Waitable {
 public:
  explicit StagingMap(const StageLimits& limits)
      : Waitable({&putters_, &getters_}), limits_(limits) {}

  // Which components of an element a call means: strictly increasing.
  using Indices = std::vector<int32_t>;

  // Moves components of the element in; one of `num_components`. An error, and `done` left alone,
  // when they cannot be those of an element.
  Status Put(KernelContext& context, int64_t key, Indices indices, std::vector<Tensor> values,
             size_t num_components, Done& done);
  // Sets the context's outputs, from `first_output` on, to components of the element of that key,
  // once it is complete; moves them out unless they are to stay. Without a key: of the element of
  // the smallest one, which becomes output 0.
  Status Get(KernelContext& context, std::optional<int64_t> key, Indices indices, bool stay,
             std::span<const DType> dtypes, Done& done);
  void Clear();

  int64_t size() const;
  int64_t incomplete_size() const;
  std::string DebugString() const override;
  size_t MemoryBytes() const override;

 private:
  class PutWaiter;
  class GetWaiter;
  using Element = std::vector<Tensor>;  // a component that is not there is not initialized

  const StageLimits limits_;
  // Whoever can go on does: calls are for different keys.
  WaiterList putters_ GUARDED_BY(mu_){/*in_order=*/false};
  WaiterList getters_ GUARDED_BY(mu_){/*in_order=*/false};
  std::map<int64_t, Element> complete_ GUARDED_BY(mu_);
  std::map<int64_t, Element> incomplete_ GUARDED_BY(mu_);
  int64_t bytes_ GUARDED_BY(mu_) = 0;
};

}  // namespace penstock::ops
