#include "penstock/graph/tensor_proto.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "penstock/core/resource.h"
#include "penstock/graph/attr_value.h"
#include "penstock/proto/tensor.pb.h"

namespace penstock {
namespace {

tf::TensorProto Proto(const std::string& text) {
  tf::TensorProto proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto)) << text;
  return proto;
}

Result<Tensor> Read(const std::string& text) { return TensorFromProto(Proto(text)); }

tf::TensorProto Write(const Tensor& tensor) {
  tf::TensorProto proto;
  const Status status = TensorToProto(tensor, &proto);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return proto;
}

constexpr char kVector3[] = " tensor_shape { dim { size: 3 } } ";

struct Row {
  const char* text;
  const char* expected;  // as Tensor::ToString
};

TEST(TensorProto, ReadsTypedFields) {
  const Row rows[] = {
      {"dtype: DT_FLOAT float_val: 1.5", "float [] {1.5}"},
      {"dtype: DT_DOUBLE double_val: 2.5", "double [] {2.5}"},
      {"dtype: DT_INT32 int_val: -3", "int32 [] {-3}"},
      {"dtype: DT_UINT8 int_val: 200", "uint8 [] {200}"},
      {"dtype: DT_INT16 int_val: -300", "int16 [] {-300}"},
      {"dtype: DT_INT8 int_val: -4", "int8 [] {-4}"},
      {"dtype: DT_STRING string_val: 'ab'", "string [] {\"ab\"}"},
      {"dtype: DT_COMPLEX64 scomplex_val: [1, -2]", "complex64 [] {(1,-2)}"},
      {"dtype: DT_INT64 int64_val: -5000000000", "int64 [] {-5000000000}"},
      {"dtype: DT_BOOL bool_val: true", "bool [] {true}"},
      {"dtype: DT_QINT8 int_val: -1", "qint8 [] {-1}"},
      {"dtype: DT_QUINT8 int_val: 255", "quint8 [] {255}"},
      {"dtype: DT_QINT32 int_val: 7", "qint32 [] {7}"},
      {"dtype: DT_BFLOAT16 half_val: 0x3fc0", "bfloat16 [] {1.5}"},
      {"dtype: DT_QINT16 int_val: -7", "qint16 [] {-7}"},
      {"dtype: DT_QUINT16 int_val: 60000", "quint16 [] {60000}"},
      {"dtype: DT_UINT16 int_val: 60000", "uint16 [] {60000}"},
      {"dtype: DT_COMPLEX128 dcomplex_val: [3, 4]", "complex128 [] {(3,4)}"},
      {"dtype: DT_HALF half_val: 0x3e00", "half [] {1.5}"},
      {"dtype: DT_RESOURCE resource_handle_val { container: 'c' name: 'v' }", "resource [] {c/v}"},
      {"dtype: DT_UINT32 uint32_val: 4000000000", "uint32 [] {4000000000}"},
      {"dtype: DT_UINT64 uint64_val: 18446744073709551615", "uint64 [] {18446744073709551615}"},
  };
  for (const Row& row : rows) {
    const Result<Tensor> tensor = Read(row.text);
    ASSERT_TRUE(tensor.ok()) << row.text << ": " << tensor.status().ToString();
    EXPECT_EQ(tensor->ToString(), row.expected);
  }
}

TEST(TensorProto, RepeatsTheLastValue) {
  EXPECT_EQ(Read(std::string("dtype: DT_FLOAT float_val: [1, 2]") + kVector3)->ToString(),
            "float [3] {1, 2, 2}");
  EXPECT_EQ(Read(std::string("dtype: DT_STRING string_val: 'x'") + kVector3)->ToString(),
            "string [3] {\"x\", \"x\", \"x\"}");
  EXPECT_EQ(Read(std::string("dtype: DT_COMPLEX64 scomplex_val: [1, 2]") + kVector3)->ToString(),
            "complex64 [3] {(1,2), (1,2), (1,2)}");
}

TEST(TensorProto, ReadsNoValueAsZeros) {
  EXPECT_EQ(Read(std::string("dtype: DT_FLOAT") + kVector3)->ToString(), "float [3] {0, 0, 0}");
  EXPECT_EQ(Read("dtype: DT_BOOL")->ToString(), "bool [] {false}");
  EXPECT_EQ(Read(std::string("dtype: DT_STRING") + kVector3)->ToString(),
            "string [3] {\"\", \"\", \"\"}");
  EXPECT_EQ(Read(std::string("dtype: DT_HALF") + kVector3)->ToString(), "half [3] {0, 0, 0}");
  EXPECT_EQ(Read("dtype: DT_FLOAT tensor_shape { dim {} }")->ToString(), "float [0] {}");
  // constant(1., shape=[0]) in Python.
  EXPECT_EQ(Read("dtype: DT_FLOAT tensor_shape { dim {} } float_val: 1")->ToString(),
            "float [0] {}");
}

