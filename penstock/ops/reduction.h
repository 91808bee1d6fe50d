#pragma once

#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Ops that make one value of all elements along some axes.

namespace penstock::ops {

// The shape that is left. Axes are checked: in range, none twice.
Result<Shape> ReducedShape(const Shape& input, const Integers& axes, bool keep_dims);

template <class T>
using ReductionSignature =
    Signature<In<"input", T>, In<"reduction_indices", IndexTypeOr32<"Tidx">>, Out<"output", T>>;
template <FixedString Name>
using OrderedOrQuantizedType =
    TypeVar<Name, float, double, int32_t, uint8_t, int16_t, int8_t, int64_t, bfloat16, uint16_t,
            half, uint32_t, uint64_t, qint8, quint8, qint32, qint16, quint16>;

struct Sum {
  static constexpr auto kName = "Sum";
  bool keep_dims = false;
  using Sig = ReductionSignature<NumberType<"T">>;
  static constexpr std::tuple kAttrs{Field{"keep_dims", &Sum::keep_dims}};

  Result<Shape> InferShape(const Shape& input, const Integers& axes) const {
    return ReducedShape(input, axes, keep_dims);
  }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& axes,
                    Tensor& output) const;
};

struct Mean {
  static constexpr auto kName = "Mean";
  bool keep_dims = false;
  using Sig = ReductionSignature<NumberType<"T">>;
  static constexpr std::tuple kAttrs{Field{"keep_dims", &Mean::keep_dims}};

  Result<Shape> InferShape(const Shape& input, const Integers& axes) const {
    return ReducedShape(input, axes, keep_dims);
  }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& axes,
                    Tensor& output) const;
};

struct Prod {
  static constexpr auto kName = "Prod";
  bool keep_dims = false;
  using Sig = ReductionSignature<NumberType<"T">>;
  static constexpr std::tuple kAttrs{Field{"keep_dims", &Prod::keep_dims}};

  Result<Shape> InferShape(const Shape& input, const Integers& axes) const {
    return ReducedShape(input, axes, keep_dims);
  }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& axes,
                    Tensor& output) const;
};

struct Max {
  static constexpr auto kName = "Max";
  bool keep_dims = false;
  using Sig = ReductionSignature<OrderedOrQuantizedType<"T">>;
  static constexpr std::tuple kAttrs{Field{"keep_dims", &Max::keep_dims}};

  Result<Shape> InferShape(const Shape& input, const Integers& axes) const {
    return ReducedShape(input, axes, keep_dims);
  }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& axes,
                    Tensor& output) const;
};

struct Min {
  static constexpr auto kName = "Min";
  bool keep_dims = false;
  using Sig = ReductionSignature<OrderedOrQuantizedType<"T">>;
  static constexpr std::tuple kAttrs{Field{"keep_dims", &Min::keep_dims}};

  Result<Shape> InferShape(const Shape& input, const Integers& axes) const {
    return ReducedShape(input, axes, keep_dims);
  }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& axes,
                    Tensor& output) const;
};

struct All {
  static constexpr auto kName = "All";
  static constexpr bool kNoGradient = true;
  bool keep_dims = false;
  using Sig = ReductionSignature<bool>;
  static constexpr std::tuple kAttrs{Field{"keep_dims", &All::keep_dims}};

  Result<Shape> InferShape(const Shape& input, const Integers& axes) const {
    return ReducedShape(input, axes, keep_dims);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& axes,
                    Tensor& output) const;
};

struct Any {
  static constexpr auto kName = "Any";
  static constexpr bool kNoGradient = true;
  bool keep_dims = false;
  using Sig = ReductionSignature<bool>;
  static constexpr std::tuple kAttrs{Field{"keep_dims", &Any::keep_dims}};

  Result<Shape> InferShape(const Shape& input, const Integers& axes) const {
    return ReducedShape(input, axes, keep_dims);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& axes,
                    Tensor& output) const;
};

// The root of the sum of squared magnitudes.
struct EuclideanNorm {
  static constexpr auto kName = "EuclideanNorm";
  static constexpr double kCost = 2;
  bool keep_dims = false;
  using Sig = ReductionSignature<NumberType<"T">>;
  static constexpr std::tuple kAttrs{Field{"keep_dims", &EuclideanNorm::keep_dims}};

  Result<Shape> InferShape(const Shape& input, const Integers& axes) const {
    return ReducedShape(input, axes, keep_dims);
  }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& axes,
                    Tensor& output) const;
};

// Half the sum of all squares.
struct L2Loss {
  static constexpr auto kName = "L2Loss";
  static constexpr double kCost = 2;
  using Sig = Signature<In<"t", FloatType<"T">>, Out<"output", FloatType<"T">>>;

  Result<Shape> InferShape(const Shape&) const { return Shape(); }
  void Gradient(Gradients& g) const { g.Set(0, g.input(0) * g.dy()); }
  Status ComputeCpu(CpuContext& context, const Tensor& t, Tensor& output) const;
};

}  // namespace penstock::ops
