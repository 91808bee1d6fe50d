#include "penstock/ops/nn/pool.h"
#include "penstock/ops/nn/pool_argmax.h"
#include "penstock/ops/nn/pool_gradients.h"
#include "penstock/ops/nn/pool_places.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;
using Ints = std::vector<int64_t>;

const Ints k2{1, 2, 2, 1}, k3{1, 3, 3, 1}, k1{1, 1, 1, 1}, kFirst2{1, 1, 2, 2};

const OpRows kMaxPoolRows{
    Row(MaxPool{k2, k2, "VALID"})
        .Inputs(Values<float>({1, 2, 4, 1}, {1, 2, 5, 6, 3, 4, 8, 7}))
        .Expect(Values<float>({1, 1, 2, 1}, {4, 8}))
        .Gradient(),
    Row(MaxPool{k3, k2, "SAME"}).Inputs(Uniform({2, 5, 6, 3})).Gradient().Named("overlapping"),
    Row(MaxPool{k3, k2, "EXPLICIT", {0, 0, 1, 2, 2, 1, 0, 0}})
        .Inputs(Uniform({1, 4, 5, 2}))
        .Gradient(),
    Row(MaxPool{kFirst2, kFirst2, "SAME", {}, "NCHW"})
        .Inputs(Uniform({2, 3, 3, 5}))
        .Gradient()
        .Named("channels_first"),
    Row(MaxPool{{1, 1, 1, 2}, {1, 1, 1, 2}, "SAME"})
        .Inputs(Values<int32_t>({1, 1, 1, 4}, {4, 1, 2, 3}))
        .Expect(Values<int32_t>({1, 1, 1, 2}, {4, 3}))
        .Named("over_channels"),
    Row(MaxPool{k2, k2, "SAME"})
        .Inputs(Uniform({1, 3, 3, 150}))
        .NoGradient()
        .Named("many_channels"),
    Row(MaxPool{k2, k2, "SAME"}).Inputs(Empty({0, 4, 4, 3})).Expect(Empty({0, 2, 2, 3})),
    Row(MaxPool{k3, k1, "VALID"}).Inputs(Uniform({1, 2, 4, 1})).Fails(kBad, "window of 3"),
    Row(MaxPool{k2, {1, 0, 1, 1}, "VALID"}).Inputs(Uniform({1, 4, 4, 1})).Fails(kBad, "got 0"),
    Row(MaxPool{{1, -2, 1, 1}, k1, "VALID"}).Inputs(Uniform({1, 4, 4, 1})).Fails(kBad, "got -2"),
    Row(MaxPool{k2, k2, "VALID"}).Inputs(Uniform({4, 4})).Fails(kBad, "rank 4"),
    Row(MaxPool{k2, k2, "EXPLICIT", {0, 0, 2, 0, 0, 0, 0, 0}})
        .Inputs(Uniform({1, 4, 4, 1}))
        .Fails(kBad, "smaller than the window"),
    Row(MaxPool{k2, k2, "SAME", {0, 0, 0, 0, 0, 0, 0, 0}})
        .Inputs(Uniform({1, 4, 4, 1}))
        .Fails(kBad, "empty"),
    Row(MaxPool{{2, 1, 1, 1}, {2, 1, 1, 1}, "SAME"})
        .Inputs(Uniform({2, 4, 4, 1}))
        .Fails(Code::kUnimplemented, "batch"),
    Row(MaxPoolV2{"SAME"})
        .Inputs(Uniform({1, 5, 5, 2}), Vector<int32_t>({1, 3, 3, 1}), Vector<int32_t>({1, 2, 2, 1}))
        .Gradient(),
    Row(MaxPoolV2{"SAME"})
        .Inputs(Uniform({1, 5, 5, 2}), Vector<int32_t>({1, 3, 3}), Vector<int32_t>({1, 2, 2, 1}))
        .Fails(kBad, "4 entries"),
    Row(MaxPoolV2{"SAME"})
        .Inputs(Uniform({1, 5, 5, 2}), Vector<int32_t>({1, 3, 0, 1}), Vector<int32_t>({1, 2, 2, 1}))
        .Fails(kBad, "got 0"),
    Row(MaxPool3D{{1, 2, 2, 2, 1}, {1, 2, 2, 2, 1}, "SAME"}).Inputs(Uniform({1, 3, 4, 3, 2})),
    Row(MaxPool3D{{1, 1, 2, 2, 2}, {1, 1, 1, 1, 1}, "VALID", "NCDHW"})
        .Inputs(Uniform({1, 2, 3, 3, 3})),
    Row(MaxPool3D{{1, 2, 2, 2, 1}, {1, 2, 2, 2, 1}, "SAME"})
        .Inputs(Uniform({1, 3, 4, 3}))
        .Fails(kBad, "rank 5"),
    Row(MaxPool3D{{1, 9, 2, 2, 1}, {1, 2, 2, 2, 1}, "VALID"})
        .Inputs(Uniform({1, 3, 4, 3, 1}))
        .Fails(kBad, "window of 9"),
};

