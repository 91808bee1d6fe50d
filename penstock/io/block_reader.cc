#include "penstock/io/block_reader.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "penstock/core/mutex.h"
#include "penstock/io/block_memory.h"
#include "penstock/io/crc32c.h"

namespace penstock::io {
namespace {

constexpr uint64_t kPartBytes = 4 << 20;
constexpr uint64_t kWindowBytes = 2 * kPartBytes;
constexpr uint64_t kMaxThreads = 3;
constexpr uint64_t kPieceBytes = 64 << 10;
// From here on threads of its own pay for a part.
constexpr uint64_t kLargeBytes = 1 << 20;

uint64_t RoundDown(uint64_t n) { return n / File::kBlock * File::kBlock; }

}  // namespace

struct BlockReader::Window {
  Mutex mu;
  BlockMemory memory GUARDED_BY(mu);
  uint64_t begin GUARDED_BY(mu) = 0;
  uint64_t end GUARDED_BY(mu) = 0;
};

BlockReader::BlockReader(File file, uint64_t size) : file_(std::move(file)), size_(size) {}
BlockReader::BlockReader(BlockReader&&) noexcept = default;
BlockReader& BlockReader::operator=(BlockReader&&) noexcept = default;
BlockReader::~BlockReader() = default;

Result<BlockReader> BlockReader::Open(const std::string& path) {
  TRY_ASSIGN(File file, File::OpenToRead(path));
  TRY_ASSIGN(const uint64_t size, file.Size());
  BlockReader reader(std::move(file), size);
  if (size >= kWindowBytes && !reader.file_.IsCached()) {
    TRY_ASSIGN(File direct, File::OpenToRead(path));
    if (direct.BypassCache()) {
      reader.direct_ = std::make_unique<File>(std::move(direct));
      reader.window_ = std::make_unique<Window>();
    }
  }
  return reader;
}

Status BlockReader::ReadAt(uint64_t offset, uint64_t n, char* out, uint32_t* crc) const {
  if (offset > size_ || n > size_ - offset) {
    return DataLoss("{}: {} bytes at offset {} do not lie in a file of {}", Printable(path()), n,
                    offset, size_);
  }
  if (crc != nullptr) *crc = 0;
  if (n == 0) return OkStatus();
  if (n >= kLargeBytes) return ReadParts(offset, n, out, crc);
  if (window_ != nullptr) {
    TRY(ReadThroughWindow(offset, n, out));
  } else {
    TRY(ReadPart(offset, n, nullptr, out, nullptr));
  }
  if (crc != nullptr) *crc = Crc32c({out, n});
  return OkStatus();
}

Status BlockReader::ReadParts(uint64_t offset, uint64_t n, char* out, uint32_t* crc) const {
  // Parts begin where blocks of the file do, but for the first.
  const uint64_t first = offset / kPartBytes;
  const uint64_t num_parts = (offset + n - 1) / kPartBytes - first + 1;
  const auto begin_of = [&](uint64_t part) {
    return std::clamp((first + part) * kPartBytes, offset, offset + n);
  };
  std::vector<uint32_t> crcs(num_parts);
  std::vector<Status> statuses(std::min(num_parts, kMaxThreads));
  std::atomic<uint64_t> next{0};
  const auto work = [&](Status* status) {
    BlockMemory bounce;
    if (direct_ != nullptr) {
      Result<BlockMemory> made = MakeBlockMemory(kPartBytes);
      if (!made.ok()) return void(*status = made.status());
      bounce = *std::move(made);
    }
    for (uint64_t i = next++; i < num_parts && status->ok(); i = next++) {
      const uint64_t begin = begin_of(i), bytes = begin_of(i + 1) - begin;
      *status = ReadPart(begin, bytes, bounce.get(), out + (begin - offset),
                         crc != nullptr ? &crcs[i] : nullptr);
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < statuses.size(); ++i)
    threads.emplace_back([&work, status = &statuses[i]] { work(status); });
  work(&statuses[0]);
  for (std::thread& thread : threads) thread.join();
  for (const Status& status : statuses) TRY(status);
  if (crc == nullptr) return OkStatus();
  *crc = crcs[0];
  for (uint64_t i = 1; i < num_parts; ++i)
    *crc = JoinCrc32c(*crc, crcs[i], begin_of(i + 1) - begin_of(i));
  return OkStatus();
}

// `bounce` has room for the whole blocks that the part lies in, which are at most kPartBytes.
Status BlockReader::ReadPart(uint64_t offset, uint64_t n, char* bounce, char* out,
                             uint32_t* crc) const {
  const uint64_t begin = RoundDown(offset);
  const uint64_t end = RoundDown(offset + n + File::kBlock - 1);
  // The file's last block is not whole: it comes through the cache.
  const bool around = bounce != nullptr && end <= RoundDown(size_);
  TRY_ASSIGN(const uint64_t got,
             around ? direct_->ReadAt(begin, end - begin, bounce) : file_.ReadAt(offset, n, out));
  if (got != (around ? end - begin : n))
    return DataLoss("{}: the file shrank while it was read", Printable(path()));
  // Piece by piece: what was copied is summed while it lies in the processor's cache.
  for (uint64_t at = 0; at < n; at += kPieceBytes) {
    const uint64_t bytes = std::min(kPieceBytes, n - at);
    if (around) std::memcpy(out + at, bounce + (offset - begin) + at, bytes);
    if (crc != nullptr) *crc = Crc32c({out + at, bytes}, *crc);
  }
  return OkStatus();
}

Status BlockReader::ReadThroughWindow(uint64_t offset, uint64_t n, char* out) const {
  Window& window = *window_;
  MutexLock lock(window.mu);
  if (offset < window.begin || offset + n > window.end) {
    if (window.memory == nullptr) {
      TRY_ASSIGN(window.memory, MakeBlockMemory(kWindowBytes));
    }
    window.begin = window.end = RoundDown(offset);
    const uint64_t bytes = std::min(kWindowBytes, size_ - window.begin);
    TRY(ReadParts(window.begin, bytes, window.memory.get(), nullptr));
    window.end = window.begin + bytes;
  }
  std::memcpy(out, window.memory.get() + (offset - window.begin), n);
  return OkStatus();
}

}  // namespace penstock::io
