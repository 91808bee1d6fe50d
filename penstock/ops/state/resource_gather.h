#pragma once

#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Slices of a variable picked out by index, without reading the rest of it.

namespace penstock::ops {

// output[i, ...] = variable[indices[i], ...]; the first batch_dims axes of both go together.
struct ResourceGather {
  static constexpr auto kName = "ResourceGather";
  static constexpr bool kStateful = true;
  static constexpr double kCost = 2;
  int64_t batch_dims = 0;
  bool validate_indices = true;
  DType dtype = DType::kInvalid;
  using Sig = Signature<In<"resource", ResourceHandle>, In<"indices", IndexType<"Tindices">>,
                        Out<"output", AnyType<"dtype">>>;
  static constexpr std::tuple kAttrs{Field{"batch_dims", &ResourceGather::batch_dims},
                                     Field{"validate_indices", &ResourceGather::validate_indices},
                                     Field{"dtype", &ResourceGather::dtype}};

  Result<Shape> InferShape(const Handle& resource, const Shape& indices) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& resource, const Tensor& indices) const;
};

// Each row of `indices` names a slice of the variable's first axes.
struct ResourceGatherNd {
  static constexpr auto kName = "ResourceGatherNd";
  static constexpr bool kStateful = true;
  static constexpr double kCost = 2;
  DType dtype = DType::kInvalid;
  using Sig = Signature<In<"resource", ResourceHandle>, In<"indices", IndexType<"Tindices">>,
                        Out<"output", AnyType<"dtype">>>;
  static constexpr std::tuple kAttrs{Field{"dtype", &ResourceGatherNd::dtype}};

  Result<Shape> InferShape(const Handle& resource, const Shape& indices) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& resource, const Tensor& indices) const;
};

}  // namespace penstock::ops
