#include "penstock/io/compression.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "penstock/io/record.h"

namespace penstock::io {
namespace {

namespace fs = std::filesystem;

const std::string kText = "hello hello hello\n";
const std::string kGzip(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x90\x5c"
    "\x00\x3b\x7c\x8a\xdf\x12\x00\x00\x00",
    29);
const std::string kZlib("\x78\x9c\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x90\x5c\x00\x40\xb5\x06\x87", 17);
// The records "one" and "three", by gzip.
const std::string kRecords(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x63\x66\x80\x80\x0d\x33\x3d\xf9\xf2\xf3"
    "\x52\x19\x1d\x42\x39\x58\xa1\x42\xaf\x36\xb1\xd8\x95\x64\x14\xa5\xa6\x26\x28\xff"
    "\x76\x05\x00\xe4\xe7\x23\xde\x28\x00\x00\x00",
    51);

class CompressionTest : public testing::Test {
 protected:
  CompressionTest() {
    std::string pattern = (fs::temp_directory_path() / "compression_test_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~CompressionTest() override { fs::remove_all(folder_); }
  void SetUp() override {
    if (Uncompress(Compression::kGzip, kGzip).status().code() == Code::kUnimplemented)
      GTEST_SKIP() << "there is no zlib";
  }
  std::string Put(const std::string& bytes) const {
    const std::string path = (folder_ / "file").string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  fs::path folder_;
};

TEST_F(CompressionTest, Uncompresses) {
  EXPECT_EQ(*Uncompress(Compression::kNone, "x"), "x");
  EXPECT_EQ(*Uncompress(Compression::kGzip, kGzip), kText);
  EXPECT_EQ(*Uncompress(Compression::kZlib, kZlib), kText);
  EXPECT_EQ(*Uncompress(Compression::kGzip, kGzip + kGzip), kText + kText);
  EXPECT_EQ(*Uncompress(Compression::kZlib, kZlib + "junk"), kText);
  EXPECT_EQ(*Uncompress(Compression::kZlib, ""), "");
  EXPECT_EQ(Uncompress(Compression::kZlib, "junk").status().code(), Code::kDataLoss);
  EXPECT_EQ(Uncompress(Compression::kGzip, kZlib).status().code(), Code::kDataLoss);
  EXPECT_EQ(Uncompress(Compression::kZlib, kZlib, 3).status().code(), Code::kResourceExhausted);
}

// Of a file nothing is lost in silence.
TEST_F(CompressionTest, EveryCutOfAFileIsDataLoss) {
  for (size_t i = 1; i < kGzip.size(); ++i) {
    Result<InputStream> stream = InputStream::Open(Put(kGzip.substr(0, i)), Compression::kGzip);
    std::string text;
    EXPECT_EQ(stream->Read(100, &text).status().code(), Code::kDataLoss) << i;
  }
  Result<InputStream> two = InputStream::Open(Put(kGzip + kGzip), Compression::kGzip);
  std::string text;
  EXPECT_EQ(*two->Read(100, &text), 2 * kText.size());
}

TEST_F(CompressionTest, StreamsLinesAndBytes) {
  Result<InputStream> stream = InputStream::Open(Put(kGzip), Compression::kGzip);
  std::string text;
  EXPECT_EQ(*stream->Skip(6), 6u);
  EXPECT_EQ(*stream->Read(5, &text), 5u);
  EXPECT_EQ(text, "hello");
  EXPECT_TRUE(*stream->ReadLine(&text));
  EXPECT_EQ(text, " hello");
  EXPECT_EQ(stream->offset(), kText.size());
  EXPECT_FALSE(*stream->ReadLine(&text));
  EXPECT_EQ(*stream->Read(5, &text), 0u);
}

TEST_F(CompressionTest, RecordsAreReadFromStreams) {
  Result<InputStream> stream = InputStream::Open(Put(kRecords), Compression::kGzip);
  std::string record;
  EXPECT_TRUE(*ReadRecord(*stream, &record));
  EXPECT_EQ(record, "one");
  EXPECT_TRUE(*ReadRecord(*stream, &record));
  EXPECT_EQ(record, "three");
  EXPECT_FALSE(*ReadRecord(*stream, &record));
  Result<InputStream> text = InputStream::Open(Put(kGzip), Compression::kGzip);
  EXPECT_EQ(ReadRecord(*text, &record).status().code(), Code::kDataLoss);
}

}  // namespace
}  // namespace penstock::io
