#pragma once

#include <array>
#include <complex>

#include "penstock/core/scalar_function.h"
#include "penstock/ops/elementwise.h"
#include "penstock/ops/type_sets.h"

// Complex numbers and their parts, element by element.

namespace penstock::ops {

template <FixedString Name>
using ComplexType = TypeVarOr<Name, complex64, complex64, complex128>;
template <FixedString Name>
using PartType = TypeVarOr<Name, float, float, double>;
using PartSignature = Signature<In<"input", ComplexType<"T">>, Out<"output", PartType<"Tout">>>;

// Complex numbers of dtype `dtype` from their parts.
Expr MakeComplex(const Expr& real, const Expr& imag, DType dtype);

struct Conjugate {
  static constexpr auto kName = "Conj";
  using T = TypeVarOr<"T", complex64, complex64, complex128, Variant>;
  using Sig = Signature<In<"input", T>, Out<"output", T>>;
  using CpuTypes = Types<complex64, complex128>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return std::conj(x); }
  static Expr Gradient(Expr, Expr, Expr dy) { return Conj(dy); }
};

struct Real {
  static constexpr auto kName = "Real";
  using Sig = PartSignature;
  PENSTOCK_SCALAR static auto Eval(auto x) { return x.real(); }
  static Expr Gradient(Expr x, Expr, Expr dy) {
    return MakeComplex(dy, dy.scope().Like(dy, 0), x.dtype());
  }
};

struct Imag {
  static constexpr auto kName = "Imag";
  using Sig = PartSignature;
  PENSTOCK_SCALAR static auto Eval(auto x) { return x.imag(); }
  static Expr Gradient(Expr x, Expr, Expr dy) {
    return MakeComplex(dy.scope().Like(dy, 0), dy, x.dtype());
  }
};

struct Angle {
  static constexpr auto kName = "Angle";
  static constexpr double kCost = 40;
  using Sig = PartSignature;
  PENSTOCK_SCALAR static auto Eval(auto x) { return std::arg(x); }
  static Expr Gradient(Expr x, Expr, Expr dy);
};

struct ComplexAbs {
  static constexpr auto kName = "ComplexAbs";
  static constexpr double kCost = 20;
  using Sig = Signature<In<"x", ComplexType<"T">>, Out<"y", PartType<"Tout">>>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return std::abs(x); }
  static Expr Gradient(Expr x, Expr y, Expr dy);
};

struct Complex {
  static constexpr auto kName = "Complex";
  using Sig = Signature<In<"real", PartType<"T">>, In<"imag", PartType<"T">>,
                        Out<"out", ComplexType<"Tout">>>;
  using VectorTypes = Types<>;
  template <class T>
  PENSTOCK_SCALAR static std::complex<T> Eval(T real, T imag) {
    return {real, imag};
  }
  static std::array<Expr, 2> Gradient(Expr real, Expr, Expr, Expr dz) {
    return {Op("Real", dz, {{"Tout", real.dtype()}}), Op("Imag", dz, {{"Tout", real.dtype()}})};
  }
};

using ComplexOps = OpList<Conjugate, Real, Imag, Angle, ComplexAbs, Complex>;

}  // namespace penstock::ops
