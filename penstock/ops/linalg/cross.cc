#include "penstock/ops/linalg/cross.h"

#include <type_traits>

#include "penstock/ops/dtype_switch.h"

namespace penstock::ops {
namespace {

// What the products are computed in: integers wrap, 16-bit floats are rounded once.
template <class T>
struct Wide {
  using Type = float;
};
template <>
struct Wide<double> {
  using Type = double;
};
template <class T>
requires std::is_integral_v<T>
struct Wide<T> {
  using Type = uint64_t;
};

}  // namespace

Result<Shape> Cross::InferShape(const Shape& a, const Shape& b) const {
  TRY_ASSIGN(const Shape shape, MergeShapes(a, b));
  TRY(CheckRankAtLeast(shape, 1, "a"));
  if (shape.has_rank() && shape[shape.rank() - 1] >= 0 && shape[shape.rank() - 1] != 3) {
    return InvalidArgument(
        "cross-products are only defined for vectors of 3 elements, got shape {}", shape);
  }
  return shape;
}

void Cross::Gradient(Gradients& g) const {
  g.Set(0, Op("Cross", g.input(1), g.dy()));
  g.Set(1, Op("Cross", g.dy(), g.input(0)));
}

Status Cross::ComputeCpu(CpuContext& context, const Tensor& a, const Tensor& b,
                         Tensor& product) const {
  return ForDType(a.dtype(), PlainRealNumbers(), [&]<class T>() {
    using W = typename Wide<T>::Type;
    const T* left = a.data<T>();
    const T* right = b.data<T>();
    T* out = product.mutable_data<T>();
    context.parallel()(a.num_elements() / 3, /*cost=*/10, [&](int64_t begin, int64_t end) {
      for (int64_t i = 3 * begin; i < 3 * end; i += 3) {
        const W u[] = {static_cast<W>(left[i]), static_cast<W>(left[i + 1]),
                       static_cast<W>(left[i + 2])};
        const W v[] = {static_cast<W>(right[i]), static_cast<W>(right[i + 1]),
                       static_cast<W>(right[i + 2])};
        out[i] = static_cast<T>(u[1] * v[2] - u[2] * v[1]);
        out[i + 1] = static_cast<T>(u[2] * v[0] - u[0] * v[2]);
        out[i + 2] = static_cast<T>(u[0] * v[1] - u[1] * v[0]);
      }
    });
    return OkStatus();
  });
}

void RegisterCross(Registrar& registrar) { registrar.Add<Cross>(); }

}  // namespace penstock::ops
