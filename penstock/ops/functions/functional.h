#pragma once

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "penstock/graph/function_gradients.h"
#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Ops that run functions of the graph's library: calls, branches and loops. Their kernels find the
// function at its first call and run it as a part of their own step; they wait only when something
// inside the function does.

namespace penstock::ops {

// Each op has a form whose functions may have effects and one whose may not.

template <bool kHasEffects>
struct PartitionedCallForm {
  static constexpr auto kName = kHasEffects ? "StatefulPartitionedCall" : "PartitionedCall";
  static constexpr bool kStateful = kHasEffects;
  static constexpr bool kAsync = true;
  FunctionName f;
  std::string config;
  std::string config_proto;
  std::string executor_type;
  using Sig = Signature<In<"args", TypeList<"Tin", 0>>, Out<"output", TypeList<"Tout", 0>>>;
  static constexpr std::tuple kAttrs{Field{"f", &PartitionedCallForm::f}.Required(),
                                     Field{"config", &PartitionedCallForm::config},
                                     Field{"config_proto", &PartitionedCallForm::config_proto},
                                     Field{"executor_type", &PartitionedCallForm::executor_type}};

  // The node does not say; only the function would.
  Result<std::vector<Shape>> InferShape(std::span<const Known>) const {
    return std::vector<Shape>();
  }
  void Gradient(Gradients& g) const { DifferentiateCall(g); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};
using PartitionedCall = PartitionedCallForm<false>;
using StatefulPartitionedCall = PartitionedCallForm<true>;

template <bool kHasEffects>
struct IfForm {
  static constexpr auto kName = kHasEffects ? "If" : "StatelessIf";
  static constexpr bool kStateful = kHasEffects;
  static constexpr bool kAsync = true;
  FunctionName then_branch;
  FunctionName else_branch;
  std::vector<Shape> output_shapes;
  using Sig = Signature<In<"cond", AnyType<"Tcond">>, In<"input", TypeList<"Tin", 0>>,
                        Out<"output", TypeList<"Tout", 0>>>;
  static constexpr std::tuple kAttrs{Field{"then_branch", &IfForm::then_branch}.Required(),
                                     Field{"else_branch", &IfForm::else_branch}.Required(),
                                     Field{"output_shapes", &IfForm::output_shapes}};

  Result<std::vector<Shape>> InferShape(const Shape&, std::span<const Known>) const {
    return output_shapes;
  }
  void Gradient(Gradients& g) const { DifferentiateBranches(g); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};
using StatelessIf = IfForm<false>;
using If = IfForm<true>;

// Runs branches[branch_index], or the last one when there is none of that number.
template <bool kHasEffects>
struct CaseForm {
  static constexpr auto kName = kHasEffects ? "Case" : "StatelessCase";
  static constexpr bool kStateful = kHasEffects;
  static constexpr bool kAsync = true;
  std::vector<FunctionName> branches;
  std::vector<Shape> output_shapes;
  using Sig = Signature<In<"branch_index", int32_t>, In<"input", TypeList<"Tin", 0>>,
                        Out<"output", TypeList<"Tout", 0>>>;
  static constexpr std::tuple kAttrs{Field{"branches", &CaseForm::branches}.Required().Min(1),
                                     Field{"output_shapes", &CaseForm::output_shapes}};

  Result<std::vector<Shape>> InferShape(const Shape& branch_index, std::span<const Known>) const {
    TRY(CheckScalar(branch_index, "branch_index"));
    return output_shapes;
  }
  void Gradient(Gradients& g) const { DifferentiateBranches(g); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};
using StatelessCase = CaseForm<false>;
using Case = CaseForm<true>;

// Repeats `body` on the values while `cond` of them is true.
template <bool kHasEffects>
struct WhileForm {
  static constexpr auto kName = kHasEffects ? "While" : "StatelessWhile";
  static constexpr double kCost = 1e5;  // how often it goes round is not known before
  static constexpr bool kStateful = kHasEffects;
  static constexpr bool kAsync = true;
  FunctionName cond;
  FunctionName body;
  std::vector<Shape> output_shapes;
  int64_t parallel_iterations = 10;
  using Sig = Signature<In<"input", TypeList<"T", 0>>, Out<"output", TypeList<"T", 0>>>;
  static constexpr std::tuple kAttrs{Field{"cond", &WhileForm::cond}.Required(),
                                     Field{"body", &WhileForm::body}.Required(),
                                     Field{"output_shapes", &WhileForm::output_shapes},
                                     Field{"parallel_iterations", &WhileForm::parallel_iterations}};

  Result<std::vector<Shape>> InferShape(std::span<const Known>) const { return output_shapes; }
  void Gradient(Gradients& g) const { DifferentiateWhile(g); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};
using StatelessWhile = WhileForm<false>;
using While = WhileForm<true>;

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
