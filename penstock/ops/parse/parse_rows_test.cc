#include <cmath>

#include "penstock/io/wire_writer.h"
#include "penstock/ops/parse/csv.h"
#include "penstock/ops/parse/example_ops.h"
#include "penstock/ops/parse/sequence_ops.h"
#include "penstock/ops/parse/serialize.h"
#include "penstock/ops/summary/summaries.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;
using Text = std::string;
using io::WireWriter;

Value Words(std::initializer_list<Text> words) { return Vector<Text>(words); }
Value Word(Text word) { return Scalar<Text>(std::move(word)); }
Value Longs(std::initializer_list<int64_t> values) { return Vector<int64_t>(values); }
Value Ints(std::initializer_list<int32_t> values) { return Vector<int32_t>(values); }

Text Floats(std::initializer_list<float> values) {
  WireWriter list;
  for (const float value : values) list.Float(1, value);  // not packed, as old writers do
  return WireWriter().Bytes(2, list.text()).text();
}
Text Integers(std::string_view packed) {
  return WireWriter().Bytes(3, WireWriter().Bytes(1, packed).text()).text();
}
Text ExampleOf(std::initializer_list<std::pair<Text, Text>> features) {
  WireWriter map;
  for (const auto& [name, feature] : features)
    map.Bytes(1, WireWriter().Bytes(1, name).Bytes(2, feature).text());
  return WireWriter().Bytes(1, map.text()).text();
}

const Text kFull = ExampleOf({{"a", Floats({1, 2})}, {"v", Integers("\x01\x02\x03")}});
const Text kShort = ExampleOf({{"v", Integers("\x07")}, {"a", Floats({3, 4})}});
const Text kBare = ExampleOf({{"a", Floats({5, 6})}});

ParseExampleV2 Wanted(std::vector<DType> sparse, std::vector<DType> dense,
                      std::vector<Shape> shapes, std::vector<DType> ragged = {},
                      std::vector<DType> splits = {}) {
  ParseExampleV2 op;
  op.num_sparse = static_cast<int64_t>(sparse.size());
  op.sparse_types = std::move(sparse);
  op.dense_types = std::move(dense);
  op.dense_shapes = std::move(shapes);
  op.ragged_value_types = std::move(ragged);
  op.ragged_split_types = std::move(splits);
  return op;
}

const OpRows kExampleRows{
    Row(Wanted({DType::kInt64}, {DType::kFloat}, {Shape{2}}, {DType::kInt64}, {DType::kInt32}))
        .Inputs(Words({kFull, kShort, kBare}), Empty<Text>({0}), Words({"v"}), Words({"a"}),
                Words({"none"}), Empty({0}))
        .Expect(Values<int64_t>({4, 2}, {0, 0, 0, 1, 0, 2, 1, 0}), Longs({1, 2, 3, 7}),
                Longs({3, 3}), Values<float>({3, 2}, {1, 2, 3, 4, 5, 6}), Empty<int64_t>({0}),
                Ints({0, 0, 0, 0})),
    Row(Wanted({}, {DType::kInt64}, {Shape{-1}}))
        .Inputs(Words({kFull, kShort, kBare}), Empty<Text>({0}), Empty<Text>({0}), Words({"v"}),
                Empty<Text>({0}), Scalar<int64_t>(-1))
        .Expect(Values<int64_t>({3, 3}, {1, 2, 3, 7, -1, -1, -1, -1, -1}))
        .Named("padded"),
    Row(Wanted({DType::kInt64}, {}, {}))
        .Inputs(Word(kFull), Empty<Text>({0}), Words({"v"}), Empty<Text>({0}), Empty<Text>({0}))
        .Expect(Values<int64_t>({3, 1}, {0, 1, 2}), Longs({1, 2, 3}), Longs({3}))
        .Named("scalar"),
    Row(Wanted({DType::kInt64}, {}, {}))
        .Inputs(Empty<Text>({0}), Empty<Text>({0}), Words({"v"}), Empty<Text>({0}),
                Empty<Text>({0}))
        .Expect(Empty<int64_t>({0, 2}), Empty<int64_t>({0}), Longs({0, 0}))
        .Named("empty"),
    Row(Wanted({}, {DType::kFloat}, {Shape{3}}))
        .Inputs(Words({kFull}), Empty<Text>({0}), Empty<Text>({0}), Words({"a"}), Empty<Text>({0}),
                Empty({0}))
        .Fails(kBad, "Values size: 2 but output shape: [3]"),
    Row(Wanted({}, {DType::kInt64}, {Shape{2}}))
        .Inputs(Words({kFull}), Empty<Text>({0}), Empty<Text>({0}), Words({"a"}), Empty<Text>({0}),
                Empty<int64_t>({0}))
        .Fails(kBad, "Expected type: int64, Actual type: float")
        .Named("type"),
    Row(Wanted({}, {DType::kInt64}, {Shape{3}}))
        .Inputs(Words({kBare}), Empty<Text>({0}), Empty<Text>({0}), Words({"v"}), Empty<Text>({0}),
                Empty<int64_t>({0}))
        .Fails(kBad, "required")
        .Named("missing"),
    Row(Wanted({DType::kInt64}, {}, {}))
        .Inputs(Words({kFull.substr(0, 9)}), Empty<Text>({0}), Words({"v"}), Empty<Text>({0}),
                Empty<Text>({0}))
        .Fails(kBad, "parse")
        .Named("cut"),
    Row(Wanted({DType::kInt64}, {}, {}))
        .Inputs(Words({kFull}), Empty<Text>({0}), Words({"v", "w"}), Empty<Text>({0}),
                Empty<Text>({0}))
        .Fails(kBad, "sparse_keys")
        .Named("keys"),
    Row(Wanted({}, {DType::kInt64}, {Shape{-1, 0}}))
        .Inputs(Words({kFull}), Empty<Text>({0}), Empty<Text>({0}), Words({"v"}), Empty<Text>({0}),
                Scalar<int64_t>(0))
        .Fails(kBad, "of 0")
        .Named("stride"),
};

