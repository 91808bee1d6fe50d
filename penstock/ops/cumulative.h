#pragma once

#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Running sums and products along an axis.

namespace penstock::ops {

// The shape of `x`; the axis is checked.
Result<Shape> CumulativeShape(const Shape& x, const Integers& axis);

struct Cumsum {
  static constexpr auto kName = "Cumsum";
  static constexpr double kCost = 3;
  bool exclusive = false;
  bool reverse = false;
  using Sig = Signature<In<"x", NumberType<"T">>, In<"axis", IndexTypeOr32<"Tidx">>,
                        Out<"out", NumberType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"exclusive", &Cumsum::exclusive},
                                     Field{"reverse", &Cumsum::reverse}};

  Result<Shape> InferShape(const Shape& x, const Integers& axis) const {
    return CumulativeShape(x, axis);
  }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& x, const Integers& axis, Tensor& out) const;
};

struct Cumprod {
  static constexpr auto kName = "Cumprod";
  static constexpr double kCost = 3;
  bool exclusive = false;
  bool reverse = false;
  using Sig = Signature<In<"x", NumberType<"T">>, In<"axis", IndexTypeOr32<"Tidx">>,
                        Out<"out", NumberType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"exclusive", &Cumprod::exclusive},
                                     Field{"reverse", &Cumprod::reverse}};

  Result<Shape> InferShape(const Shape& x, const Integers& axis) const {
    return CumulativeShape(x, axis);
  }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& x, const Integers& axis, Tensor& out) const;
};

// Running logarithms of sums of exponentials.
struct CumulativeLogsumexp {
  static constexpr auto kName = "CumulativeLogsumexp";
  static constexpr double kCost = 40;
  bool exclusive = false;
  bool reverse = false;
  using Sig = Signature<In<"x", FloatType<"T">>, In<"axis", IndexTypeOr32<"Tidx">>,
                        Out<"out", FloatType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"exclusive", &CumulativeLogsumexp::exclusive},
                                     Field{"reverse", &CumulativeLogsumexp::reverse}};

  Result<Shape> InferShape(const Shape& x, const Integers& axis) const {
    return CumulativeShape(x, axis);
  }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& x, const Integers& axis, Tensor& out) const;
};

}  // namespace penstock::ops
