#include "penstock/io/safetensors.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "penstock/io/file_tree.h"
#include "penstock/io/json_scanner.h"

namespace penstock::io {
namespace {

namespace fs = std::filesystem;

class SafetensorsTest : public testing::Test {
 protected:
  SafetensorsTest() {
    std::string pattern = (fs::temp_directory_path() / "safetensors_test_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~SafetensorsTest() override { fs::remove_all(folder_); }
  std::string At(const std::string& name) const { return (folder_ / name).string(); }

  fs::path folder_;
};

std::string FileOf(const std::string& json, const std::string& data) {
  const uint64_t length = json.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + json + data;
}

TEST_F(SafetensorsTest, ReadsWhatWasWritten) {
  const NamedTensor tensors[] = {
      {"b", Tensor::FromValues<uint8_t>(Shape{3}, {1, 2, 3})},
      {"a \"quoted\"\n/\xc3\xa9", Tensor::FromValues<float>(Shape{2, 2}, {1, -2, 3, 4})},
      {"scalar", Tensor::Scalar<int64_t>(-5)},
      {"empty", Tensor(DType::kBfloat16, Shape{0, 4})},
      {"flags", Tensor::FromValues<bool>(Shape{2}, {true, false})},
  };
  ASSERT_TRUE(WriteSafetensors(At("f"), tensors, {{"format", "pt"}, {"k", "\"v\""}}).ok());
  const Result<SafetensorsReader> reader = SafetensorsReader::Open(At("f"));
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  EXPECT_EQ(reader->header().metadata.at("k"), "\"v\"");
  EXPECT_EQ(reader->Names().size(), 5u);
  for (const auto& [name, tensor] : tensors) {
    const Result<Tensor> read = reader->Read(name);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_EQ(read->ToString(), tensor.ToString());
    const SafetensorsEntry& entry = reader->header().entries.find(name)->second;
    EXPECT_EQ(entry.begin % SizeOf(entry.dtype), 0u);
  }
  EXPECT_EQ(reader->Read("none").status().code(), Code::kNotFound);
  const NamedTensor twice[] = {tensors[0], tensors[0]};
  EXPECT_EQ(WriteSafetensors(At("g"), twice).code(), Code::kInvalidArgument);
  const NamedTensor strings[] = {{"s", Tensor::Scalar<std::string>("x")}};
  EXPECT_EQ(WriteSafetensors(At("g"), strings).code(), Code::kUnimplemented);
  EXPECT_FALSE(fs::exists(At("g")));
}

// The bytes that the safetensors library writes for {"w": float32 [1.5, -2]}.
TEST_F(SafetensorsTest, OfTheLibrary) {
  const std::string file = FileOf(
      R"({"__metadata__":{"format":"np"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}   )",
      std::string("\0\0\xc0\x3f\0\0\0\xc0", 8));
  ASSERT_TRUE(WriteFileAtomically(At("f"), file).ok());
  EXPECT_EQ(SafetensorsReader::Open(At("f"))->Read("w")->ToString(), "float [2] {1.5, -2}");
}

TEST_F(SafetensorsTest, BadFilesAreRefused) {
  const auto code = [&](const std::string& file) {
    EXPECT_TRUE(WriteFileAtomically(At("f"), file).ok());
    return SafetensorsReader::Open(At("f")).status().code();
  };
  const std::string good = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const std::string data(8, '\1');
  EXPECT_EQ(code(FileOf(good, data)), Code::kOk);
  EXPECT_EQ(SafetensorsReader::Open(At("none")).status().code(), Code::kNotFound);
  const std::string whole = FileOf(good, data);
  for (size_t cut = 0; cut < whole.size(); ++cut)
    EXPECT_EQ(code(whole.substr(0, cut)), Code::kDataLoss) << cut;
  EXPECT_EQ(code(whole + "x"), Code::kDataLoss);
  EXPECT_EQ(code(FileOf("{}", "")), Code::kOk);
  EXPECT_EQ(code(std::string(8, '\xff')), Code::kDataLoss);
  EXPECT_EQ(code(std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10)), Code::kDataLoss);
  const char* const bad[] = {
      R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,9]}})",
      R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})",
      R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})",
      R"({"w":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})",
      R"({"w":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8]}})",
      R"({"w":{"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,8]}})",
      R"({"w":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,8]}})",
      R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
      R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
      R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"w":{"dtype":"F32","shape":[0],"data_offsets":[8,8]}})",
      R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"v":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
      R"({"w":{"dtype":"F32","shape":[2]}})",
      R"({"w":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
      R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"more":1}})",
      R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}x)",
      R"({"w":[[[[[[[[[[[[)",
      R"({"w)",
      R"([])",
      "",
  };
  for (const char* json : bad) EXPECT_EQ(code(FileOf(json, data)), Code::kDataLoss) << json;
  EXPECT_EQ(code(FileOf(std::string(100'000, '['), data)), Code::kDataLoss);
  // Known to others: the rest of the file can be read.
  EXPECT_EQ(code(FileOf(R"({"w":{"dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8]}})", data)),
            Code::kOk);
  EXPECT_EQ(SafetensorsReader::Open(At("f"))->Read("w").status().code(), Code::kUnimplemented);
}

TEST(JsonScanner, Strings) {
  const auto read = [](const char* text) { return JsonScanner(text).TakeString(); };
  EXPECT_EQ(*read(R"("a\"\\\/\b\n\u00e9\ud83d\ude00")"), "a\"\\/\b\n\xc3\xa9\xf0\x9f\x98\x80");
  for (const char* bad : {"\"", "\"a", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\ud800\"",
                          "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\n\"", "a"})
    EXPECT_EQ(read(bad).status().code(), Code::kDataLoss) << bad;
  EXPECT_EQ(*JsonScanner(JsonString("\1\"\\x\x1f")).TakeString(), "\1\"\\x\x1f");
  for (const char* bad : {"-1", "01", "", "x", "18446744073709551616"})
    EXPECT_FALSE(JsonScanner(bad).TakeUnsigned().ok()) << bad;
}

}  // namespace
}  // namespace penstock::io
