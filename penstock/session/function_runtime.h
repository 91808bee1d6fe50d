#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/compile/pipeline.h"
#include "penstock/core/mutex.h"
#include "penstock/device/device.h"
#include "penstock/device/function_runner.h"
#include "penstock/graph/function.h"

namespace penstock {

class Plan;

// The functions of a session's graph, each compiled at its first call, through the same pipeline as
// a step. Kept until the session ends: steps in flight may hold any of them.
// Threads: all methods may be called concurrently; compiling holds no lock.
class FunctionRuntime final : public FunctionRunner {
 public:
  // REQUIRES: `graph` outlives it.
  FunctionRuntime(const Graph& graph, CompileOptions options, std::shared_ptr<Device> device);
  ~FunctionRuntime() override;

  // Looks at the graph's library again. REQUIRES: nobody adds to the graph meanwhile.
  void Refresh();
  Result<RunnableFunction*> Find(const FunctionName& function) override;

 private:
  using Entry = std::pair<AttrMap, std::unique_ptr<RunnableFunction>>;
  RunnableFunction* FindCompiled(const FunctionName& function) const REQUIRES_LOCK(mu_);
  Result<std::unique_ptr<RunnableFunction>> MakeFunction(
      const std::shared_ptr<const FunctionLibrary>& library, const FunctionName& function) const;
  // Compiles the function for arguments of these shapes, or of any when there are none.
  Result<std::unique_ptr<Plan>> MakePlan(const FunctionLibrary& library,
                                         const FunctionName& function,
                                         std::span<const Shape> args) const;

  const Graph& graph_;
  const CompileOptions options_;
  const std::shared_ptr<Device> device_;
  mutable Mutex mu_;
  std::shared_ptr<const FunctionLibrary> library_ GUARDED_BY(mu_);  // as of the last Refresh
  std::map<std::string, std::vector<Entry>, std::less<>> compiled_ GUARDED_BY(mu_);
};

}  // namespace penstock
