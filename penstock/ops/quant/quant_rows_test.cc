#include "penstock/ops/quant/fake_quant.h"
#include "penstock/ops/quant/quantize.h"
#include "penstock/ops/quant/round_trip.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;
const Value kX = Vector<float>({-3, -1, 0, 0.25, 1, 9});
const Value kLow = Scalar<float>(-1), kHigh = Scalar<float>(1);

const OpRows kFakeQuantRows{
    // Steps of 1/3 from -1/3 on: the range -1/2 to 1/2 moved so that 0 is a step.
    Row(FakeQuantWithMinMaxVars{.num_bits = 2})
        .Inputs(kX, Scalar<float>(-0.5), Scalar<float>(1))
        .Expect(Vector<float>({-0.5, -0.5, 0, 0.5, 1, 1}))
        .NoGradient(),
    Row(FakeQuantWithMinMaxVars{})
        .Inputs(kX, Scalar<float>(0), Scalar<float>(0))
        .NoGradient()
        .Expect(Vector<float>({0, 0, 0, 0, 0, 0})),
    Row(FakeQuantWithMinMaxVars{}).Inputs(Empty({0, 2}), kLow, kHigh).Expect(Empty({0, 2})),
    Row(FakeQuantWithMinMaxVars{}).Inputs(kX, kX, kHigh).Fails(kBad, "min"),
    Row(FakeQuantWithMinMaxVars{.num_bits = 17}).Inputs(kX, kLow, kHigh).Fails(kBad, "17"),
    Row(FakeQuantWithMinMaxArgs{}).Inputs(kX).NoGradient(),
    Row(FakeQuantWithMinMaxVarsPerChannel{.num_bits = 2})
        .Inputs(Values<float>({2, 2}, {-3, 0.5, 0.9, 9}), Vector<float>({-0.5, -1}),
                Vector<float>({1, 2}))
        .Expect(Values<float>({2, 2}, {-0.5, 1, 1, 2}))
        .NoGradient(),
    Row(FakeQuantWithMinMaxVarsPerChannel{})
        .Inputs(Values<float>({1, 2}, {1, 2}), Vector<float>({1}), Vector<float>({1}))
        .Fails(kBad, "expected 2 was 1"),
    Row(FakeQuantWithMinMaxVarsPerChannel{}).Inputs(kHigh, kLow, kHigh).Fails(kBad, "inputs"),
    Row(FakeQuantWithMinMaxVarsGradient{.num_bits = 2})
        .Inputs(Vector<float>({1, 2, 3, 4, 5, 6}), kX, Scalar<float>(-0.5), Scalar<float>(1))
        .Expect(Vector<float>({0, 0, 3, 4, 5, 0}), Scalar<float>(3), Scalar<float>(6)),
    Row(FakeQuantWithMinMaxVarsGradient{}).Inputs(kX, kHigh, kLow, kHigh).Fails(kBad, ""),
};

const OpRows kQuantizeRows{
    Row(QuantizeV2{.mode = "SCALED"})
        .Attr("T", DType::kQint8)
        .Inputs(kX, kLow, kHigh)
        .Expect(Vector<qint8>({{-128}, {-127}, {0}, {32}, {127}, {127}}),
                Scalar<float>(-128.f / 127), Scalar<float>(1)),
    Row(QuantizeV2{}).Attr("T", DType::kQuint8).Inputs(Empty({0}), kLow, kHigh),
    Row(QuantizeV2{}).Attr("T", DType::kQuint8).Inputs(kX, kHigh, kLow).Fails(kBad, "1 > -1"),
    Row(QuantizeV2{.axis = 1})
        .Attr("T", DType::kQuint8)
        .Inputs(kX, kLow, kHigh)
        .Fails(kBad, "axis"),
    Row(QuantizeV2{.round_mode = "HALF_TO_EVEN"})
        .Attr("T", DType::kQuint8)
        .Inputs(kX, kLow, kHigh)
        .Fails(kBad, "HALF_TO_EVEN"),
    Row(Dequantize{})
        .Inputs(Vector<quint8>({{0}, {51}, {255}}), Scalar<float>(-1), Scalar<float>(4))
        .Expect(Vector<float>({-1, 0, 4})),
    Row(Dequantize{.axis = 0})
        .Inputs(Values<quint8>({2, 1}, {{0}, {255}}), Vector<float>({-1, -2}),
                Vector<float>({4, 5}))
        .Expect(Values<float>({2, 1}, {-1, 5})),
    Row(Dequantize{}).Inputs(Vector<quint8>({{0}}), kX, kHigh).Fails(kBad, "min_range"),
    Row(Requantize{})
        .Attr("out_type", DType::kQuint8)
        .Inputs(Vector<qint32>({{-2147483647}, {0}, {1 << 30}, {2147483647}}), kLow, kHigh, kLow,
                kHigh)
        .Expect(Vector<quint8>({{0}, {128}, {191}, {255}}), kLow, kHigh),
    Row(Requantize{})
        .Attr("out_type", DType::kQuint8)
        .Inputs(Vector<qint32>({{1}}), kLow, kHigh, kHigh, kHigh)
        .Fails(kBad, "requested_output_min"),
    Row(Requantize{})
        .Attr("out_type", DType::kQuint8)
        .Inputs(Vector<qint32>({{1}}), kLow, kHigh, kLow, Scalar<float>(-2))
        .Fails(kBad, "requested_output_max"),
    Row(RequantizationRange{})
        .Inputs(Vector<qint32>({{1 << 30}, {1 << 29}}), kLow, kHigh)
        .Expect(Scalar<float>(0), Scalar<float>(0.5)),
    Row(RequantizationRange{}).Inputs(Vector<qint32>({{1}}), kX, kHigh).Fails(kBad, "input_min"),
    Row(QuantizeDownAndShrinkRange{})
        .Attr("out_type", DType::kQuint8)
        .Inputs(Vector<qint32>({{0}, {1 << 30}}), kLow, kHigh)
        .Expect(Vector<quint8>({{0}, {255}}), Scalar<float>(0), Scalar<float>(0.5)),
};

const OpRows kRoundTripRows{
    Row(QuantizeAndDequantizeV2{.num_bits = 3, .range_given = true})
        .Inputs(kX, kLow, kHigh)
        .Expect(Vector<float>({-4.f / 3, -1, 0, 1.f / 3, 1, 1}))
        .NoGradient(),
    Row(QuantizeAndDequantizeV2{.num_bits = 3}).Inputs(Empty({2, 0}), kLow, kHigh),
    Row(QuantizeAndDequantizeV2{.num_bits = 0}).Inputs(kX, kLow, kHigh).Fails(kBad, "num_bits"),
    Row(QuantizeAndDequantizeV2{.range_given = true}).Inputs(kX, kHigh, kLow).Fails(kBad, "1"),
    Row(QuantizeAndDequantizeV2{.axis = 3}).Inputs(kX, kLow, kHigh).Fails(kBad, "axis"),
    Row(QuantizeAndDequantizeV3{}).Inputs(kX, kLow, kHigh, Scalar<int32_t>(64)).Fails(kBad, "64"),
    Row(QuantizeAndDequantizeV3{}).Inputs(kX, kLow, kHigh, Scalar<int32_t>(8)).NoGradient(),
    Row(QuantizeAndDequantizeV4Grad{})
        .Inputs(kX, kX, kLow, kHigh)
        .Expect(Vector<float>({-0.0f, -1, 0, 0.25, 1, 0}), Scalar<float>(0), Scalar<float>(0)),
};

}  // namespace
}  // namespace penstock::rows
