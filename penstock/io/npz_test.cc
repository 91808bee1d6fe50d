#include "penstock/io/npz.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "penstock/io/file_tree.h"

namespace penstock::io {
namespace {

namespace fs = std::filesystem;

class NpzTest : public testing::Test {
 protected:
  NpzTest() {
    std::string pattern = (fs::temp_directory_path() / "npz_test_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~NpzTest() override { fs::remove_all(folder_); }
  std::string At(const std::string& name) const { return (folder_ / name).string(); }
  Result<Tensor> Npy(const std::string& bytes) const {
    EXPECT_TRUE(WriteFileAtomically(At("x.npy"), bytes).ok());
    return ReadNpy(At("x.npy"));
  }

  fs::path folder_;
};

std::string NpyOf(const std::string& dict, const std::string& data) {
  const auto length = static_cast<uint16_t>(dict.size());
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(length & 0xff) +
         static_cast<char>(length >> 8) + dict + data;
}

TEST_F(NpzTest, ReadsWhatWasWritten) {
  const NamedTensor tensors[] = {
      {"w/kernel", Tensor::FromValues<float>(Shape{2, 3}, {1, 2, 3, 4, 5, 6})},
      {"step", Tensor::Scalar<int64_t>(-7)},
      {"v", Tensor::FromValues<double>(Shape{1}, {0.5})},
      {"flags", Tensor::FromValues<bool>(Shape{3}, {true, false, true})},
      {"none", Tensor(DType::kInt16, Shape{0, 2})},
      {"words", Tensor::FromValues<std::string>(Shape{2}, {"one", ""})},
      {"z", Tensor::Scalar(complex64(1, -2))},
  };
  ASSERT_TRUE(WriteNpz(At("f.npz"), tensors).ok());
  const Result<NpzReader> reader = NpzReader::Open(At("f.npz"));
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  EXPECT_EQ(reader->Names().size(), 7u);
  for (const auto& [name, tensor] : tensors) {
    const Result<Tensor> read = reader->Read(name);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_EQ(read->ToString(), tensor.ToString());
    EXPECT_EQ(reader->ReadHeader(name)->shape, tensor.shape());
    ASSERT_TRUE(WriteNpy(At("one.npy"), tensor).ok());
    EXPECT_EQ(ReadNpy(At("one.npy"))->ToString(), tensor.ToString());
  }
  EXPECT_EQ(reader->Read("nothing").status().code(), Code::kNotFound);
  const NamedTensor twice[] = {tensors[0], tensors[0]};
  EXPECT_EQ(WriteNpz(At("g.npz"), twice).code(), Code::kInvalidArgument);
  const NamedTensor brain[] = {{"b", Tensor(DType::kBfloat16, Shape{1})}};
  EXPECT_EQ(WriteNpz(At("g.npz"), brain).code(), Code::kUnimplemented);
  EXPECT_FALSE(fs::exists(At("g.npz")));
}

// numpy.savez_compressed(f, a=numpy.arange(4, dtype='<i2')), as NumPy 2.4 wrote it.
TEST_F(NpzTest, Deflated) {
  constexpr unsigned char kFile[] = {
      80,  75,  3,   4,   45,  0,   0,   0,   8,   0,   0,   0,   33,  0,   210, 16,  54,  102, 255,
      255, 255, 255, 255, 255, 255, 255, 5,   0,   20,  0,   97,  46,  110, 112, 121, 1,   0,   16,
      0,   136, 0,   0,   0,   0,   0,   0,   0,   76,  0,   0,   0,   0,   0,   0,   0,   155, 236,
      23,  234, 27,  16,  201, 200, 80,  198, 80,  173, 158, 146, 90,  156, 92,  164, 110, 165, 160,
      110, 147, 105, 164, 174, 163, 160, 158, 150, 95,  84,  82,  148, 152, 23,  159, 95,  148, 146,
      10,  18,  119, 75,  204, 41,  78,  5,   138, 23,  103, 36,  22,  164, 2,   249, 26,  38,  58,
      154, 58,  10,  181, 10,  20,  0,   46,  6,   6,   70,  6,   38,  6,   102, 6,   0,   80,  75,
      1,   2,   45,  3,   45,  0,   0,   0,   8,   0,   0,   0,   33,  0,   210, 16,  54,  102, 76,
      0,   0,   0,   136, 0,   0,   0,   5,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
      128, 1,   0,   0,   0,   0,   97,  46,  110, 112, 121, 80,  75,  5,   6,   0,   0,   0,   0,
      1,   0,   1,   0,   51,  0,   0,   0,   131, 0,   0,   0,   0,   0,
  };
  ASSERT_TRUE(
      WriteFileAtomically(At("f"), {reinterpret_cast<const char*>(kFile), sizeof kFile}).ok());
  const Result<NpzReader> reader = NpzReader::Open(At("f"));
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  const Result<Tensor> read = reader->Read("a");
  if (read.status().code() == Code::kUnimplemented) GTEST_SKIP() << "built without zlib";
  EXPECT_EQ(read->ToString(), "int16 [4] {0, 1, 2, 3}");
  EXPECT_EQ(NpzReader::Open(At("f"), 100)->Read("a").status().code(), Code::kResourceExhausted);
}

TEST_F(NpzTest, ArraysOfEveryKind) {
  const auto dict = [](const char* descr, const char* order, const char* shape) {
    return Format("{'descr': '{}', 'fortran_order': {}, 'shape': {}, }\n", descr, order, shape);
  };
  const std::string six("\0\1\0\2\0\3\0\4\0\5\0\6", 12);
  EXPECT_EQ(Npy(NpyOf(dict(">i2", "False", "(2, 3)"), six))->ToString(),
            "int16 [2,3] {1, 2, 3, 4, 5, 6}");
  EXPECT_EQ(Npy(NpyOf(dict(">i2", "True", "(2, 3)"), six))->ToString(),
            "int16 [2,3] {1, 3, 5, 2, 4, 6}");
  EXPECT_EQ(Npy(NpyOf(dict("|u1", "False", "(12L,)"), six))->shape(), Shape{12});
  EXPECT_EQ(Npy(NpyOf(dict("<U2", "False", "(1,)"), std::string("\xe9\0\0\0\0\0\0\0", 8)))
                ->scalar<std::string>(),
            "\xc3\xa9");
  EXPECT_EQ(Npy(NpyOf(dict("|b1", "False", "()"), "\7"))->ToString(), "bool [] {true}");
  EXPECT_EQ(Npy(NpyOf(dict("|O", "False", "()"), "\7")).status().code(), Code::kUnimplemented);
  EXPECT_EQ(Npy(NpyOf("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': ()}", "1234"))
                .status()
                .code(),
            Code::kUnimplemented);
  EXPECT_EQ(Npy(NpyOf(dict("<f16", "False", "()"), std::string(16, 0))).status().code(),
            Code::kUnimplemented);
}

TEST_F(NpzTest, BadArraysAreRefused) {
  const std::string good =
      NpyOf("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", "12345678");
  ASSERT_TRUE(Npy(good).ok());
  for (size_t cut = 0; cut < good.size(); ++cut)
    EXPECT_EQ(Npy(good.substr(0, cut)).status().code(), Code::kDataLoss) << cut;
  EXPECT_EQ(Npy(good + "x").status().code(), Code::kDataLoss);
  for (const char* bad : {
           "{'descr': '<i4', 'fortran_order': False, 'shape': (9223372036854775807, 2), }",
           "{'descr': '<i4', 'fortran_order': False, 'shape': (4611686018427387904,), }",
           "{'descr': '<i4', 'fortran_order': False, 'shape': (-1,), }",
           "{'descr': '<i4', 'fortran_order': False, }",
           "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), 'shape': (2,)}",
           "{'descr': '<i4', 'fortran_order': None, 'shape': (2,)}",
           "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), 'x': 1}",
           "{'descr': '<i4', 'fortran_order': False, 'shape': (2",
           "{'descr': '<i4",
           "__import__('os')",
           "",
       })
    EXPECT_FALSE(Npy(NpyOf(bad, "12345678")).ok()) << bad;
  // Nothing is allocated for what is not there.
  EXPECT_FALSE(
      Npy(NpyOf("{'descr': '|S0', 'fortran_order': False, 'shape': (99999999999,)}", "")).ok());
}

// More files than 16 bits count, which moves the end of the archive.
TEST_F(NpzTest, ManyArrays) {
  std::vector<NamedTensor> tensors;
  for (int i = 0; i < 66'000; ++i) tensors.push_back({std::to_string(i), Tensor::Scalar(i)});
  ASSERT_TRUE(WriteNpz(At("f"), tensors).ok());
  const Result<NpzReader> reader = NpzReader::Open(At("f"));
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  EXPECT_EQ(reader->Names().size(), 66'000u);
  EXPECT_EQ(reader->Read("65999")->scalar<int>(), 65'999);
}

// Every byte changed, and cut everywhere: an error, or what was written.
TEST_F(NpzTest, DamageIsFound) {
  const NamedTensor tensors[] = {{"a", Tensor::FromValues<int32_t>(Shape{2}, {1, 2})},
                                 {"b", Tensor::Scalar<int32_t>(3)}};
  ASSERT_TRUE(WriteNpz(At("f"), tensors).ok());
  const std::string good = *ReadWholeFile(At("f"));
  const auto check = [&](const std::string& bytes) {
    ASSERT_TRUE(WriteFileAtomically(At("f"), bytes).ok());
    const Result<NpzReader> reader = NpzReader::Open(At("f"));
    if (!reader.ok()) return;
    for (const auto& [name, tensor] : tensors) {
      const Result<Tensor> read = reader->Read(name);
      EXPECT_TRUE(!read.ok() || read->ToString() == tensor.ToString());
    }
  };
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 16);
    check(bad);
    if (i % 3 == 0) check(good.substr(0, i));
  }
}

}  // namespace
}  // namespace penstock::io
