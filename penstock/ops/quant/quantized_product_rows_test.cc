#include "penstock/ops/quant/quantized_product.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

// Numbers of a quantised type.
template <class T>
Value Quantized(Shape shape, std::vector<int> numbers) {
  return [shape, numbers](uint64_t) {
    Tensor tensor(kDTypeOf<T>, shape);
    for (size_t i = 0; i < numbers.size(); ++i) {
      tensor.mutable_data<T>()[i].value = static_cast<decltype(T::value)>(numbers[i]);
    }
    return tensor;
  };
}

const Value kA = Quantized<quint8>({2, 3}, {1, 200, 3, 40, 5, 255});
const Value kB = Quantized<quint8>({3, 2}, {7, 0, 9, 128, 200, 33});
const Value kProduct = Quantized<qint32>({2, 2}, {-14117, 13850, 31345, -6250});

const OpRows kQuantizedMatMulRows{
    Row(QuantizedMatMul{})
        .Inputs(kA, kB, Scalar(-1.f), Scalar(2.f), Scalar(-0.5f), Scalar(3.f))
        .Expect(kProduct, Scalar(-346767.84f), Scalar(346767.84f)),
    Row(QuantizedMatMul{.transpose_a = true, .transpose_b = true})
        .Inputs(Quantized<quint8>({3, 2}, {1, 40, 200, 5, 3, 255}),
                Quantized<quint8>({2, 3}, {7, 9, 200, 0, 128, 33}), Scalar(-1.f), Scalar(2.f),
                Scalar(-0.5f), Scalar(3.f))
        .Expect(kProduct, Scalar(-346767.84f), Scalar(346767.84f))
        .Named("transposed"),
    // The same numbers and meaning, each less 128.
    Row(QuantizedMatMul{})
        .Inputs(Quantized<qint8>({2, 3}, {-127, 72, -125, -88, -123, 127}),
                Quantized<qint8>({3, 2}, {-121, -128, -119, 0, 72, -95}), Scalar(-1.f), Scalar(2.f),
                Scalar(-0.5f), Scalar(3.f))
        .Expect(kProduct, Scalar(-346767.84f), Scalar(346767.84f))
        .Named("signed"),
    Row(QuantizedMatMul{})
        .Inputs(Quantized<quint8>({2, 0}, {}), Quantized<quint8>({0, 1}, {}), Scalar(0.f),
                Scalar(1.f), Scalar(0.f), Scalar(1.f))
        .Named("nothing_to_sum"),
    Row(QuantizedMatMul{})
        .Inputs(kA, kB, Scalar(2.f), Scalar(2.f), Scalar(-0.5f), Scalar(3.f))
        .Fails(Code::kInvalidArgument, "2 and 2"),
    Row(QuantizedMatMul{})
        .Inputs(kA, kA, Scalar(0.f), Scalar(2.f), Scalar(-0.5f), Scalar(3.f))
        .Fails(Code::kInvalidArgument, "3 vs 2"),
    Row(QuantizedMatMul{})
        .Inputs(kA, kB, Uniform({1}), Scalar(2.f), Scalar(-0.5f), Scalar(3.f))
        .Fails(Code::kInvalidArgument, "scalar"),
};

QuantizedConv2D Padded(std::string padding) {
  return {.strides = {1, 1, 1, 1}, .padding = std::move(padding)};
}
const Value kImages =
    Quantized<quint8>({1, 3, 2, 2}, {0, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 220});
const Value kFilter = Quantized<quint8>(
    {2, 2, 2, 2}, {0, 15, 30, 45, 60, 75, 90, 105, 120, 135, 150, 165, 180, 195, 210, 225});

const OpRows kQuantizedConv2DRows{
    Row(Padded("SAME"))
        .Inputs(kImages, kFilter, Scalar(-1.f), Scalar(2.f), Scalar(-0.5f), Scalar(3.f))
        .Expect(Quantized<qint32>({1, 3, 2, 2}, {16920, 15120, 10980, 11280, 61080, 68880, 23460,
                                                 28560, 6780, 13080, -4950, -1200}),
                Scalar(-346767.84f), Scalar(346767.84f)),
    Row(Padded("VALID"))
        .Inputs(kImages, kFilter, Scalar(-1.f), Scalar(2.f), Scalar(-0.5f), Scalar(3.f))
        .Expect(Quantized<qint32>({1, 2, 1, 2}, {16920, 15120, 61080, 68880}), Scalar(-346767.84f),
                Scalar(346767.84f)),
    Row(Padded("SAME"))
        .Inputs(kImages, kFilter, Scalar(1.f), Scalar(2.f), Scalar(-0.5f), Scalar(3.f))
        .Fails(Code::kInvalidArgument, "contain 0"),
    Row(Padded("SAME"))
        .Inputs(kImages, Quantized<quint8>({1, 1, 1, 2}, {1, 2}), Scalar(-1.f), Scalar(2.f),
                Scalar(-0.5f), Scalar(3.f))
        .Fails(Code::kInvalidArgument, "as many channels"),
    Row(Padded("SAME"))
        .Inputs(kImages, kFilter, Scalar(-1.f), Scalar(std::numeric_limits<float>::infinity()),
                Scalar(-0.5f), Scalar(3.f))
        .Fails(Code::kInvalidArgument, "finite"),
};

}  // namespace
}  // namespace penstock::rows
