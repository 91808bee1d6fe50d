#include <cmath>
#include <limits>

#include "penstock/ops/assertions.h"
#include "penstock/ops/bessel.h"
#include "penstock/ops/special.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
const Value kAny = Uniform<double>({3, 7}, -3, 3);
const Value kPositive = Uniform<double>({3, 7}, 0.2, 30);
const Value kUnit = Uniform<double>({3, 7}, 0.02, 0.98);

const OpRows kBesselRows{
    Row(BesselJ0{}).Inputs(kAny).EachElement(::j0).Gradient(),
    Row(BesselJ1{}).Inputs(kAny).EachElement(::j1).Gradient(),
    Row(BesselY0{}).Inputs(kPositive).EachElement(::y0).Gradient(),
    Row(BesselY1{}).Inputs(kPositive).EachElement(::y1).Gradient(),
    Row(BesselI0{})
        .Inputs(Vector<double>({0, 1, -2.5, 30}))
        .Expect(Vector<double>({1, 1.2660658777520084, 3.2898391440501231, 781672297823.97754}))
        .Tolerance(1e-13)
        .NoGradient(),
    Row(BesselI0{}).Inputs(kAny).Gradient(),
    Row(BesselI1{}).Inputs(kAny).Gradient(),
    Row(BesselI1{})
        .Inputs(Vector<double>({0, 1, -2.5, 30}))
        .Expect(Vector<double>({0, 0.56515910399248503, -2.5167162452886984, 768532038938.95691}))
        .Tolerance(1e-13)
        .NoGradient(),
    Row(BesselI0e{}).Inputs(kAny).Gradient(),
    Row(BesselI1e{}).Inputs(kAny).Gradient(),
    Row(BesselK0{})
        .Inputs(Vector<double>({0.5, 2, 3, 25}))
        .Expect(Vector<double>({0.92441907122766587, 0.11389387274953344, 0.034739504386279248,
                                3.4641615622131156e-12}))
        .Tolerance(1e-13)
        .Gradient(),
    Row(BesselK1{})
        .Inputs(Vector<double>({0.5, 2, 3, 25}))
        .Expect(Vector<double>({1.6564411200033009, 0.13986588181652243, 0.040156431128194184,
                                3.5327780731999337e-12}))
        .Tolerance(1e-13)
        .Gradient(),
    Row(BesselK0e{}).Inputs(kPositive).Gradient(),
    Row(BesselK1e{}).Inputs(kPositive).Gradient(),
    Row(BesselK0{})
        .Inputs(Vector<double>({0, -1}))
        .NoGradient()
        .Expect(Vector<double>({kInf, kInf})),
    Row(BesselI0e{}).Inputs(Empty<float>({0, 3})).Expect(Empty<float>({0, 3})),
};

const OpRows kSpecialRows{
    Row(Erfinv{})
        .Inputs(Vector<double>({0, 0.3, -0.7, 0.999999, 1, -1, 2}))
        .Expect(Vector<double>(
            {0, 0.27246271472675436, -0.73286907795921685, 3.458910737275499, kInf, -kInf, kNan}))
        .Tolerance(1e-13)
        .NoGradient(),
    Row(Erfinv{}).Inputs(kUnit).Gradient(),
    Row(Ndtri{})
        .Inputs(Vector<double>({0.5, 0.025, 1e-300, 0, 1, -1}))
        .Expect(Vector<double>({0, -1.9599639845400545, -37.047096299361201, -kInf, kInf, kNan}))
        .Tolerance(1e-13)
        .NoGradient(),
    Row(Ndtri{}).Inputs(kUnit).Gradient(),
    Row(Igamma{})
        .Inputs(Vector<double>({0.5, 3, 10, 100, 1, -1}), Vector<double>({0.25, 2, 15, 90, 0, 1}))
        .Expect(Vector<double>({std::erf(0.5), 0.32332358381693654, 0.93014633930059023,
                                0.15822098918643016, 0, kNan}))
        .Tolerance(1e-11)
        .NoGradient(),
    Row(Igamma{}).Inputs(kPositive, kPositive).Gradient(),
    Row(Igammac{}).Inputs(kPositive, Uniform<double>({7}, 0.5, 20)).Gradient(),
    Row(Igamma{}).Inputs(Uniform({2}), Uniform({3})).Fails(kBad, ""),
    // -(dP/da) / (dP/dx).
    Row(RandomGammaGrad{})
        .Inputs(Vector<double>({2}), Vector<double>({3}))
        .Expect(Vector<double>({1.3217985181779608}))
        .Tolerance(1e-10),
    Row(Betainc{})
        .Inputs(Vector<double>({2, 0.5, 10}), Vector<double>({3, 0.5, 1}),
                Vector<double>({0.5, 0.25, 0.9}))
        .Expect(Vector<double>({0.6875, 1.0 / 3, std::pow(0.9, 10)}))
        .Tolerance(1e-12)
        .NoGradient(),
    Row(Betainc{}).Inputs(Scalar<float>(2), Uniform({3}), Uniform({2})).Fails(kBad, ""),
    Row(Betainc{}).Inputs(Scalar<float>(2), Empty({0}), Scalar<float>(0.5)).Expect(Empty({0})),
    Row(PopulationCount{})
        .Inputs(Vector<int16_t>({0, 1, -1, 255}))
        .Expect(Vector<uint8_t>({0, 1, 16, 8})),
};

const OpRows kCheckRows{
    Row(CheckNumericsV2{"m"})
        .Inputs(Vector<double>({1, -kInf, kNan}))
        .Fails(kBad, "m : Tensor had -Inf and NaN values"),
    Row(CheckNumericsV2{"m"}).Inputs(Vector<double>({kInf})).Fails(kBad, "had +Inf values"),
    Row(CheckNumericsV2{"m"}).Inputs(kAny).Gradient(),
    Row(PrintV2{.output_stream = "elsewhere"})
        .Inputs(Scalar<std::string>("text"))
        .Fails(kBad, "elsewhere"),
    Row(PrintV2{}).Inputs(Vector<std::string>({"a", "b"})).Fails(kBad, "input"),
};

}  // namespace
}  // namespace penstock::rows