const OpRows kAvgPoolRows{
    Row(AvgPool{k2, k1, "SAME"})
        .Inputs(Values<float>({1, 2, 2, 1}, {1, 3, 5, 7}))
        .Expect(Values<float>({1, 2, 2, 1}, {4, 5, 6, 7}))
        .Gradient(),
    Row(AvgPool{kFirst2, kFirst2, "VALID", "NCHW"}).Inputs(Uniform({2, 3, 4, 5})).Gradient(),
    Row(AvgPool{k2, k2, "SAME"})
        .Inputs(Uniform<bfloat16>({1, 3, 3, 70}))
        .Tolerance(1e-2)
        .NoGradient(),
    Row(AvgPool{k2, k2, "SAME"}).Inputs(Empty({0, 2, 2, 1})).Expect(Empty({0, 1, 1, 1})),
    Row(AvgPool{k3, k1, "VALID"}).Inputs(Uniform({1, 2, 4, 1})).Fails(kBad, "window of 3"),
    Row(AvgPool{k2, k2, "VALID"}).Inputs(Uniform({4})).Fails(kBad, "rank 4"),
    Row(AvgPool3D{{1, 2, 2, 3, 1}, {1, 1, 2, 2, 1}, "SAME"})
        .Inputs(Uniform({1, 3, 3, 4, 2}))
        .Gradient(),
    Row(AvgPool3D{{1, 2, 2, 2, 1}, {1, 1, 1, 1, 1}, "SAME"})
        .Inputs(Uniform({1, 2, 2, 1}))
        .Fails(kBad, "5"),
    Row(AvgPool3D{{1, 2, 2, 2, 2}, {1, 1, 1, 1, 1}, "SAME"})
        .Inputs(Uniform({1, 2, 2, 2, 2}))
        .Fails(Code::kUnimplemented, "depth"),
};