TEST(TensorProto, ReadsContent) {
  tf::TensorProto proto = Proto(std::string("dtype: DT_INT16") + kVector3);
  proto.set_tensor_content(std::string("\x01\x00\xff\xff\x00\x80", 6));
  EXPECT_EQ(TensorFromProto(proto)->ToString(), "int16 [3] {1, -1, -32768}");
  proto.set_dtype(tf::DT_BOOL);
  proto.set_tensor_content(std::string("\x01\x00\xff", 3));
  const Tensor bools = *TensorFromProto(proto);
  EXPECT_EQ(bools.ToString(), "bool [3] {true, false, true}");
  EXPECT_EQ(std::memcmp(bools.raw(), "\x01\x00\x01", 3), 0);
}

TEST(TensorProto, ReadsStringsInContent) {
  tf::TensorProto proto = Proto(std::string("dtype: DT_STRING") + kVector3);
  proto.set_tensor_content(
      std::string("\x02\x00\x01"
                  "abc",
                  6));
  EXPECT_EQ(TensorFromProto(proto)->ToString(), "string [3] {\"ab\", \"\", \"c\"}");

  const std::string bad[] = {
      std::string("\x02\x00", 2),  // fewer lengths than strings
      std::string("\x02\x00\x01"
                  "ab",
                  5),  // too few bytes
      std::string("\x02\x00\x01"
                  "abcd",
                  7),                                                       // too many
      std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00", 12),  // a length of 2^64 - 1
      std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12),  // an endless varint
  };
  for (const std::string& content : bad) {
    proto.set_tensor_content(content);
    EXPECT_EQ(TensorFromProto(proto).status().code(), Code::kInvalidArgument);
  }
}

TEST(TensorProto, RefusesMalformedMessages) {
  struct Bad {
    const char* text;
    Code code;
    const char* says;
  };
  const Bad rows[] = {
      {"", Code::kInvalidArgument, "no valid dtype"},
      {"dtype: DT_FLOAT_REF float_val: 1", Code::kUnimplemented, "DT_FLOAT_REF"},
      {"dtype: DT_FLOAT8_E5M2 float8_val: 'a'", Code::kUnimplemented, "DT_FLOAT8_E5M2"},
      {"dtype: DT_VARIANT variant_val { type_name: 'x' }", Code::kUnimplemented, "variant"},
      {"dtype: DT_RESOURCE tensor_content: 'x'", Code::kUnimplemented, "resource"},
      {"dtype: DT_FLOAT float_val: [1, 2]", Code::kInvalidArgument, "has 1 elements, got 2 values"},
      {"dtype: DT_FLOAT tensor_shape { dim {} } float_val: [1, 2]", Code::kInvalidArgument,
       "has 0 elements"},
      {"dtype: DT_COMPLEX64 scomplex_val: 1", Code::kInvalidArgument, "odd"},
      {"dtype: DT_FLOAT tensor_content: 'abc'", Code::kInvalidArgument, "3 bytes"},
      {"dtype: DT_FLOAT tensor_shape { dim { size: -1 } }", Code::kInvalidArgument,
       "must be known"},
      {"dtype: DT_FLOAT tensor_shape { dim { size: -2 } }", Code::kInvalidArgument, "-2"},
      {"dtype: DT_FLOAT tensor_shape { unknown_rank: true }", Code::kInvalidArgument,
       "must be known"},
      {"dtype: DT_FLOAT tensor_shape { unknown_rank: true dim { size: 1 } }",
       Code::kInvalidArgument, "unknown rank"},
      {"dtype: DT_FLOAT tensor_shape { dim { size: 4611686018427387904 } dim { size: 4 } }",
       Code::kInvalidArgument, "64 bits"},
      {"dtype: DT_FLOAT tensor_shape { dim { } dim { size: 4611686018427387904 } dim { size: 4 } }",
       Code::kInvalidArgument, "64 bits"},
      {"dtype: DT_DOUBLE tensor_shape { dim { size: 4611686018427387904 } } tensor_content: "
       "'abcdefgh'",
       Code::kInvalidArgument, "does not fit"},
      {"dtype: DT_FLOAT tensor_shape { dim { size: 1099511627776 } } float_val: 1",
       Code::kResourceExhausted, "exceed"},
      {"dtype: DT_DOUBLE tensor_shape { dim { size: 4611686018427387904 } }",
       Code::kResourceExhausted, "exceed"},
      {"dtype: DT_STRING tensor_shape { dim { size: 4611686018427387904 } } tensor_content: 'a'",
       Code::kInvalidArgument, "does not hold"},
  };
  for (const Bad& row : rows) {
    const Status status = Read(row.text).status();
    EXPECT_EQ(status.code(), row.code) << row.text << ": " << status.ToString();
    EXPECT_NE(status.message().find(row.says), std::string::npos)
        << row.text << ": " << status.ToString();
  }
  tf::TensorProto deep = Proto("dtype: DT_FLOAT");
  for (int i = 0; i < 255; ++i) deep.mutable_tensor_shape()->add_dim()->set_size(1);
  EXPECT_EQ(TensorFromProto(deep).status().code(), Code::kInvalidArgument);
}

