#pragma once

#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Matrix products. grad_a, grad_b, grad_x and grad_y only mark products that belong to a
// derivative.

namespace penstock::ops {

// The shape of op(x) * op(y) where the last two axes are matrices and those before them are a
// batch: of equal shapes, or of shapes that agree by broadcasting.
Result<Shape> BatchMatMulShape(const Shape& x, const Shape& y, bool transpose_x, bool transpose_y,
                               bool broadcast);

// output = op(x) * op(y), where the last two axes are matrices, those before them a batch that
// broadcasts, and op() transposes. REQUIRES: equal dtypes; output has the shape of the product and
// memory that neither factor shares.
Status MultiplyMatrices(CpuContext& context, const Tensor& x, const Tensor& y, bool transpose_x,
                        bool transpose_y, Tensor& output);

struct MatMul {
  static constexpr auto kName = "MatMul";
  static constexpr double kCost = 30;
  bool transpose_a = false;
  bool transpose_b = false;
  bool grad_a = false;
  bool grad_b = false;
  using Num = TypeVar<"T", bfloat16, half, float, double, int32_t, int64_t, uint8_t, uint16_t,
                      uint32_t, uint64_t, complex64, complex128>;
  using Sig = Signature<In<"a", Num>, In<"b", Num>, Out<"product", Num>>;
  static constexpr std::tuple kAttrs{
      Field{"transpose_a", &MatMul::transpose_a}, Field{"transpose_b", &MatMul::transpose_b},
      Field{"grad_a", &MatMul::grad_a}, Field{"grad_b", &MatMul::grad_b}};

  Result<Shape> InferShape(const Shape& a, const Shape& b) const {
    TRY(CheckRank(a, 2, "a"));
    TRY(CheckRank(b, 2, "b"));
    return BatchMatMulShape(a.has_rank() ? a : Shape::UnknownOfRank(2),
                            b.has_rank() ? b : Shape::UnknownOfRank(2), transpose_a, transpose_b,
                            false);
  }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& a, const Tensor& b, Tensor& product) const;
};

// adj_x and adj_y transpose and, of complex numbers, conjugate.
struct BatchMatMul {
  static constexpr auto kName = "BatchMatMul";
  static constexpr double kCost = 30;
  bool adj_x = false;
  bool adj_y = false;
  bool grad_x = false;
  bool grad_y = false;
  using Num = TypeVar<"T", bfloat16, half, float, double, int32_t, int64_t, complex64, complex128>;
  using Sig = Signature<In<"x", Num>, In<"y", Num>, Out<"output", Num>>;
  static constexpr std::tuple kAttrs{
      Field{"adj_x", &BatchMatMul::adj_x}, Field{"adj_y", &BatchMatMul::adj_y},
      Field{"grad_x", &BatchMatMul::grad_x}, Field{"grad_y", &BatchMatMul::grad_y}};

  Result<Shape> InferShape(const Shape& x, const Shape& y) const {
    return BatchMatMulShape(x, y, adj_x, adj_y, false);
  }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& x, const Tensor& y, Tensor& output) const;
};

// The same with broadcasting of the batch.
struct BatchMatMulV2 {
  static constexpr auto kName = "BatchMatMulV2";
  static constexpr double kCost = 30;
  bool adj_x = false;
  bool adj_y = false;
  bool grad_x = false;
  bool grad_y = false;
  using Num = TypeVar<"T", bfloat16, half, float, double, int16_t, int32_t, int64_t, uint8_t,
                      uint16_t, uint32_t, uint64_t, complex64, complex128>;
  using Sig = Signature<In<"x", Num>, In<"y", Num>, Out<"output", Num>>;
  static constexpr std::tuple kAttrs{
      Field{"adj_x", &BatchMatMulV2::adj_x}, Field{"adj_y", &BatchMatMulV2::adj_y},
      Field{"grad_x", &BatchMatMulV2::grad_x}, Field{"grad_y", &BatchMatMulV2::grad_y}};

  Result<Shape> InferShape(const Shape& x, const Shape& y) const {
    return BatchMatMulShape(x, y, adj_x, adj_y, true);
  }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& x, const Tensor& y, Tensor& output) const;
};

// The same with a type for each of its arguments. The kernel wants them equal.
struct BatchMatMulV3 {
  static constexpr auto kName = "BatchMatMulV3";
  static constexpr double kCost = 30;
  bool adj_x = false;
  bool adj_y = false;
  bool grad_x = false;
  bool grad_y = false;
  using A = TypeVar<"Ta", bfloat16, half, float, double, uint8_t, int8_t, int16_t, int32_t, int64_t,
                    complex64, complex128>;
  using B = TypeVar<"Tb", bfloat16, half, float, double, uint8_t, int8_t, int16_t, int32_t, int64_t,
                    complex64, complex128>;
  using Product = TypeVar<"Tout", bfloat16, half, float, double, int16_t, int32_t, int64_t,
                          complex64, complex128>;
  using Sig = Signature<In<"x", A>, In<"y", B>, Out<"output", Product>>;
  static constexpr std::tuple kAttrs{
      Field{"adj_x", &BatchMatMulV3::adj_x}, Field{"adj_y", &BatchMatMulV3::adj_y},
      Field{"grad_x", &BatchMatMulV3::grad_x}, Field{"grad_y", &BatchMatMulV3::grad_y}};

  Result<Shape> InferShape(const Shape& x, const Shape& y) const {
    return BatchMatMulShape(x, y, adj_x, adj_y, true);
  }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& x, const Tensor& y, Tensor& output) const;
};

}  // namespace penstock::ops