const OpRows kPoolGradientRows{
    Row(MaxPoolGrad{k2, k2, "VALID"})
        .Inputs(Values<float>({1, 2, 2, 1}, {1, 1, 1, 1}), Uniform({1, 1, 1, 1}),
                Values<float>({1, 1, 1, 1}, {5}))
        .Expect(Values<float>({1, 2, 2, 1}, {5, 0, 0, 0}))
        .NoGradient()
        .Named("first_of_equals"),
    Row(MaxPoolGrad{k2, k2, "VALID"})
        .Inputs(Empty({1, 2, 2, 0}), Empty({1, 1, 1, 0}), Empty({1, 1, 1, 0}))
        .Expect(Empty({1, 2, 2, 0})),
    Row(MaxPoolGrad{k2, k2, "VALID"})
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 2, 1, 1}), Uniform({1, 1, 1, 1}))
        .Fails(kBad, "orig_output"),
    Row(MaxPoolGrad{k2, k2, "VALID"})
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 1, 1, 1}), Uniform({1, 1, 2, 1}))
        .Fails(kBad, "grad"),
    Row(MaxPool3DGrad{{1, 1, 2, 2, 1}, {1, 1, 2, 2, 1}, "VALID"})
        .Inputs(Values<float>({1, 1, 2, 2, 1}, {1, 0, 1, 0}), Values<float>({1, 1, 1, 1, 1}, {1}),
                Values<float>({1, 1, 1, 1, 1}, {5}))
        .Expect(Values<float>({1, 1, 2, 2, 1}, {5, 0, 5, 0}))
        .Named("all_equals"),
    Row(MaxPool3DGrad{{1, 1, 2, 2, 1}, {1, 1, 2, 2, 1}, "VALID"})
        .Inputs(Uniform({1, 1, 2, 2, 1}), Uniform({1, 1, 1, 1, 1}), Uniform<half>({1, 1, 1, 1, 1}))
        .Fails(Code::kUnimplemented, "TInput"),
    Row(MaxPool3DGrad{{1, 1, 2, 2, 1}, {1, 1, 2, 2, 1}, "VALID"})
        .Inputs(Uniform({1, 1, 2, 2, 1}), Uniform({1, 1, 1, 2, 1}), Uniform({1, 1, 1, 1, 1}))
        .Fails(kBad, "orig_output"),
    Row(MaxPoolGradGrad{k2, k2, "VALID"})
        .Inputs(Values<float>({1, 2, 2, 1}, {1, 9, 9, 1}), Values<float>({1, 1, 1, 1}, {9}),
                Values<float>({1, 2, 2, 1}, {1, 2, 3, 4}))
        .Expect(Values<float>({1, 1, 1, 1}, {2}))
        .NoGradient(),
    Row(MaxPoolGradGrad{k2, k2, "VALID"})
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 1, 1, 1}), Uniform({1, 1, 2, 1}))
        .Fails(kBad, "grad"),
    Row(MaxPoolGradGrad{k2, k2, "VALID"})
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 1, 1, 2}), Uniform({1, 2, 2, 1}))
        .Fails(kBad, "orig_output"),
    Row(MaxPool3DGradGrad{{1, 2, 2, 2, 1}, {1, 2, 2, 2, 1}, "VALID"})
        .Inputs(Values<float>({1, 2, 2, 2, 1}, {0, 0, 0, 0, 0, 7, 0, 0}),
                Values<float>({1, 1, 1, 1, 1}, {7}),
                Values<float>({1, 2, 2, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8}))
        .Expect(Values<float>({1, 1, 1, 1, 1}, {6}))
        .NoGradient(),
    Row(MaxPool3DGradGrad{{1, 2, 2, 2, 1}, {1, 2, 2, 2, 1}, "VALID"})
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 1, 1, 1}), Uniform({1, 2, 2, 1}))
        .Fails(kBad, "rank 5"),
    Row(MaxPool3DGradGrad{{1, 2, 2, 2, 1}, {1, 2, 2, 2, 1}, "VALID"})
        .Inputs(Uniform({1, 2, 2, 2, 1}), Uniform({1, 1, 1, 1, 1}), Uniform({1, 1, 2, 2, 1}))
        .Fails(kBad, "grad"),
    Row(MaxPoolGradV2{"VALID"})
        .Inputs(Uniform({1, 4, 4, 1}), Uniform({1, 2, 2, 1}), Uniform({1, 2, 2, 1}),
                Vector<int32_t>({1, 2, 2, 1}), Vector<int32_t>({1, 2, 2, 1}))
        .NoGradient(),
    Row(MaxPoolGradV2{"VALID"})
        .Inputs(Uniform({1, 4, 4, 1}), Uniform({1, 2, 2, 1}), Uniform({1, 2, 3, 1}),
                Vector<int32_t>({1, 2, 2, 1}), Vector<int32_t>({1, 2, 2, 1}))
        .Fails(kBad, "grad"),
    Row(MaxPoolGradV2{"VALID"})
        .Inputs(Uniform({1, 4, 4, 1}), Uniform({1, 2, 2, 1}), Uniform({1, 2, 2, 1}),
                Vector<int32_t>({1, 2, 2, 1}), Vector<int32_t>({1, 2, -1, 1}))
        .Fails(kBad, "-1"),
    Row(MaxPoolGradGradV2{"VALID"})
        .Inputs(Uniform({1, 4, 4, 1}), Uniform({1, 2, 2, 1}), Uniform({1, 4, 4, 1}),
                Vector<int32_t>({1, 2, 2, 1}), Vector<int32_t>({1, 2, 2, 1}))
        .NoGradient(),
    Row(MaxPoolGradGradV2{"VALID"})
        .Inputs(Uniform({1, 4, 4, 1}), Uniform({1, 2, 2, 1}), Uniform({1, 4, 3, 1}),
                Vector<int32_t>({1, 2, 2, 1}), Vector<int32_t>({1, 2, 2, 1}))
        .Fails(kBad, "grad"),
    Row(MaxPoolGradGradV2{"VALID"})
        .Inputs(Uniform({4, 4, 1}), Uniform({1, 2, 2, 1}), Uniform({1, 4, 3, 1}),
                Vector<int32_t>({1, 2, 2, 1}), Vector<int32_t>({1, 2, 2, 1}))
        .Fails(kBad, "rank 4"),
    Row(AvgPoolGrad{k2, k2, "SAME"})
        .Inputs(Vector<int32_t>({1, 3, 2, 1}), Values<float>({1, 2, 1, 1}, {4, 8}))
        .Expect(Values<float>({1, 3, 2, 1}, {1, 1, 1, 1, 4, 4}))
        .Gradient(),
    Row(AvgPoolGrad{k2, k2, "SAME"})
        .Inputs(Vector<int32_t>({1, 3, 2, 1}), Uniform({1, 2, 2, 1}))
        .Fails(kBad, "grad"),
    Row(AvgPoolGrad{k2, k2, "SAME"})
        .Inputs(Vector<int32_t>({1, 3, -2, 1}), Uniform({1, 2, 1, 1}))
        .Fails(kBad, "-2"),
    Row(AvgPool3DGrad{{1, 2, 2, 2, 1}, {1, 1, 2, 2, 1}, "SAME"})
        .Inputs(Vector<int32_t>({1, 2, 3, 2, 2}), Uniform({1, 2, 2, 1, 2}))
        .Gradient(),
    Row(AvgPool3DGrad{{1, 2, 2, 2, 1}, {1, 1, 2, 2, 1}, "SAME"})
        .Inputs(Vector<int32_t>({1, 2, 3, 2}), Uniform({1, 2, 2, 1, 2}))
        .Fails(kBad, "rank 5"),
    Row(AvgPool3DGrad{{1, 2, 2, 2, 1}, {1, 1, 2, 2, 1}, "SAME"})
        .Inputs(Vector<int32_t>({1, 2, 3, 2, 2}), Uniform({1, 2, 2, 1, 1}))
        .Fails(kBad, "grad"),
};