TEST(TensorProto, ChargesWhatRepeatsToTheBudget) {
  ImportLimits limits;
  limits.max_expanded_bytes = 1000;
  ImportBudget budget(limits);
  const tf::TensorProto hundred =
      Proto("dtype: DT_FLOAT tensor_shape { dim { size: 100 } } float_val: 1");
  EXPECT_TRUE(TensorFromProto(hundred, &budget).ok());
  EXPECT_TRUE(TensorFromProto(hundred, &budget).ok());
  EXPECT_EQ(TensorFromProto(hundred, &budget).status().code(), Code::kResourceExhausted);
  // Bytes that came over the wire are not charged.
  tf::TensorProto content = Proto("dtype: DT_FLOAT tensor_shape { dim { size: 10000 } }");
  content.set_tensor_content(std::string(40000, 'x'));
  EXPECT_TRUE(TensorFromProto(content, &budget).ok());
  // A long string repeated counts with its length.
  tf::TensorProto strings = Proto("dtype: DT_STRING tensor_shape { dim { size: 5 } }");
  strings.add_string_val(std::string(300, 's'));
  EXPECT_EQ(TensorFromProto(strings, limits).status().code(), Code::kResourceExhausted);
}

TEST(TensorProto, ParsesWire) {
  EXPECT_EQ(ParseTensorProto(Proto("dtype: DT_FLOAT float_val: 1").SerializeAsString())->ToString(),
            "float [] {1}");
  EXPECT_EQ(ParseTensorProto("\xff\xff\xff").status().code(), Code::kInvalidArgument);
  ImportLimits limits;
  limits.max_wire_bytes = 3;
  EXPECT_EQ(ParseTensorProto("1234", limits).status().code(), Code::kInvalidArgument);
}

TEST(TensorProto, WritesSmallTensorsTypedAndLargeOnesAsContent) {
  EXPECT_EQ(Write(Tensor::FromValues<float>({2}, {1, 2})).ShortDebugString(),
            "dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: 1 float_val: 2");
  Tensor large(DType::kInt32, {17});
  for (int i = 0; i < 17; ++i) large.mutable_data<int32_t>()[i] = i;
  EXPECT_EQ(Write(large).tensor_content().size(), 68u);
  // A run at the end needs no bytes.
  Tensor run(DType::kFloat, {1000, 1000});
  std::fill_n(run.mutable_data<float>(), 1000000, 3.0f);
  run.mutable_data<float>()[1] = 4;
  EXPECT_EQ(Write(run).float_val_size(), 3);
  EXPECT_TRUE(SameContent(*TensorFromProto(Write(run)), run));
  Tensor text = Tensor::Scalar<std::string>(std::string(100, 'x'));
  EXPECT_EQ(Write(text).string_val_size(), 1);

  tf::TensorProto proto;
  EXPECT_EQ(TensorToProto(Tensor(), &proto).code(), Code::kInvalidArgument);
  EXPECT_EQ(TensorToProto(Tensor(DType::kVariant, {}), &proto).code(), Code::kUnimplemented);
}

TEST(TensorProto, RoundTripsEveryDType) {
  std::mt19937 random(1);
  for (int number = 1; number < kNumDTypes; ++number) {
    const auto dtype = static_cast<DType>(number);
    if (!IsPlain(dtype)) continue;
    for (const Shape& shape :
         {Shape{}, Shape{0}, Shape{3}, Shape{2, 0, 5}, Shape{7, 9}, Shape{1, 1, 1, 1, 1, 2}}) {
      Tensor tensor(dtype, shape);
      auto* bytes = static_cast<uint8_t*>(tensor.mutable_raw());
      for (size_t i = 0; i < tensor.bytes(); ++i)
        bytes[i] = random() & (dtype == DType::kBool ? 1 : 0xff);
      const Result<Tensor> back = TensorFromProto(Write(tensor));
      ASSERT_TRUE(back.ok()) << back.status().ToString();
      EXPECT_TRUE(SameContent(*back, tensor)) << tensor.ToString() << " vs " << back->ToString();
    }
  }
  Tensor strings(DType::kString, {40});
  for (int i = 0; i < 20; ++i)
    strings.mutable_data<std::string>()[i] = std::string(i, static_cast<char>(200 + i));
  EXPECT_TRUE(SameContent(*TensorFromProto(Write(strings)), strings));
}

TEST(TensorProto, RoundTripsHandles) {
  ResourceHandle handle;
  handle.device = "/job:a";
  handle.container = "c";
  handle.name = "n";
  handle.type_name = "Variable";
  handle.dtype = DType::kFloat;
  handle.shape = Shape{2, -1};
  const Tensor back = *TensorFromProto(Write(Tensor::Scalar(handle)));
  EXPECT_EQ(back.scalar<ResourceHandle>().device, "/job:a");
  EXPECT_EQ(back.scalar<ResourceHandle>().ToString(), "c/n");
  EXPECT_EQ(back.scalar<ResourceHandle>().type_name, "Variable");
  EXPECT_EQ(back.scalar<ResourceHandle>().dtype, DType::kFloat);
  EXPECT_EQ(back.scalar<ResourceHandle>().shape, (Shape{2, -1}));
}

}  // namespace
}  // namespace penstock
