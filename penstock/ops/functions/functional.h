#pragma once

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Ops that run functions of the graph's library: calls, branches and loops. Their kernels find the
// function at its first call and run it as a part of their own step; they wait only when something
// inside the function does.

namespace penstock::ops {

struct PartitionedCall {
  static constexpr auto kName = "PartitionedCall";
  static constexpr bool kAsync = true;
  static constexpr bool kNoGradient = true;
  FunctionName f;
  std::string config;
  std::string config_proto;
  std::string executor_type;
  using Sig = Signature<In<"args", TypeList<"Tin", 0>>, Out<"output", TypeList<"Tout", 0>>>;
  static constexpr std::tuple kAttrs{Field{"f", &PartitionedCall::f}.Required(),
                                     Field{"config", &PartitionedCall::config},
                                     Field{"config_proto", &PartitionedCall::config_proto},
                                     Field{"executor_type", &PartitionedCall::executor_type}};

  // The node does not say; only the function would.
  Result<std::vector<Shape>> InferShape(std::span<const Known>) const {
    return std::vector<Shape>();
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct StatefulPartitionedCall {
  static constexpr auto kName = "StatefulPartitionedCall";
  static constexpr bool kStateful = true;
  static constexpr bool kAsync = true;
  static constexpr bool kNoGradient = true;
  FunctionName f;
  std::string config;
  std::string config_proto;
  std::string executor_type;
  using Sig = PartitionedCall::Sig;
  static constexpr std::tuple kAttrs{
      Field{"f", &StatefulPartitionedCall::f}.Required(),
      Field{"config", &StatefulPartitionedCall::config},
      Field{"config_proto", &StatefulPartitionedCall::config_proto},
      Field{"executor_type", &StatefulPartitionedCall::executor_type}};

  // The node does not say; only the function would.
  Result<std::vector<Shape>> InferShape(std::span<const Known>) const {
    return std::vector<Shape>();
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct StatelessIf {
  static constexpr auto kName = "StatelessIf";
  static constexpr bool kAsync = true;
  static constexpr bool kNoGradient = true;
  FunctionName then_branch;
  FunctionName else_branch;
  std::vector<Shape> output_shapes;
  using Sig = Signature<In<"cond", AnyType<"Tcond">>, In<"input", TypeList<"Tin", 0>>,
                        Out<"output", TypeList<"Tout", 0>>>;
  static constexpr std::tuple kAttrs{Field{"then_branch", &StatelessIf::then_branch}.Required(),
                                     Field{"else_branch", &StatelessIf::else_branch}.Required(),
                                     Field{"output_shapes", &StatelessIf::output_shapes}};

  Result<std::vector<Shape>> InferShape(const Shape&, std::span<const Known>) const {
    return output_shapes;
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct If {
  static constexpr auto kName = "If";
  static constexpr bool kStateful = true;
  static constexpr bool kAsync = true;
  static constexpr bool kNoGradient = true;
  FunctionName then_branch;
  FunctionName else_branch;
  std::vector<Shape> output_shapes;
  using Sig = StatelessIf::Sig;
  static constexpr std::tuple kAttrs{Field{"then_branch", &If::then_branch}.Required(),
                                     Field{"else_branch", &If::else_branch}.Required(),
                                     Field{"output_shapes", &If::output_shapes}};

  Result<std::vector<Shape>> InferShape(const Shape&, std::span<const Known>) const {
    return output_shapes;
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

// Runs branches[branch_index], or the last one when there is none of that number.
struct StatelessCase {
  static constexpr auto kName = "StatelessCase";
  static constexpr bool kAsync = true;
  static constexpr bool kNoGradient = true;
  std::vector<FunctionName> branches;
  std::vector<Shape> output_shapes;
  using Sig = Signature<In<"branch_index", int32_t>, In<"input", TypeList<"Tin", 0>>,
                        Out<"output", TypeList<"Tout", 0>>>;
  static constexpr std::tuple kAttrs{Field{"branches", &StatelessCase::branches}.Required().Min(1),
                                     Field{"output_shapes", &StatelessCase::output_shapes}};

  Result<std::vector<Shape>> InferShape(const Shape& branch_index, std::span<const Known>) const {
    TRY(CheckScalar(branch_index, "branch_index"));
    return output_shapes;
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct Case {
  static constexpr auto kName = "Case";
  static constexpr bool kStateful = true;
  static constexpr bool kAsync = true;
  static constexpr bool kNoGradient = true;
  std::vector<FunctionName> branches;
  std::vector<Shape> output_shapes;
  using Sig = StatelessCase::Sig;
  static constexpr std::tuple kAttrs{Field{"branches", &Case::branches}.Required().Min(1),
                                     Field{"output_shapes", &Case::output_shapes}};

  Result<std::vector<Shape>> InferShape(const Shape& branch_index, std::span<const Known>) const {
    TRY(CheckScalar(branch_index, "branch_index"));
    return output_shapes;
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

// Repeats `body` on the values while `cond` of them is true.
struct StatelessWhile {
  static constexpr auto kName = "StatelessWhile";
  static constexpr double kCost = 1e5;  // how often it goes round is not known before
  static constexpr bool kAsync = true;
  static constexpr bool kNoGradient = true;
  FunctionName cond;
  FunctionName body;
  std::vector<Shape> output_shapes;
  int64_t parallel_iterations = 10;
  using Sig = Signature<In<"input", TypeList<"T", 0>>, Out<"output", TypeList<"T", 0>>>;
  static constexpr std::tuple kAttrs{
      Field{"cond", &StatelessWhile::cond}.Required(),
      Field{"body", &StatelessWhile::body}.Required(),
      Field{"output_shapes", &StatelessWhile::output_shapes},
      Field{"parallel_iterations", &StatelessWhile::parallel_iterations}};

  Result<std::vector<Shape>> InferShape(std::span<const Known>) const { return output_shapes; }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct While {
  static constexpr auto kName = "While";
  static constexpr double kCost = 1e5;  // how often it goes round is not known before
  static constexpr bool kStateful = true;
  static constexpr bool kAsync = true;
  static constexpr bool kNoGradient = true;
  FunctionName cond;
  FunctionName body;
  std::vector<Shape> output_shapes;
  int64_t parallel_iterations = 10;
  using Sig = StatelessWhile::Sig;
  static constexpr std::tuple kAttrs{Field{"cond", &While::cond}.Required(),
                                     Field{"body", &While::body}.Required(),
                                     Field{"output_shapes", &While::output_shapes},
                                     Field{"parallel_iterations", &While::parallel_iterations}};

  Result<std::vector<Shape>> InferShape(std::span<const Known>) const { return output_shapes; }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

// Repeats `body` on (i, values) for i from `start` to `limit` in steps of `delta`.
struct For {
  static constexpr auto kName = "For";
  static constexpr double kCost = 1e5;  // how often it goes round is not known before
  static constexpr bool kAsync = true;
  static constexpr bool kNoGradient = true;
  FunctionName body;
  using Sig = Signature<In<"start", int32_t>, In<"limit", int32_t>, In<"delta", int32_t>,
                        In<"input", TypeList<"T", 0>>, Out<"output", TypeList<"T", 0>>>;
  static constexpr std::tuple kAttrs{Field{"body", &For::body}.Required()};

  Result<std::vector<Shape>> InferShape(const Shape& start, const Shape& limit, const Shape& delta,
                                        std::span<const Known>) const {
    TRY(CheckScalar(start, "start"));
    TRY(CheckScalar(limit, "limit"));
    TRY(CheckScalar(delta, "delta"));
    return std::vector<Shape>();
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

// Stands for a value that the other branch makes: nobody may look at it. Unknown extents are 0.
struct FakeParam {
  static constexpr auto kName = "FakeParam";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  DType dtype = DType::kInvalid;
  Shape shape;
  using Sig = Signature<Out<"output", AnyType<"dtype">>>;
  static constexpr std::tuple kAttrs{Field{"dtype", &FakeParam::dtype},
                                     Field{"shape", &FakeParam::shape}.Required()};

  Result<Shape> InferShape() const { return shape; }
  Status ComputeCpu(CpuContext& context) const;
};

}  // namespace penstock::ops