const OpRows kPoolArgmaxRows{
    Row(MaxPoolWithArgmax{k2, k1, "SAME", true})
        .Inputs(Values<float>({2, 1, 2, 1}, {5, 1, 2, 5}))
        .Expect(Values<float>({2, 1, 2, 1}, {5, 1, 5, 5}),
                Values<int64_t>({2, 1, 2, 1}, {0, 1, 3, 3}))
        .Gradient(),
    Row(MaxPoolWithArgmax{k2, k2, "SAME"})
        .Inputs(Uniform({2, 3, 3, 2}))
        .Attr("Targmax", DType::kInt32)
        .Gradient(),
    Row(MaxPoolWithArgmax{k3, k1, "VALID"})
        .Inputs(Uniform({1, 2, 4, 1}))
        .Fails(kBad, "window of 3"),
    Row(MaxPoolWithArgmax{k2, k2, "VALID"}).Inputs(Uniform({2})).Fails(kBad, "rank 4"),
    Row(MaxPoolGradWithArgmax{k2, k2, "VALID"})
        .Inputs(Uniform({1, 2, 2, 1}), Values<float>({1, 1, 1, 1}, {3}),
                Values<int64_t>({1, 1, 1, 1}, {2}))
        .Expect(Values<float>({1, 2, 2, 1}, {0, 0, 3, 0})),
    Row(MaxPoolGradWithArgmax{k2, k2, "VALID"})
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 1, 1, 1}), Values<int64_t>({1, 1, 1, 1}, {4}))
        .Fails(kBad, "got 4"),
    Row(MaxPoolGradWithArgmax{k2, k2, "VALID"})
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 1, 2, 1}), Values<int64_t>({1, 1, 1, 1}, {0}))
        .Fails(kBad, "grad"),
    Row(MaxPoolGradGradWithArgmax{k2, k2, "VALID"})
        .Inputs(Uniform({1, 2, 2, 1}), Values<float>({1, 2, 2, 1}, {1, 2, 3, 4}),
                Values<int32_t>({1, 1, 1, 1}, {2}))
        .Expect(Values<float>({1, 1, 1, 1}, {3})),
    Row(MaxPoolGradGradWithArgmax{k2, k2, "VALID"})
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 2, 2, 1}), Values<int32_t>({1, 1, 1, 1}, {-1}))
        .Fails(kBad, "got -1"),
    Row(MaxPoolGradGradWithArgmax{k2, k2, "VALID"})
        .Inputs(Uniform({1, 2, 2, 1}), Uniform({1, 1, 2, 1}), Values<int32_t>({1, 1, 1, 1}, {0}))
        .Fails(kBad, "grad"),
};

