#include "penstock/train/nn/initializers.h"

#include <algorithm>
#include <cmath>

#include "penstock/client/build_scope.h"
#include "penstock/client/error.h"

namespace penstock::nn {
namespace {

// Writes the nodes of one initial value.
class Writer {
 public:
  explicit Writer(const InitialRequest& request)
      : graph_(request.graph), scope_(BuildScope::Current(request.graph, {})) {}

  const Scope& scope() const { return scope_; }
  Expr Dims(const Shape& shape) const {
    Tensor dims(DType::kInt64, Shape{shape.rank()});
    std::copy(shape.dims().begin(), shape.dims().end(), dims.mutable_data<int64_t>());
    return scope_.Constant(dims, "shape");
  }
  Expr Fill(const Shape& shape, float value) const {
    return scope_.Add("Fill", {Dims(shape), scope_.Constant(Tensor::Scalar(value), "value")});
  }
  // Numbers of a standard distribution, from two halves of one seed.
  Expr Draw(std::string_view op, const Shape& shape, uint64_t seed) const {
    const Tensor halves = Tensor::FromValues<int64_t>(
        Shape{2}, {static_cast<int64_t>(seed), static_cast<int64_t>(~seed)});
    return scope_.Add(op, {Dims(shape), scope_.Constant(halves, "seed")});
  }
  Output<float> Finish(const Expr& value) const {
    OrThrow(scope_.status());
    return {graph_, value.ref()};
  }

 private:
  Graph& graph_;
  Scope scope_;
};

uint64_t Mixed(const InitialRequest& request, uint64_t seed) {
  return request.seed ^ (seed * 0x9e3779b97f4a7c15u);
}

struct Fans {
  double in = 1, out = 1;
};
// Of a matrix its sides; of a filter [window..., in, out] as often as the window has places.
Fans FansOf(const Shape& shape) {
  const int rank = shape.rank();
  if (rank == 0) return {};
  if (rank == 1) return {double(shape[0]), double(shape[0])};
  double window = 1;
  for (int i = 0; i + 2 < rank; ++i) window *= double(shape[i]);
  return {std::max(1.0, window * double(shape[rank - 2])),
          std::max(1.0, window * double(shape[rank - 1]))};
}

enum class Fan { kIn, kAverage };
double VarianceOf(const Shape& shape, double scale, Fan fan) {
  const Fans fans = FansOf(shape);
  return scale / std::max(1.0, fan == Fan::kIn ? fans.in : (fans.in + fans.out) / 2);
}

Initializer ScaledUniform(double scale, Fan fan, uint64_t seed) {
  return [=](const InitialRequest& request) {
    const float limit = static_cast<float>(std::sqrt(3 * VarianceOf(request.shape, scale, fan)));
    return Uniform(-limit, limit, seed)(request);
  };
}

Initializer ScaledNormal(double scale, Fan fan, uint64_t seed) {
  // The deviation of a standard normal that was cut at 2, to be made up for.
  constexpr double kTruncated = 0.87962566103423978;
  return [=](const InitialRequest& request) {
    const double stddev = std::sqrt(VarianceOf(request.shape, scale, fan)) / kTruncated;
    return TruncatedNormal(0, static_cast<float>(stddev), seed)(request);
  };
}

Initializer Shifted(std::string_view op, float mean, float stddev, uint64_t seed) {
  return [=](const InitialRequest& request) {
    const Writer writer(request);
    Expr value = writer.Draw(op, request.shape, Mixed(request, seed)) * stddev;
    if (mean != 0) value = value + mean;
    return writer.Finish(value);
  };
}

void RequireMatrix(const Shape& shape, std::string_view what) {
  if (shape.rank() < 2)
    throw Error(InvalidArgument("{} needs at least two axes, got shape {}", what, shape));
}

}  // namespace

Initializer Zeros() { return ConstantValue(0); }
Initializer Ones() { return ConstantValue(1); }

Initializer ConstantValue(float value) {
  return [=](const InitialRequest& request) {
    const Writer writer(request);
    return writer.Finish(writer.Fill(request.shape, value));
  };
}

Initializer Uniform(float low, float high, uint64_t seed) {
  return [=](const InitialRequest& request) {
    const Writer writer(request);
    const Expr unit = writer.Draw("StatelessRandomUniform", request.shape, Mixed(request, seed));
    return writer.Finish(unit * (double(high) - low) + low);
  };
}

Initializer Normal(float mean, float stddev, uint64_t seed) {
  return Shifted("StatelessRandomNormal", mean, stddev, seed);
}
Initializer TruncatedNormal(float mean, float stddev, uint64_t seed) {
  return Shifted("StatelessTruncatedNormal", mean, stddev, seed);
}

Initializer GlorotUniform(uint64_t seed) { return ScaledUniform(1, Fan::kAverage, seed); }
Initializer GlorotNormal(uint64_t seed) { return ScaledNormal(1, Fan::kAverage, seed); }
Initializer HeUniform(uint64_t seed) { return ScaledUniform(2, Fan::kIn, seed); }
Initializer HeNormal(uint64_t seed) { return ScaledNormal(2, Fan::kIn, seed); }
Initializer LecunUniform(uint64_t seed) { return ScaledUniform(1, Fan::kIn, seed); }
Initializer LecunNormal(uint64_t seed) { return ScaledNormal(1, Fan::kIn, seed); }

Initializer Orthogonal(float gain, uint64_t seed) {
  return [=](const InitialRequest& request) {
    const Shape& shape = request.shape;
    RequireMatrix(shape, "an orthogonal initializer");
    const int64_t columns = shape[shape.rank() - 1];
    const int64_t rows = columns == 0 ? 0 : shape.num_elements() / columns;
    const Shape tall{std::max(rows, columns), std::min(rows, columns)};
    const Writer writer(request);
    const Expr normal = writer.Draw("StatelessRandomNormal", tall, Mixed(request, seed));
    const Expr q = writer.scope().Add("Qr", {normal}, {{"full_matrices", false}});
    // The signs of R's diagonal make the distribution uniform.
    const Expr signs = Op("Sign", Op("MatrixDiagPart", q.Output(1)));
    Expr value = q * signs * gain;
    if (rows < columns) {
      const Tensor swap = Tensor::FromValues<int32_t>(Shape{2}, {1, 0});
      value = Op("Transpose", value, writer.scope().Constant(swap));
    }
    return writer.Finish(Op("Reshape", value, writer.Dims(shape)));
  };
}

Initializer IdentityMatrix(float gain) {
  return [=](const InitialRequest& request) {
    const Shape& shape = request.shape;
    if (shape.rank() != 2)
      throw Error(InvalidArgument("an identity matrix has two axes, got shape {}", shape));
    const Writer writer(request);
    const Expr diagonal = writer.Fill(Shape{std::min(shape[0], shape[1])}, gain);
    return writer.Finish(Op("MatrixSetDiag", writer.Fill(shape, 0), diagonal));
  };
}

}  // namespace penstock::nn
