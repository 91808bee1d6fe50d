#pragma once

#include <array>
#include <cmath>
#include <tuple>

#include "penstock/core/scalar_function.h"
#include "penstock/kernels/math.h"
#include "penstock/kernels/math_wrap.h"
#include "penstock/ops/elementwise.h"
#include "penstock/ops/type_sets.h"

// What follows a layer, element by element, each before its derivative: XGrad(gradients, features)
// or, for Elu and Selu, of the gradients and the outputs.

namespace penstock::ops {

template <class T>
using ActivationSignature = Signature<In<"features", T>, Out<"activations", T>>;
template <class T>
using ActivationGradSignature =
    Signature<In<"gradients", T>, In<"features", T>, Out<"backprops", T>>;
template <class T>
using OutputGradSignature = Signature<In<"gradients", T>, In<"outputs", T>, Out<"backprops", T>>;

template <FixedString Name>
using ReluType = TypeVar<Name, float, double, int32_t, uint8_t, int16_t, int8_t, int64_t, bfloat16,
                         uint16_t, half, uint32_t, uint64_t>;
template <FixedString Name>
using SmoothType = TypeVar<Name, half, bfloat16, float, double>;
template <FixedString Name>
using LeakyType = TypeVarOr<Name, float, half, bfloat16, float, double>;

struct Relu {
  static constexpr auto kName = "Relu";
  using Sig =
      ActivationSignature<TypeVar<"T", float, double, int32_t, uint8_t, int16_t, int8_t, int64_t,
                                  bfloat16, uint16_t, half, uint32_t, uint64_t, qint8>>;
  using CpuTypes = RealTypes;
  using VectorTypes = Types<float, double, int32_t>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Max(x, decltype(x)(0)); }
  static Expr Gradient(Expr, Expr y, Expr dy) { return Op("ReluGrad", dy, y); }
};

struct ReluGrad {
  static constexpr auto kName = "ReluGrad";
  static constexpr bool kSameShapes = true;
  using Sig = ActivationGradSignature<ReluType<"T">>;
  using VectorTypes = Types<float, double>;
  PENSTOCK_SCALAR static auto Eval(auto dy, auto x) {
    using T = decltype(x);
    return math::Select(x > T(0), dy, T(0));
  }
  static std::array<Expr, 2> Gradient(Expr, Expr x, Expr, Expr dz) {
    return {Op("ReluGrad", dz, x), Op("ZerosLike", x)};
  }
};

struct Relu6 {
  static constexpr auto kName = "Relu6";
  using Sig = ActivationSignature<ReluType<"T">>;
  using VectorTypes = Types<float, double>;
  PENSTOCK_SCALAR static auto Eval(auto x) {
    using T = decltype(x);
    return math::Select(x > T(6), T(6), math::Max(x, T(0)));
  }
  static Expr Gradient(Expr, Expr y, Expr dy) { return Op("Relu6Grad", dy, y); }
};

struct Relu6Grad {
  static constexpr auto kName = "Relu6Grad";
  static constexpr bool kSameShapes = true;
  using Sig = ActivationGradSignature<ReluType<"T">>;
  using VectorTypes = Types<float, double>;
  PENSTOCK_SCALAR static auto Eval(auto dy, auto x) {
    using T = decltype(x);
    return math::Select((x > T(0)) & (x < T(6)), dy, T(0));
  }
  static std::array<Expr, 2> Gradient(Expr, Expr x, Expr, Expr dz) {
    return {Op("Relu6Grad", dz, x), Op("ZerosLike", x)};
  }
};

struct LeakyRelu {
  static constexpr auto kName = "LeakyRelu";
  float alpha = 0.2f;
  using Sig = ActivationSignature<LeakyType<"T">>;
  static constexpr std::tuple kAttrs{Field{"alpha", &LeakyRelu::alpha}};
  static constexpr auto kLastOperand = &LeakyRelu::alpha;
  PENSTOCK_SCALAR static auto Eval(auto x, float alpha) {
    using T = decltype(x);
    return math::Select(x > T(0), x, x * static_cast<T>(alpha));
  }
  void Gradient(Gradients& g) const {
    g.Set(0, Op("LeakyReluGrad", g.dy(), g.input(0), {{"alpha", alpha}}));
  }
};

struct LeakyReluGrad {
  static constexpr auto kName = "LeakyReluGrad";
  static constexpr bool kSameShapes = true;
  float alpha = 0.2f;
  using Sig = ActivationGradSignature<LeakyType<"T">>;
  static constexpr std::tuple kAttrs{Field{"alpha", &LeakyReluGrad::alpha}};
  static constexpr auto kLastOperand = &LeakyReluGrad::alpha;
  PENSTOCK_SCALAR static auto Eval(auto dy, auto x, float alpha) {
    using T = decltype(x);
    return math::Select(x > T(0), dy, dy * static_cast<T>(alpha));
  }
  void Gradient(Gradients& g) const {
    g.Set(0, Op("LeakyReluGrad", g.dy(), g.input(1), {{"alpha", alpha}}));
    g.Set(1, Op("ZerosLike", g.input(1)));
  }
};