const OpRows kPoolPlacesRows{
    Row(MaxPoolPlaces{k2, k1, "SAME"})
        .Inputs(Values<float>({2, 1, 2, 1}, {5, 1, 2, 5}))
        .Expect(Values<float>({2, 1, 2, 1}, {5, 1, 5, 5}),
                Values<uint8_t>({2, 1, 2, 1}, {0, 0, 1, 0})),
    Row(MaxPoolPlaces{k2, k2, "SAME"})
        .Inputs(Empty({0, 2, 2, 1}))
        .Expect(Empty({0, 1, 1, 1}), Values<uint8_t>({0, 1, 1, 1}, {})),
    Row(MaxPoolPlaces{{1, 16, 17, 1}, k1, "SAME"})
        .Inputs(Uniform({1, 2, 2, 1}))
        .Fails(kBad, "at most 256 places"),
    Row(MaxPoolPlaces{k2, k2, "VALID"}).Inputs(Uniform({4})).Fails(kBad, "rank 4"),
    Row(MaxPoolPlacesGrad{k2, k1, "SAME"})
        .Inputs(Vector<int64_t>({1, 1, 2, 1}), Values<uint8_t>({1, 1, 2, 1}, {1, 0}),
                Values<float>({1, 1, 2, 1}, {3, 4}))
        .Expect(Values<float>({1, 1, 2, 1}, {0, 7})),
    Row(MaxPoolPlacesGrad{k2, k2, "VALID"})
        .Inputs(Vector<int64_t>({1, 2, 2, 1}), Values<uint8_t>({1, 1, 1, 1}, {200}),
                Uniform({1, 1, 1, 1}))
        .Expect(Values<float>({1, 2, 2, 1}, {0, 0, 0, 0}))
        .Named("no_such_place"),
    Row(MaxPoolPlacesGrad{k2, k2, "VALID"})
        .Inputs(Vector<int64_t>({1, 2, 2, 1}), Values<uint8_t>({1, 1, 2, 1}, {0, 0}),
                Uniform({1, 1, 1, 1}))
        .Fails(kBad, "places"),
    Row(MaxPoolPlacesGrad{k2, k2, "VALID"})
        .Inputs(Vector<int64_t>({1, 2, 2, 1}), Values<uint8_t>({1, 1, 1, 1}, {0}),
                Uniform({1, 2, 1, 1}))
        .Fails(kBad, "grad"),
};

}  // namespace
}  // namespace penstock::rows
