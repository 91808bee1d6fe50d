#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Slices put in place by index: the inverse of GatherNd.

namespace penstock::ops {

// Zeros of `shape` to which each row of `indices` adds a slice of `updates`.
struct ScatterNd {
  static constexpr auto kName = "ScatterNd";
  static constexpr auto kDispatch = "updates";
  static constexpr double kCost = 2;
  std::string bad_indices_policy;
  using Index = TypeVar<"Tindices", int16_t, int32_t, int64_t>;
  using Sig = Signature<In<"indices", Index>, In<"updates", AnyType<"T">>, In<"shape", Index>,
                        Out<"output", AnyType<"T">>>;
  using CpuTypes = Types<float, double, half, bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t,
                         uint16_t, uint32_t, uint64_t, complex64, complex128, bool, std::string>;
  static constexpr std::tuple kAttrs{Field{"bad_indices_policy", &ScatterNd::bad_indices_policy}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& indices, const Shape& updates, const Integers& shape) const;
  void Gradient(Gradients& g) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& indices, const Tensor& updates,
                    const Tensor& shape, Tensor& output) const;
};

// `tensor` with the slices that `indices` name replaced.
struct TensorScatterUpdate {
  static constexpr auto kName = "TensorScatterUpdate";
  std::string bad_indices_policy;
  using Index = TypeVar<"Tindices", int16_t, int32_t, int64_t, uint16_t>;
  using Sig = Signature<In<"tensor", AnyType<"T">>, In<"indices", Index>,
                        In<"updates", AnyType<"T">>, Out<"output", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{
      Field{"bad_indices_policy", &TensorScatterUpdate::bad_indices_policy}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& tensor, const Shape& indices, const Shape& updates) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& tensor, const Tensor& indices,
                    const Tensor& updates, Tensor& output) const;
};

// `tensor` with slices added to those that `indices` name.
struct TensorScatterAdd {
  static constexpr auto kName = "TensorScatterAdd";
  static constexpr double kCost = 2;
  std::string bad_indices_policy;
  using Index = TypeVar<"Tindices", int32_t, int64_t>;
  using Sig = Signature<In<"tensor", AnyType<"T">>, In<"indices", Index>,
                        In<"updates", AnyType<"T">>, Out<"output", AnyType<"T">>>;
  using CpuTypes = ScatterNd::CpuTypes;
  static constexpr std::tuple kAttrs{
      Field{"bad_indices_policy", &TensorScatterAdd::bad_indices_policy}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& tensor, const Shape& indices, const Shape& updates) const;
  void Gradient(Gradients& g) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& tensor, const Tensor& indices,
                    const Tensor& updates, Tensor& output) const;
};

struct TensorScatterSub {
  static constexpr auto kName = "TensorScatterSub";
  static constexpr double kCost = 2;
  std::string bad_indices_policy;
  using Index = TypeVar<"Tindices", int32_t, int64_t>;
  using Sig = Signature<In<"tensor", AnyType<"T">>, In<"indices", Index>,
                        In<"updates", AnyType<"T">>, Out<"output", AnyType<"T">>>;
  using CpuTypes = Types<float, double, half, bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t,
                         uint16_t, uint32_t, uint64_t, complex64, complex128>;
  static constexpr std::tuple kAttrs{
      Field{"bad_indices_policy", &TensorScatterSub::bad_indices_policy}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& tensor, const Shape& indices, const Shape& updates) const;
  void Gradient(Gradients& g) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& tensor, const Tensor& indices,
                    const Tensor& updates, Tensor& output) const;
};

void ScatterExtremeGradient(Gradients& g, const std::string& bad_indices_policy);

// `tensor` with the slices that `indices` name replaced where the update is larger, or smaller.
template <FixedString Name, bool IsMax>
struct TensorScatterExtreme {
  static constexpr const char* kName = Name.text;
  static constexpr double kCost = 2;
  std::string bad_indices_policy;
  using Sig = Signature<In<"tensor", AnyType<"T">>, In<"indices", IndexType<"Tindices">>,
                        In<"updates", AnyType<"T">>, Out<"output", AnyType<"T">>>;
  using CpuTypes = Types<float, double, half, bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t,
                         uint16_t, uint32_t, uint64_t>;
  static constexpr std::tuple kAttrs{
      Field{"bad_indices_policy", &TensorScatterExtreme::bad_indices_policy}};

  Status CheckAttrs() const { return TensorScatterUpdate{bad_indices_policy}.CheckAttrs(); }
  Result<Shape> InferShape(const Shape& tensor, const Shape& indices, const Shape& updates) const {
    return TensorScatterUpdate{}.InferShape(tensor, indices, updates);
  }
  void Gradient(Gradients& g) const { ScatterExtremeGradient(g, bad_indices_policy); }
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& tensor, const Tensor& indices,
                    const Tensor& updates, Tensor& output) const;
};
using TensorScatterMax = TensorScatterExtreme<"TensorScatterMax", true>;
using TensorScatterMin = TensorScatterExtreme<"TensorScatterMin", false>;

// TensorScatterAdd under an older name.
struct ScatterNdNonAliasingAdd {
  static constexpr auto kName = "ScatterNdNonAliasingAdd";
  static constexpr double kCost = 2;
  std::string bad_indices_policy;
  template <FixedString Name>
  using NumberOrBool = TypeVar<Name, float, double, int32_t, uint8_t, int16_t, int8_t, complex64,
                               int64_t, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16_t,
                               complex128, half, uint32_t, uint64_t, bool>;
  using Sig = Signature<In<"input", NumberOrBool<"T">>, In<"indices", IndexType<"Tindices">>,
                        In<"updates", NumberOrBool<"T">>, Out<"output", NumberOrBool<"T">>>;
  using CpuTypes = Types<float, double, half, bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t,
                         uint16_t, uint32_t, uint64_t, complex64, complex128, bool>;
  static constexpr std::tuple kAttrs{
      Field{"bad_indices_policy", &ScatterNdNonAliasingAdd::bad_indices_policy}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& input, const Shape& indices, const Shape& updates) const;
  void Gradient(Gradients& g) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& indices,
                    const Tensor& updates, Tensor& output) const;
};

}  // namespace penstock::ops
