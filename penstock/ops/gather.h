#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Slices picked out by index, and the places where a tensor is not zero.

namespace penstock::ops {

// output[i, ...] = params[indices[i], ...].
struct Gather {
  static constexpr auto kName = "Gather";
  static constexpr double kCost = 2;
  bool validate_indices = true;
  using Sig = Signature<In<"params", AnyType<"Tparams">>, In<"indices", IndexType<"Tindices">>,
                        Out<"output", AnyType<"Tparams">>>;
  static constexpr std::tuple kAttrs{Field{"validate_indices", &Gather::validate_indices}};

  Result<Shape> InferShape(const Shape& params, const Shape& indices) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& params, const Tensor& indices,
                    Tensor& output) const;
};

// The same along any axis; the first batch_dims axes of params and indices go together.
struct GatherV2 {
  static constexpr auto kName = "GatherV2";
  static constexpr double kCost = 2;
  int64_t batch_dims = 0;
  using Sig = Signature<In<"params", AnyType<"Tparams">>,
                        In<"indices", TypeVar<"Tindices", int16_t, int32_t, int64_t>>,
                        In<"axis", IndexType<"Taxis">>, Out<"output", AnyType<"Tparams">>>;
  static constexpr std::tuple kAttrs{Field{"batch_dims", &GatherV2::batch_dims}};

  Result<Shape> InferShape(const Shape& params, const Shape& indices, const Integers& axis) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& params, const Tensor& indices,
                    const Integers& axis, Tensor& output) const;
};

// Each row of `indices` names a slice of the first axes of params.
struct GatherNd {
  static constexpr auto kName = "GatherNd";
  static constexpr double kCost = 2;
  std::string bad_indices_policy;
  using Sig = Signature<In<"params", AnyType<"Tparams">>,
                        In<"indices", TypeVar<"Tindices", int16_t, int32_t, int64_t>>,
                        Out<"output", AnyType<"Tparams">>>;
  static constexpr std::tuple kAttrs{Field{"bad_indices_policy", &GatherNd::bad_indices_policy}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& params, const Shape& indices) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& params, const Tensor& indices,
                    Tensor& output) const;
};

// The indices of all elements that are not zero, in row-major order.
struct Where {
  static constexpr auto kName = "Where";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<
      In<"input", TypeVarOr<"T", bool, float, double, int32_t, uint8_t, int16_t, int8_t, complex64,
                            int64_t, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16_t,
                            complex128, half, uint32_t, uint64_t, bool>>,
      Out<"index", int64_t>>;

  Result<Shape> InferShape(const Shape& input) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& input) const;
};

}  // namespace penstock::ops
