#include "penstock/io/record.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "penstock/io/crc32c.h"
#include "penstock/io/little_endian.h"
#include "penstock/proto/golden_case.pb.h"

namespace penstock::io {
namespace {

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

class RecordTest : public testing::Test {
 protected:
  RecordTest() {
    std::string pattern = (fs::temp_directory_path() / "record_test_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    path_ = (folder_ / "file").string();
  }
  ~RecordTest() override { fs::remove_all(folder_); }

  void Put(const std::string& bytes) const {
    fs::remove(path_);  // Emptying a file in place is slow: some file systems then flush it.
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  std::string Get() const { return ReadFile(path_); }
  void WriteAll(const std::vector<std::string>& records) const {
    Result<RecordWriter> writer = RecordWriter::Open(path_);
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    for (const std::string& record : records) ASSERT_TRUE(writer->Write(record).ok());
    ASSERT_TRUE(writer->Close().ok());
  }
  // Reads to the end or to the first error, which is returned.
  Status ReadAll(std::vector<std::string>* records, RecordReaderOptions options = {}) const {
    records->clear();
    TRY_ASSIGN(RecordReader reader, RecordReader::Open(path_, options));
    std::string record;
    while (true) {
      TRY_ASSIGN(const bool more, reader.Read(&record));
      if (!more) return OkStatus();
      records->push_back(record);
    }
  }
  Status ReadError() const {
    std::vector<std::string> records;
    return ReadAll(&records);
  }

  fs::path folder_;
  std::string path_;
};

std::string Header(uint64_t length) {
  std::string header(12, '\0');
  StoreLittleEndian<uint64_t>(length, header.data());
  StoreLittleEndian<uint32_t>(MaskedCrc32c({header.data(), 8}), header.data() + 8);
  return header;
}

TEST_F(RecordTest, WritesTheBytesOfTheGrammar) {
  WriteAll({"abc"});
  // Checksums computed bit by bit elsewhere, without our tables.
  EXPECT_EQ(Get(), std::string("\x03\0\0\0\0\0\0\0\xb0\x99\x49\x0e"
                               "abc"
                               "\x6e\x57\xf1\x21",
                               19));
}

TEST_F(RecordTest, ReadsWhatWasWritten) {
  std::mt19937 random(1);
  std::vector<std::string> records = {"", "a", std::string(1, '\0')};
  // Around and above the sizes of the buffers on both sides.
  for (size_t size : {65520u, 65536u, 262132u, 262144u, 262145u, 1000003u}) {
    std::string record(size, '\0');
    for (char& c : record) c = static_cast<char>(random());
    records.push_back(std::move(record));
    records.push_back("between");
  }
  for (int i = 0; i < 30000; ++i) records.push_back(std::string(i % 37, static_cast<char>(i)));
  WriteAll(records);
  std::vector<std::string> read;
  const Status status = ReadAll(&read);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(read == records);
}

TEST_F(RecordTest, EmptyFileHasNoRecords) {
  WriteAll({});
  std::vector<std::string> read;
  EXPECT_TRUE(ReadAll(&read).ok());
  EXPECT_TRUE(read.empty());
}

TEST_F(RecordTest, MissingFileAndFolder) {
  EXPECT_EQ(ReadError().code(), Code::kNotFound);
  EXPECT_EQ(RecordReader::Open(folder_.string()).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(RecordWriter::Open(path_ + "/x").status().code(), Code::kNotFound);
  EXPECT_EQ(RecordWriter::Open(folder_.string()).status().code(), Code::kInvalidArgument);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(ReadError().code(), Code::kInvalidArgument);  // And does not wait for a writer.
}

TEST_F(RecordTest, TruncationIsDataLoss) {
  WriteAll({"first", "second"});
  const std::string bytes = Get();
  const size_t first_end = 12 + 5 + 4;
  for (size_t size = 0; size < bytes.size(); ++size) {
    Put(bytes.substr(0, size));
    std::vector<std::string> read;
    const Status status = ReadAll(&read);
    EXPECT_EQ(read.size(), size >= first_end ? 1u : 0u) << size;
    const bool between_records = size == 0 || size == first_end;
    EXPECT_EQ(status.code(), between_records ? Code::kOk : Code::kDataLoss) << size;
  }
}

TEST_F(RecordTest, EveryFlippedBitIsDataLoss) {
  WriteAll({"first", "second"});
  const std::string bytes = Get();
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    Put(damaged);
    EXPECT_EQ(ReadError().code(), Code::kDataLoss) << bit;
  }
}

TEST_F(RecordTest, ErrorsNameFileAndOffset) {
  WriteAll({"first", "second"});
  std::string bytes = Get();
  bytes[bytes.size() - 6] ^= 1;
  Put(bytes);
  EXPECT_EQ(ReadError().message(),
            path_ + ": record at offset 21: checksum of the data does not match");
  Put("\x1f\x8b\x08 and what else gzip writes");
  EXPECT_EQ(ReadError().message(), path_ +
                                       ": record at offset 0: checksum of the length does not "
                                       "match; is the file compressed by gzip?");
}

TEST_F(RecordTest, HugeLengthsAllocateNothing) {
  for (uint64_t length : {uint64_t{5}, uint64_t{1} << 40, uint64_t{1} << 62, ~uint64_t{0},
                          ~uint64_t{0} - 3, ~uint64_t{0} - 15}) {
    Put(Header(length) + "12345678");
    std::vector<std::string> read;
    EXPECT_EQ(ReadAll(&read).code(), Code::kDataLoss) << length;
    EXPECT_TRUE(read.empty());
  }
  // A file with a hole is as long as it says; the limit stops it.
  Put(Header(uint64_t{1} << 36));
  fs::resize_file(path_, uint64_t{1} << 37);
  EXPECT_EQ(ReadError().code(), Code::kResourceExhausted);
}

TEST_F(RecordTest, LimitIsTheUsers) {
  WriteAll({"12345678"});
  std::vector<std::string> read;
  EXPECT_TRUE(ReadAll(&read, {.max_record_bytes = 8}).ok());
  EXPECT_EQ(ReadAll(&read, {.max_record_bytes = 7}).code(), Code::kResourceExhausted);
}

TEST_F(RecordTest, ResumesAtAnOffset) {
  WriteAll({"first", "second", "third"});
  Result<RecordReader> reader = RecordReader::Open(path_);
  ASSERT_TRUE(reader.ok());
  std::string record;
  ASSERT_TRUE(*reader->Read(&record));
  const uint64_t offset = reader->offset();
  ASSERT_TRUE(*reader->Read(&record));
  ASSERT_TRUE(*reader->Read(&record));
  EXPECT_FALSE(*reader->Read(&record));
  reader->Seek(offset);
  ASSERT_TRUE(*reader->Read(&record));
  EXPECT_EQ(record, "second");
  reader->Seek(offset + 1);
  EXPECT_EQ(reader->Read(&record).status().code(), Code::kDataLoss);
  EXPECT_EQ(reader->offset(), offset + 1);
  reader->Seek(~uint64_t{0});
  EXPECT_EQ(reader->Read(&record).status().code(), Code::kDataLoss);
}

TEST_F(RecordTest, FollowsAGrowingFile) {
  Result<RecordWriter> writer = RecordWriter::Open(path_);
  ASSERT_TRUE(writer.ok());
  Result<RecordReader> reader = RecordReader::Open(path_);
  ASSERT_TRUE(reader.ok());
  std::string record;
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(*reader->Read(&record));
    ASSERT_TRUE(writer->Write(std::to_string(i)).ok());
    ASSERT_TRUE(writer->Flush().ok());
    ASSERT_TRUE(*reader->Read(&record));
    EXPECT_EQ(record, std::to_string(i));
  }
  // Half a record now, the rest later.
  const std::string bytes = Header(4) + "tail";
  std::ofstream out(path_, std::ios::binary | std::ios::app);
  out << bytes << std::flush;
  EXPECT_EQ(reader->Read(&record).status().code(), Code::kDataLoss);
  std::string crc(4, '\0');
  StoreLittleEndian<uint32_t>(MaskedCrc32c("tail"), crc.data());
  out << crc << std::flush;
  ASSERT_TRUE(*reader->Read(&record));
  EXPECT_EQ(record, "tail");
}

TEST_F(RecordTest, WriterKeepsItsFirstError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  Result<RecordWriter> writer = RecordWriter::Open("/dev/full");
  ASSERT_TRUE(writer.ok());
  EXPECT_TRUE(writer->Write("small").ok());
  EXPECT_EQ(writer->Flush().code(), Code::kResourceExhausted);
  EXPECT_EQ(writer->Write("more").code(), Code::kResourceExhausted);
  EXPECT_EQ(writer->Close().code(), Code::kResourceExhausted);
  EXPECT_EQ(writer->Close().code(), Code::kResourceExhausted);
}

TEST_F(RecordTest, WriterClosesOnce) {
  Result<RecordWriter> writer = RecordWriter::Open(path_);
  ASSERT_TRUE(writer.ok());
  EXPECT_TRUE(writer->Write("x").ok());
  EXPECT_TRUE(writer->Sync().ok());
  EXPECT_TRUE(writer->Close().ok());
  EXPECT_TRUE(writer->Close().ok());
  EXPECT_EQ(writer->Write("y").code(), Code::kFailedPrecondition);
}

TEST_F(RecordTest, RandomDamageIsDataLossOrTheSameRecords) {
  std::mt19937 random(7);
  std::vector<std::string> records;
  for (int i = 0; i < 20; ++i) records.push_back(std::string(random() % 60, 'a'));
  WriteAll(records);
  const std::string bytes = Get();
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = bytes;
    for (int i = random() % 4; i >= 0; --i) damaged[random() % damaged.size()] = random();
    damaged.resize(random() % 2 ? damaged.size() : random() % damaged.size());
    Put(damaged);
    std::vector<std::string> read;
    const Status status = ReadAll(&read);
    EXPECT_TRUE(status.ok() || status.code() == Code::kDataLoss) << status.message();
    ASSERT_LE(read.size(), records.size());
    EXPECT_TRUE(std::equal(read.begin(), read.end(), records.begin())) << round;
  }
}

std::optional<fs::path> FindGoldens() {
  if (const char* dir = std::getenv("PENSTOCK_SHARED")) return fs::path(dir) / "goldens";
  for (const fs::path& start : {fs::absolute(__FILE__), fs::current_path()}) {
    for (fs::path dir = start; dir.has_relative_path(); dir = dir.parent_path()) {
      const fs::path candidate = dir.parent_path() / "shared" / "goldens";
      if (fs::exists(candidate)) return candidate;
    }
  }
  return std::nullopt;
}

// Files that Penstock did not write: they parse, and our writer makes the same bytes of their
// records.
class GoldenRecordTest : public RecordTest {};

TEST_F(GoldenRecordTest, ParseAndWriteBack) {
  const auto folder = FindGoldens();
  if (!folder || !fs::exists(*folder)) {
    GTEST_SKIP() << "no recorded cases are here; PENSTOCK_SHARED may name their folder";
  }
  int num_cases = 0;
  for (const auto& entry : fs::directory_iterator(*folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".tfrecord")) continue;
    Put(ReadFile(entry.path()));
    const std::string bytes = Get();
    std::vector<std::string> records;
    const Status status = ReadAll(&records);
    ASSERT_TRUE(status.ok()) << name << ": " << status.message();
    for (const std::string& record : records) {
      if (name.starts_with("stateful")) {
        golden::ModelCase model;
        ASSERT_TRUE(model.ParseFromString(record)) << name;
        ASSERT_GT(model.runs_size(), 0) << model.id();
      } else {
        golden::KernelCase kernel;
        ASSERT_TRUE(kernel.ParseFromString(record)) << name;
        ASSERT_NE(kernel.id().find(kernel.node_def().op() + "/"), std::string::npos) << kernel.id();
        ASSERT_FALSE(kernel.node_def().op().empty()) << kernel.id();
      }
    }
    num_cases += static_cast<int>(records.size());
    WriteAll(records);
    EXPECT_TRUE(Get() == bytes) << name;
  }
  EXPECT_GT(num_cases, 0);
}

}  // namespace
}  // namespace penstock::io
