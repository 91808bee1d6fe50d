#include "penstock/ops/random/fill.h"

#include "penstock/kernels/random.h"
#include "penstock/ops/dtype_switch.h"

namespace penstock::ops {
namespace {

using kernels::Philox;

template <class T>
void FillFloats(Distribution distribution, const Philox& stream, T* out, int64_t n,
                const ParallelFor& each) {
  switch (distribution) {
    case Distribution::kUniform:
      return kernels::FillUniform(stream, out, n, each);
    case Distribution::kNormal:
      return kernels::FillNormal(stream, out, n, each);
    default:
      return kernels::FillTruncatedNormal(stream, out, n, each);
  }
}

Status CheckRangeShapes(const Shape& low, const Shape& high) {
  TRY(CheckScalar(low, "minval"));
  return CheckScalar(high, "maxval");
}

void StoreKey(const Tensor& seed, Tensor& key, Tensor& counter) {
  const Philox stream = StreamOfSeed(seed);
  key.mutable_data<uint64_t>()[0] = stream.key();
  counter.mutable_data<uint64_t>()[0] = stream.counter_low();
  counter.mutable_data<uint64_t>()[1] = stream.counter_high();
}

}  // namespace

Status FillFrom(CpuContext& context, Distribution distribution, const Philox& stream, Tensor& out) {
  const int64_t n = out.num_elements();
  const ParallelFor& each = context.parallel();
  if (distribution == Distribution::kBits) {
    if (SizeOf(out.dtype()) == 4) {
      kernels::FillBits(stream, static_cast<uint32_t*>(out.mutable_raw()), n, each);
    } else {
      kernels::FillBits(stream, static_cast<uint64_t*>(out.mutable_raw()), n, each);
    }
    return OkStatus();
  }
  return ForDType(out.dtype(), Types<float, double, half, bfloat16>(), [&]<class T>() {
    FillFloats(distribution, stream, out.mutable_data<T>(), n, each);
    return OkStatus();
  });
}

using RangeTypes = Types<int32_t, int64_t, uint32_t, uint64_t>;

Status CheckRange(const Tensor& low, const Tensor& high) {
  return ForDType(low.dtype(), RangeTypes(), [&]<class T>() {
    const T from = low.scalar<T>(), to = high.scalar<T>();
    return from < to ? OkStatus() : InvalidArgument("Need minval < maxval, got {} >= {}", from, to);
  });
}

Status FillBetween(CpuContext& context, const Tensor& low, const Tensor& high, const Philox& stream,
                   Tensor& out) {
  // Impossible numbers may be asked for when none are wanted.
  if (out.num_elements() == 0) return OkStatus();
  TRY(CheckRange(low, high));
  return ForDType(out.dtype(), RangeTypes(), [&]<class T>() {
    using U = std::make_unsigned_t<T>;
    const U from = static_cast<U>(low.scalar<T>());
    const U range = static_cast<U>(high.scalar<T>()) - from;
    kernels::FillIntegers(stream, from, range, static_cast<U*>(out.mutable_raw()),
                          out.num_elements(), context.parallel());
    return OkStatus();
  });
}

Result<Shape> RandomUniformInt::InferShape(const Integers& shape, const Shape& minval,
                                           const Shape& maxval) const {
  TRY(CheckRangeShapes(minval, maxval));
  return DrawnShape(shape);
}
Status RandomUniformInt::Draw(CpuContext& context, NodeStream& node) const {
  Tensor& out = context.output(0);
  if (out.num_elements() == 0) return OkStatus();
  TRY(CheckRange(context.input(1), context.input(2)));
  TRY_ASSIGN(const Philox stream, node.ReserveNumbers(context, out.num_elements()));
  return FillBetween(context, context.input(1), context.input(2), stream, out);
}

Result<Shape> StatelessRandomUniformInt::InferShape(const Integers& shape, const Shape& seed,
                                                    const Shape& minval,
                                                    const Shape& maxval) const {
  TRY(CheckSeed(seed));
  TRY(CheckRangeShapes(minval, maxval));
  return DrawnShape(shape);
}
Status StatelessRandomUniformInt::ComputeCpu(CpuContext& context, const Tensor&, const Tensor& seed,
                                             const Tensor& minval, const Tensor& maxval,
                                             Tensor& output) const {
  return FillBetween(context, minval, maxval, StreamOfSeed(seed), output);
}

Result<Shape> StatelessRandomUniformIntV2::InferShape(const Integers& shape, const Shape& key,
                                                      const Shape& counter, const Shape& alg,
                                                      const Shape& minval,
                                                      const Shape& maxval) const {
  TRY(CheckKey(key, counter, alg));
  TRY(CheckRangeShapes(minval, maxval));
  return DrawnShape(shape);
}
Status StatelessRandomUniformIntV2::ComputeCpu(CpuContext& context, const Tensor&,
                                               const Tensor& key, const Tensor& counter,
                                               const Tensor& alg, const Tensor& minval,
                                               const Tensor& maxval, Tensor& output) const {
  TRY_ASSIGN(const Philox stream, StreamOfKey(key, counter, alg));
  return FillBetween(context, minval, maxval, stream, output);
}

Result<std::array<Shape, 2>> StatelessRandomGetKeyCounter::InferShape(const Shape& seed) const {
  TRY(CheckSeed(seed));
  return std::array<Shape, 2>{Shape{1}, Shape{2}};
}
Status StatelessRandomGetKeyCounter::ComputeCpu(CpuContext&, const Tensor& seed, Tensor& key,
                                                Tensor& counter) const {
  StoreKey(seed, key, counter);
  return OkStatus();
}

Result<std::array<Shape, 3>> StatelessRandomGetKeyCounterAlg::InferShape(const Shape& seed) const {
  TRY(CheckSeed(seed));
  return std::array<Shape, 3>{Shape{1}, Shape{2}, Shape()};
}
Status StatelessRandomGetKeyCounterAlg::ComputeCpu(CpuContext&, const Tensor& seed, Tensor& key,
                                                   Tensor& counter, Tensor& alg) const {
  StoreKey(seed, key, counter);
  *alg.mutable_data<int32_t>() = kPhiloxAlgorithm;
  return OkStatus();
}

Status StatelessRandomGetAlg::ComputeCpu(CpuContext&, Tensor& alg) const {
  *alg.mutable_data<int32_t>() = kPhiloxAlgorithm;
  return OkStatus();
}

void RegisterRandomFill(Registrar& registrar) {
  registrar.AddAll<RandomUniform, RandomStandardNormal, TruncatedNormal, RandomUniformInt>();
  registrar.AddAll<StatelessRandomUniform, StatelessRandomNormal, StatelessTruncatedNormal,
                   StatelessRandomUniformFullInt, StatelessRandomUniformInt>();
  registrar.AddAll<StatelessRandomUniformV2, StatelessRandomNormalV2, StatelessTruncatedNormalV2,
                   StatelessRandomUniformFullIntV2, StatelessRandomUniformIntV2>();
  registrar.AddAll<StatelessRandomGetKeyCounter, StatelessRandomGetKeyCounterAlg,
                   StatelessRandomGetAlg>();
}

}  // namespace penstock::ops