Text ListOf(std::initializer_list<Text> steps) {
  WireWriter list;
  for (const Text& step : steps) list.Bytes(1, step);
  return list.text();
}
Text SequenceOf(std::initializer_list<std::pair<Text, Text>> lists) {
  WireWriter map;
  for (const auto& [name, list] : lists)
    map.Bytes(1, WireWriter().Bytes(1, name).Bytes(2, list).text());
  return WireWriter().Bytes(2, map.text()).text();
}
ParseSequenceExample Lists(std::vector<Shape> shapes, std::vector<Text> may_miss = {}) {
  ParseSequenceExample op;
  op.num_list_sparse = op.num_list_dense = 1;
  op.list_sparse_types = {DType::kInt64};
  op.list_sparse_keys = {"s"};
  op.list_dense_types = {DType::kFloat};
  op.list_dense_keys = {"d"};
  op.list_dense_shapes = std::move(shapes);
  op.missing_assumed_empty = std::move(may_miss);
  return op;
}

const Text kLong = SequenceOf({{"d", ListOf({Floats({1, 2}), Floats({3, 4})})},
                               {"s", ListOf({Integers("\x05"), "", Integers("\x06\x07")})}});
const Text kNoList = SequenceOf({});

const OpRows kSequenceRows{
    Row(Lists({Shape{2}}, {"d"}))
        .Inputs(Words({kLong, kNoList}), Empty<Text>({0}))
        .Expect(Values<int64_t>({3, 3}, {0, 0, 0, 0, 2, 0, 0, 2, 1}), Longs({5, 6, 7}),
                Longs({2, 3, 2}), Values<float>({2, 2, 2}, {1, 2, 3, 4, 0, 0, 0, 0}),
                Longs({2, 0})),
    Row(Lists({Shape{2}})).Inputs(Words({kNoList}), Empty<Text>({0})).Fails(kBad, "required"),
    Row(Lists({Shape{3}})).Inputs(Words({kLong}), Empty<Text>({0})).Fails(kBad, "[3]"),
    Row(Lists({Shape{-1}})).Inputs(Words({kLong}), Empty<Text>({0})).Fails(kBad, "must be known"),
    Row(Lists({Shape{2}})).Inputs(Words({"\x12\x09"}), Empty<Text>({0})).Fails(kBad, "parse"),
};

DecodeCsv Csv(std::vector<DType> types) {
  DecodeCsv op;
  op.types = std::move(types);
  return op;
}

const OpRows kCsvRows{
    Row(Csv({DType::kInt32, DType::kString}))
        .Inputs(Words({"1,\"a,\"\"b\"", ",c"}), Ints({9}), Empty<Text>({0}))
        .Expect(Ints({1, 9}), Words({"a,\"b", "c"})),
    Row(Csv({DType::kFloat})).Inputs(Empty<Text>({0, 2}), Empty({0})).Expect(Empty({0, 2})),
    Row(Csv({DType::kInt32})).Inputs(Words({"1,2"}), Ints({9})).Fails(kBad, "Expect 1 fields"),
    Row(Csv({DType::kInt32})).Inputs(Words({"x"}), Ints({9})).Fails(kBad, "not a valid int32"),
    Row(Csv({DType::kString})).Inputs(Words({"\"x"}), Words({"d"})).Fails(kBad, "Quoted field"),
};

const OpRows kSerializeRows{
    Row(ParseTensor{DType::kInt32})
        .Inputs(Word(*SerializedTensor(Tensor::FromValues<int32_t>({2}, {1, -1}))))
        .Expect(Ints({1, -1})),
    Row(ParseTensor{DType::kFloat}).Inputs(Word("\x08\x03")).Fails(kBad, "float"),
    Row(ParseTensor{DType::kFloat}).Inputs(Word("\xFF")).Fails(kBad, "TensorProto"),
    Row(SerializeTensor{})
        .Inputs(Words({"a"}))
        .Expect(Word("\x08\x07\x12\x04\x12\x02\x08\x01\x42\x01\x61")),
};

const OpRows kSummaryRows{
    Row(ScalarSummary{})
        .Inputs(Word("t"), Scalar<float>(1))
        .Expect(Word(Text("\x0A\x08\x0A\x01t\x15\x00\x00\x80\x3F", 10))),
    Row(ScalarSummary{}).Inputs(Words({"a"}), Vector<float>({1, 2})).Fails(kBad, "[1] != [2]"),
    Row(HistogramSummary{}).Inputs(Word("t"), Vector<float>({1, NAN})).Fails(kBad, "Nan"),
    Row(HistogramSummary{}).Inputs(Words({"t"}), Vector<float>({1})).Fails(kBad, "tag"),
    Row(MergeSummary{})
        .Attr("N", int64_t{1})
        .Inputs(Words({"\x0A\x03\x0A\x01t", "\x0A\x03\x0A\x01t"}))
        .Fails(kBad, "Duplicate tag t"),
    Row(MergeSummary{}).Attr("N", int64_t{1}).Inputs(Word("\x0A\x09")).Fails(kBad, "parse"),
    Row(TensorSummaryV2{}).Inputs(Words({"t"}), Ints({1}), Word("")).Fails(kBad, "tag"),
};

}  // namespace
}  // namespace penstock::rows
