#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Many variables by one node, and what is left of the ops on one resource variable.

namespace penstock::ops {

// N handles at once.
struct VarHandlesOp {
  static constexpr auto kName = "_VarHandlesOp";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  std::vector<std::string> containers;
  std::vector<std::string> shared_names;
  std::vector<DType> dtypes;
  std::vector<Shape> shapes;
  using Sig = Signature<Out<"resources", List<"N", ResourceHandle, 0>>>;
  static constexpr std::tuple kAttrs{Field{"containers", &VarHandlesOp::containers}.Required(),
                                     Field{"shared_names", &VarHandlesOp::shared_names}.Required(),
                                     Field{"dtypes", &VarHandlesOp::dtypes}.Required(),
                                     Field{"shapes", &VarHandlesOp::shapes}.Required()};

  Result<Shape> InferShape() const { return Shape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

// The values of N variables at once.
struct ReadVariablesOp {
  static constexpr auto kName = "_ReadVariablesOp";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  using Sig = Signature<In<"resources", List<"N", ResourceHandle, 0>>,
                        Out<"values", TypeList<"dtypes", 1>>>;

  Result<std::vector<Shape>> InferShape(std::span<const Known> resources) const;
  void Gradient(Gradients& g) const;
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

// Asks that reads share the variable's memory. They always do.
struct DisableCopyOnRead {
  static constexpr auto kName = "DisableCopyOnRead";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"resource", ResourceHandle>>;

  Status ComputeCpu(CpuContext& context, const Tensor& resource) const;
};

// CountUpTo of a resource variable.
struct ResourceCountUpTo {
  static constexpr auto kName = "ResourceCountUpTo";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  int64_t limit = 0;
  using Sig = Signature<In<"resource", ResourceHandle>, Out<"output", IndexType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"limit", &ResourceCountUpTo::limit}.Required()};

  Result<Shape> InferShape(const Handle& resource) const {
    TRY(CheckScalar(resource.value_shape, "the variable"));
    return Shape();
  }
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& resource, std::span<T> output) const;
};

}  // namespace penstock::ops
