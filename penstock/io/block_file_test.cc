#include <gtest/gtest.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <random>

#include "penstock/io/block_reader.h"
#include "penstock/io/block_writer.h"
#include "penstock/io/crc32c.h"
#include "penstock/io/file_faults.h"

namespace penstock::io {
namespace {

namespace fs = std::filesystem;

class BlockFileTest : public testing::Test {
 protected:
  BlockFileTest() {
    std::string pattern = (fs::temp_directory_path() / "block_test_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~BlockFileTest() override {
    SetFileFaults(nullptr);
    fs::remove_all(folder_);
  }
  std::string At(const std::string& name) const { return (folder_ / name).string(); }

  fs::path folder_;
};

std::string RandomBytes(size_t n) {
  std::mt19937_64 random(n);
  std::string bytes(n, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

// Sizes around those of blocks, appended in odd pieces, read in parts of all kinds.
TEST_F(BlockFileTest, ReadsWhatWasWritten) {
  constexpr size_t kBlock = 8 << 20;
  for (const size_t size : {size_t{0}, size_t{1}, size_t{4096}, kBlock - 1, kBlock, kBlock + 4097,
                            3 * kBlock + 12345}) {
    const std::string bytes = RandomBytes(size);
    Result<BlockWriter> writer = BlockWriter::Create(At("f"));
    ASSERT_TRUE(writer.ok());
    uint32_t crc = 0;
    for (size_t at = 0, piece = 1; at < size; at += piece, piece = piece * 3 + 7)
      ASSERT_TRUE(writer->Append(std::string_view(bytes).substr(at, piece), &crc).ok());
    EXPECT_EQ(crc, Crc32c(bytes));
    EXPECT_EQ(writer->size(), size);
    ASSERT_TRUE(writer->Finish().ok());
    EXPECT_FALSE(fs::exists(At("f")));
    ASSERT_TRUE(writer->Commit().ok());

    const Result<BlockReader> reader = BlockReader::Open(At("f"));
    ASSERT_TRUE(reader.ok());
    EXPECT_EQ(reader->size(), size);
    std::string got(size, '\0');
    uint32_t read_crc = 1;
    ASSERT_TRUE(reader->ReadAt(0, size, got.data(), &read_crc).ok());
    EXPECT_TRUE(got == bytes) << size;
    EXPECT_EQ(read_crc, crc);
    std::mt19937_64 random(1);
    for (int i = 0; i < 200 && size > 0; ++i) {
      const size_t at = random() % size;
      const size_t n = random() % (size - at) % (i % 4 == 0 ? SIZE_MAX : 100'000);
      ASSERT_TRUE(reader->ReadAt(at, n, got.data(), &read_crc).ok());
      const std::string_view expected = std::string_view(bytes).substr(at, n);
      ASSERT_TRUE(expected == std::string_view(got).substr(0, n)) << at << " " << n;
      EXPECT_EQ(read_crc, Crc32c(expected));
    }
    EXPECT_EQ(reader->ReadAt(0, size + 1, got.data()).code(), Code::kDataLoss);
    EXPECT_EQ(reader->ReadAt(UINT64_MAX, 2, got.data()).code(), Code::kDataLoss);
    fs::remove(At("f"));
  }
}

TEST_F(BlockFileTest, JoinsChecksums) {
  const std::string bytes = RandomBytes(100'000);
  for (const size_t at : {size_t{0}, size_t{1}, size_t{12'288}, size_t{99'999}, bytes.size()}) {
    const std::string_view a = std::string_view(bytes).substr(0, at);
    const std::string_view b = std::string_view(bytes).substr(at);
    EXPECT_EQ(JoinCrc32c(Crc32c(a), Crc32c(b), b.size()), Crc32c(bytes)) << at;
    EXPECT_EQ(Crc32c(b, Crc32c(a)), Crc32c(bytes)) << at;
  }
  EXPECT_EQ(Crc32("123456789"), 0xcbf43926u);
}

class FailAt final : public FileFaults {
 public:
  FailAt(int event, int error) : left_(event), error_(error) {}
  FileFault Before(const FileEvent&) override {
    return left_-- == 0 ? FileFault{.error = error_, .bytes = 0} : FileFault();
  }

 private:
  std::atomic<int> left_;
  const int error_;
};

// Every fault comes back as an error, and nothing is left behind.
TEST_F(BlockFileTest, FaultsAreReported) {
  const std::string bytes = RandomBytes(20 << 20);
  int num_events = 0;
  for (;; ++num_events) {
    FailAt faults(num_events, ENOSPC);
    SetFileFaults(&faults);
    const Status status = [&] {
      TRY_ASSIGN(BlockWriter writer, BlockWriter::Create(At("f")));
      TRY(writer.Append(bytes));
      TRY(writer.Finish());
      return writer.Commit();
    }();
    SetFileFaults(nullptr);
    if (status.ok()) break;
    EXPECT_EQ(status.code(), Code::kResourceExhausted) << status.ToString();
    fs::remove(At("f"));  // the fault may have come after its name was there
    EXPECT_TRUE(fs::is_empty(folder_)) << num_events;
  }
  EXPECT_GE(num_events, 6);  // create, three writes, sync, rename
}

}  // namespace
}  // namespace penstock::io
