#include "penstock/ops/linalg/band_diag.h"
#include "penstock/ops/linalg/cross.h"
#include "penstock/ops/linalg/einsum.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

Row Equation(const char* text) { return Row(Einsum{.equation = text}); }

const OpRows kEinsumRows{
    Equation("ij,jk->ik").Inputs(Uniform({3, 4}), Uniform({4, 2})).Gradient(),
    Equation("ij,jk->ki").Inputs(Uniform({3, 4}), Uniform({4, 2})).Gradient().Named("swapped"),
    Equation("bqhd,bkhd->bhqk").Inputs(Uniform({2, 3, 2, 4}), Uniform({2, 5, 2, 4})).Gradient(),
    Equation("...ij,...jk->...ik").Inputs(Uniform({2, 1, 3, 4}), Uniform({5, 4, 2})).Gradient(),
    Equation("ij,...jk->...ik").Inputs(Uniform({3, 4}), Uniform({2, 4, 2})).Gradient(),
    Equation("i...j,jm->i...").Inputs(Uniform({2, 3, 4}), Uniform({4, 5})).Gradient(),
    Equation("mij,...jk->...ik")
        .Inputs(Uniform({2, 3, 4}), Uniform({2, 4, 2}))
        .Gradient()
        .Named("summed_and_broadcast"),
    Equation("iij->j").Inputs(Uniform({3, 3, 2})).Gradient().Named("trace"),
    Equation("ii->i").Inputs(Uniform({3, 3})).Gradient().Named("diagonal"),
    Equation("i->ii")
        .Inputs(Vector<float>({1, 2}))
        .Expect(Values<float>({2, 2}, {1, 0, 0, 2}))
        .Gradient(),
    Equation("ij,->").Inputs(Uniform({3, 4}), Uniform({})).Gradient(),
    Equation("ab->ba")
        .Inputs(Values<int32_t>({1, 2}, {1, 2}))
        .Expect(Values<int32_t>({2, 1}, {1, 2})),
    Equation("ik,kj->ij")
        .Inputs(Empty({1, 0}), Empty({0, 2}))
        .Expect(Values<float>({1, 2}, {0, 0})),
    Equation("ij->i").Inputs(Empty({0, 2})).Expect(Empty({0})),
    Equation("ij,jk->ik")
        .Inputs(Uniform({3, 4}), Uniform({3, 2}))
        .Fails(Code::kInvalidArgument, "4"),
    Equation("ijk->i").Inputs(Uniform({3, 4})).Fails(Code::kInvalidArgument, "rank 3"),
    Equation("...i->i").Inputs(Uniform({3, 4})).Fails(Code::kInvalidArgument, "no ellipsis"),
    Equation("ij").Inputs(Uniform({3, 4})).Fails(Code::kInvalidArgument, "'->'"),
    Equation("i,i,i->i")
        .Inputs(Uniform({3}), Uniform({3}), Uniform({3}))
        .Fails(Code::kInvalidArgument, "1 or 2"),
    Equation("ij->ik").Inputs(Uniform({3, 4})).Fails(Code::kInvalidArgument, "label"),
};

const OpRows kCrossRows{
    Row(Cross{})
        .Inputs(Values<float>({2, 3}, {1, 0, 0, 1, 2, 3}),
                Values<float>({2, 3}, {0, 1, 0, 3, 2, 1}))
        .Expect(Values<float>({2, 3}, {0, 0, 1, -4, 8, -4}))
        .Gradient(),
    Row(Cross{}).Inputs(Empty({0, 3}), Empty({0, 3})).Expect(Empty({0, 3})),
    Row(Cross{}).Inputs(Uniform({2}), Uniform({2})).Fails(Code::kInvalidArgument, "3 elements"),
    Row(Cross{}).Inputs(Uniform({2, 3}), Uniform({3})).Fails(Code::kInvalidArgument, ""),
};

Value Band(int32_t low, int32_t high) { return Vector<int32_t>({low, high}); }

const OpRows kBandRows{
    Row(MatrixDiagPartV3{})
        .Inputs(Values<float>({2, 3}, {1, 2, 3, 4, 5, 6}), Band(-1, 1), Scalar<float>(9))
        .Expect(Values<float>({3, 2}, {2, 6, 1, 5, 4, 9}))
        .Gradient(),
    Row(MatrixDiagPartV3{.align = "LEFT_RIGHT"})
        .Inputs(Uniform({2, 4, 3}), Band(-2, 1), Scalar<float>(0))
        .Gradient(),
    Row(MatrixDiagPartV2{})
        .Inputs(Uniform({2, 4, 3}), Scalar<int32_t>(-1), Scalar<float>(0))
        .Gradient(),
    Row(MatrixDiagPartV3{})
        .Inputs(Uniform({2, 3}), Band(1, 0), Scalar<float>(0))
        .Fails(Code::kInvalidArgument, "decreasing"),
    Row(MatrixDiagPartV3{})
        .Inputs(Uniform({2, 3}), Scalar<int32_t>(3), Scalar<float>(0))
        .Fails(Code::kInvalidArgument, "got 3"),
    Row(MatrixDiagV3{})
        .Inputs(Values<float>({2, 2}, {1, 2, 3, 4}), Band(-1, 0), Scalar<int32_t>(-1),
                Scalar<int32_t>(-1), Scalar<float>(7))
        .Expect(Values<float>({2, 2}, {1, 7, 3, 2}))
        .NoGradient(),
    Row(MatrixDiagV2{})
        .Inputs(Vector<float>({1, 2}), Scalar<int32_t>(1), Scalar<int32_t>(2), Scalar<int32_t>(4),
                Scalar<float>(0))
        .Expect(Values<float>({2, 4}, {0, 1, 0, 0, 0, 0, 2, 0}))
        .NoGradient(),
    Row(MatrixDiagV3{})
        .Inputs(Vector<float>({1, 2}), Scalar<int32_t>(0), Scalar<int32_t>(1), Scalar<int32_t>(4),
                Scalar<float>(0))
        .Fails(Code::kInvalidArgument, "num_rows"),
    Row(MatrixDiagV3{})
        .Inputs(Vector<float>({1, 2}), Scalar<int32_t>(0), Scalar<int32_t>(3), Scalar<int32_t>(4),
                Scalar<float>(0))
        .Fails(Code::kInvalidArgument, "not consistent"),
    Row(MatrixSetDiagV3{})
        .Inputs(Values<float>({2, 2}, {1, 2, 3, 4}), Values<float>({2, 2}, {0, 8, 7, 7}),
                Band(0, 1))
        .Expect(Values<float>({2, 2}, {7, 8, 3, 7}))
        .NoGradient(),
    Row(MatrixSetDiagV2{})
        .Inputs(Uniform({3, 2, 4}), Uniform({3, 2}), Scalar<int32_t>(1))
        .Gradient(),
    Row(MatrixSetDiagV3{})
        .Inputs(Uniform({2, 2}), Uniform({3}), Scalar<int32_t>(0))
        .Fails(Code::kInvalidArgument, "must have shape"),
    Row(MatrixSetDiagV3{})
        .Inputs(Uniform({2, 2}), Uniform({2}), Vector<int32_t>({}))
        .Fails(Code::kInvalidArgument, "one or two"),
};

}  // namespace
}  // namespace penstock::rows