struct Elu {
  static constexpr auto kName = "Elu";
  static constexpr double kCost = 9;
  using Sig = ActivationSignature<SmoothType<"T">>;
  using VectorTypes = Types<float>;
  PENSTOCK_SCALAR static auto Eval(auto x) {
    return math::Select(x < decltype(x)(0), math::Expm1(x), x);
  }
  static Expr Gradient(Expr, Expr y, Expr dy) { return Op("EluGrad", dy, y); }
};

struct EluGrad {
  static constexpr auto kName = "EluGrad";
  static constexpr bool kSameShapes = true;
  using Sig = OutputGradSignature<SmoothType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto dy, auto y) {
    using T = decltype(y);
    return math::Select(y < T(0), (y + T(1)) * dy, dy);
  }
  static std::array<Expr, 2> Gradient(Expr dy, Expr y, Expr, Expr dz) {
    const Expr zeros = Op("ZerosLike", y);
    return {Op("EluGrad", dz, y), Op("SelectV2", Op("Less", y, zeros), dz * dy, zeros)};
  }
};

inline constexpr double kSeluScale = 1.0507009873554804934193349852946;
inline constexpr double kSeluScaleAlpha = 1.7580993408473768599402175208123;

struct Selu {
  static constexpr auto kName = "Selu";
  static constexpr double kCost = 9;
  using Sig = ActivationSignature<SmoothType<"T">>;
  using VectorTypes = Types<float>;
  PENSTOCK_SCALAR static auto Eval(auto x) {
    using T = decltype(x);
    return math::Select(x < T(0), T(kSeluScaleAlpha) * math::Expm1(x), T(kSeluScale) * x);
  }
  static Expr Gradient(Expr, Expr y, Expr dy) { return Op("SeluGrad", dy, y); }
};

struct SeluGrad {
  static constexpr auto kName = "SeluGrad";
  static constexpr bool kSameShapes = true;
  using Sig = OutputGradSignature<SmoothType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto dy, auto y) {
    using T = decltype(y);
    return math::Select(y < T(0), dy * (y + T(kSeluScaleAlpha)), dy * T(kSeluScale));
  }
  static std::array<Expr, 2> Gradient(Expr dy, Expr y, Expr, Expr dz) {
    const Expr zeros = Op("ZerosLike", y);
    return {Op("SeluGrad", dz, y), Op("SelectV2", Op("Less", y, zeros), dz * dy, zeros)};
  }
};

// log(1 + e^x), in a form that neither overflows nor loses small results.
struct Softplus {
  static constexpr auto kName = "Softplus";
  static constexpr double kCost = 16;
  using Sig = ActivationSignature<SmoothType<"T">>;
  using VectorTypes = Types<float>;
  PENSTOCK_SCALAR static auto Eval(auto x) {
    return math::Max(x, decltype(x)(0)) + math::Log1p(math::Exp(-std::fabs(x)));
  }
  static Expr Gradient(Expr x, Expr, Expr dy) { return dy * Op("Sigmoid", x); }
};

struct SoftplusGrad {
  static constexpr auto kName = "SoftplusGrad";
  static constexpr double kCost = 10;
  static constexpr bool kSameShapes = true;
  using Sig = ActivationGradSignature<SmoothType<"T">>;
  using VectorTypes = Types<float>;
  PENSTOCK_SCALAR static auto Eval(auto dy, auto x) {
    return dy / (math::Exp(-x) + decltype(x)(1));
  }
  static std::array<Expr, 2> Gradient(Expr dy, Expr x, Expr, Expr dz) {
    return {Op("SoftplusGrad", dz, x), dz * dy / (Op("Exp", -x) + 2.0 + Op("Exp", x))};
  }
};

struct Softsign {
  static constexpr auto kName = "Softsign";
  static constexpr double kCost = 2;
  using Sig = ActivationSignature<SmoothType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return x / (decltype(x)(1) + std::fabs(x)); }
  static Expr Gradient(Expr x, Expr, Expr dy) { return Op("SoftsignGrad", dy, x); }
};

struct SoftsignGrad {
  static constexpr auto kName = "SoftsignGrad";
  static constexpr double kCost = 3;
  static constexpr bool kSameShapes = true;
  using Sig = ActivationGradSignature<SmoothType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto dy, auto x) {
    const auto root = decltype(x)(1) + std::fabs(x);
    return dy / (root * root);
  }
  static std::array<Expr, 2> Gradient(Expr, Expr x, Expr z, Expr dz) {
    const Expr slope = -2.0 * Op("Sign", x) / (1.0 + Op("Abs", x));
    return {Op("SoftsignGrad", dz, x), dz * z * slope};
  }
};

using ActivationOps =
    OpList<Relu, ReluGrad, Relu6, Relu6Grad, LeakyRelu, LeakyReluGrad, Elu, EluGrad, Selu, SeluGrad,
           Softplus, SoftplusGrad, Softsign, SoftsignGrad>;

}  // namespace penstock::ops
