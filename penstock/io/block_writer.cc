#include "penstock/io/block_writer.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <thread>
#include <vector>

#include "penstock/core/mutex.h"
#include "penstock/io/block_memory.h"
#include "penstock/io/crc32c.h"

namespace penstock::io {
namespace {

constexpr size_t kBlockBytes = 8 << 20;
constexpr size_t kMaxBlocks = 3;          // one is filled, one is written, one waits
constexpr size_t kPieceBytes = 64 << 10;  // is summed while it lies in the processor's cache

}  // namespace

// Writes blocks in the order they are put, one after the other, on a thread of its own.
// Threads: one caller beside that thread.
class BlockWriter::Queue {
 public:
  explicit Queue(File* file) : file_(file) {}
  ~Queue() {
    if (!thread_.joinable()) return;
    {
      MutexLock lock(mu_);
      stopping_ = true;
      wake_.NotifyAll();
    }
    thread_.join();
  }

  // A block to be filled: a new one while there are few, else waits for one that was written.
  Result<char*> Take() {
    MutexLock lock(mu_);
    while (status_.ok() && free_.empty() && memory_.size() == kMaxBlocks) wake_.Wait(mu_);
    if (!status_.ok()) return status_;
    if (free_.empty()) {
      TRY_ASSIGN(BlockMemory block, MakeBlockMemory(kBlockBytes));
      memory_.push_back(std::move(block));
      return memory_.back().get();
    }
    char* const block = free_.back();
    free_.pop_back();
    return block;
  }

  // The next kBlockBytes of the file.
  void Put(char* block) {
    MutexLock lock(mu_);
    full_.push_back(block);
    if (!thread_.joinable()) thread_ = std::thread([this] { Loop(); });
    wake_.NotifyAll();
  }

  // Waits until all is written.
  Status Drain() {
    MutexLock lock(mu_);
    while (status_.ok() && (!full_.empty() || is_writing_)) wake_.Wait(mu_);
    return status_;
  }

 private:
  void Loop() {
    bool bypasses = file_->BypassCache();
    uint64_t offset = 0;
    MutexLock lock(mu_);
    while (true) {
      while (full_.empty() && !stopping_) wake_.Wait(mu_);
      if (full_.empty() || !status_.ok()) break;
      char* const block = full_.front();
      full_.pop_front();
      is_writing_ = true;
      mu_.Unlock();
      Status written = file_->WriteAt(offset, {block, kBlockBytes});
      if (written.code() == Code::kInvalidArgument && bypasses) {
        // A file system that takes the flag but not the write.
        file_->UseCache();
        bypasses = false;
        written = file_->WriteAt(offset, {block, kBlockBytes});
      }
      offset += kBlockBytes;
      mu_.Lock();
      is_writing_ = false;
      if (!written.ok()) status_ = written;
      free_.push_back(block);
      wake_.NotifyAll();
    }
  }

  File* const file_;
  std::thread thread_;  // of the caller's side alone
  Mutex mu_;
  CondVar wake_;
  std::vector<BlockMemory> memory_ GUARDED_BY(mu_);
  std::vector<char*> free_ GUARDED_BY(mu_);
  std::deque<char*> full_ GUARDED_BY(mu_);
  bool is_writing_ GUARDED_BY(mu_) = false;
  bool stopping_ GUARDED_BY(mu_) = false;
  Status status_ GUARDED_BY(mu_);
};

BlockWriter::BlockWriter(AtomicFile file) : file_(std::make_unique<AtomicFile>(std::move(file))) {}

BlockWriter::BlockWriter(BlockWriter&& other) noexcept = default;
BlockWriter::~BlockWriter() = default;

Result<BlockWriter> BlockWriter::Create(const std::string& path) {
  TRY_ASSIGN(AtomicFile file, AtomicFile::Create(path));
  return BlockWriter(std::move(file));
}

Status BlockWriter::Append(std::string_view bytes, uint32_t* crc) {
  while (!bytes.empty()) {
    if (block_ == nullptr) {
      if (queue_ == nullptr) queue_ = std::make_unique<Queue>(&file_->file());
      TRY_ASSIGN(block_, queue_->Take());
    }
    const std::string_view piece = bytes.substr(0, std::min(kPieceBytes, kBlockBytes - filled_));
    std::memcpy(block_ + filled_, piece.data(), piece.size());
    if (crc != nullptr) *crc = Crc32c(piece, *crc);
    bytes.remove_prefix(piece.size());
    filled_ += piece.size();
    size_ += piece.size();
    if (filled_ == kBlockBytes) TRY(HandOver());
  }
  return OkStatus();
}

Status BlockWriter::HandOver() {
  queue_->Put(std::exchange(block_, nullptr));
  filled_ = 0;
  return OkStatus();
}

Status BlockWriter::Finish() {
  if (queue_ != nullptr) TRY(queue_->Drain());
  if (filled_ > 0) {
    file_->file().UseCache();  // the end is no whole number of blocks
    TRY(file_->file().WriteAt(size_ - filled_, {block_, filled_}));
  }
  queue_.reset();
  TRY_ASSIGN(const uint64_t written, file_->file().Size());
  if (written != size_) {
    return DataLoss("{}: {} bytes were written, but the disk took {}",
                    Printable(file_->file().path()), size_, written);
  }
  return file_->file().Sync();
}

Status BlockWriter::Commit() { return file_->Commit(); }
Status BlockWriter::CommitAs(const std::string& path) { return file_->CommitAs(path); }

}  // namespace penstock::io
