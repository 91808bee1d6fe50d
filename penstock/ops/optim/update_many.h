#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/optim/updates.h"

namespace penstock::ops {

// Several updates by one rule with the same numbers, each of a variable of its own: what as many
// nodes of `op` would do, in one pass over all of them. Made by the compiler (compile/updates.cc)
// for small variables, which cost more to visit than to move.
struct UpdateMany {
  static constexpr auto kName = "_ResourceApplyMany";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 6;
  std::string op;     // "ResourceApplyAdam"
  bool flag = false;  // its switch, where it has one
  // The handles: the slots of the first variable, itself included, then those of the next.
  using Sig = Signature<In<"slots", List<"M", ResourceHandle>>,
                        In<"numbers", List<"P", update_internal::T>>,
                        In<"grads", List<"N", update_internal::T>>>;
  static constexpr std::tuple kAttrs{Field{"op", &UpdateMany::op}.Required(),
                                     Field{"flag", &UpdateMany::flag}};

  Status CheckAttrs() const;
  Result<std::vector<Shape>> InferShape(std::span<const Known> slots,
                                        std::span<const Known> numbers,
                                        std::span<const Known> grads) const;
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

}  // namespace penstock::ops
