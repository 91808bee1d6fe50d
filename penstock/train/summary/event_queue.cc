#include "penstock/train/summary/event_queue.h"

#include "penstock/core/log.h"

namespace penstock {

SummaryWriter::Queue::Queue(std::string folder, const SummaryWriterOptions& options,
                            io::EventFile file)
    : folder_(std::move(folder)),
      options_(options),
      file_(std::make_unique<io::EventFile>(std::move(file))),
      path_(file_->path()),
      thread_([this] { WriteUntilStopped(); }) {}

SummaryWriter::Queue::~Queue() {
  {
    MutexLock lock(mu_);
    stop_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
  MutexLock lock(mu_);
  if (lost_ > 0) Log(LogLevel::kWarning, Format("summaries: {} events were lost in all", lost_));
}

Status SummaryWriter::Queue::Add(io::Event event) {
  MutexLock lock(mu_);
  TRY(ErrorToThrow());
  while (pending_bytes_ > kFullBytes) changed_.Wait(mu_);
  if (pending_.empty()) oldest_ = std::chrono::steady_clock::now();
  pending_bytes_ += event.content.size() + sizeof event;
  pending_.push_back(std::move(event));
  changed_.NotifyAll();
  return OkStatus();
}

Status SummaryWriter::Queue::Flush() {
  MutexLock lock(mu_);
  while (!pending_.empty() || writing_) {
    flush_ = true;
    changed_.NotifyAll();
    changed_.Wait(mu_);
  }
  return ErrorToThrow();
}

std::string SummaryWriter::Queue::path() const {
  MutexLock lock(mu_);
  return path_;
}

int64_t SummaryWriter::Queue::num_lost() const {
  MutexLock lock(mu_);
  return lost_;
}

Status SummaryWriter::Queue::ErrorToThrow() const {
  return options_.on_error == OnWriteError::kThrow ? error_ : OkStatus();
}

bool SummaryWriter::Queue::IsDue() const {
  if (stop_) return true;
  if (pending_.empty()) return false;
  return flush_ || pending_bytes_ > kManyBytes ||
         std::chrono::steady_clock::now() >= oldest_ + options_.flush_every;
}

void SummaryWriter::Queue::WaitUntilDue() {
  while (!IsDue()) {
    if (pending_.empty()) {
      changed_.Wait(mu_);
    } else {
      (void)changed_.WaitUntil(mu_, oldest_ + options_.flush_every);
    }
  }
}

void SummaryWriter::Queue::WriteUntilStopped() {
  bool stopped = false;
  while (!stopped) {
    std::vector<io::Event> events;
    {
      MutexLock lock(mu_);
      WaitUntilDue();
      stopped = stop_;
      events.swap(pending_);
      pending_bytes_ = 0;
      writing_ = true;
    }
    const Status written = events.empty() ? OkStatus() : Write(events);
    MutexLock lock(mu_);
    Tell(written, events.size());
    writing_ = false;
    flush_ = false;
    changed_.NotifyAll();
  }
}

// After an error the file may end inside a record, and readers stop there: what follows goes to a
// new one, which they find in the same folder.
Status SummaryWriter::Queue::Write(const std::vector<io::Event>& events) {
  if (file_ == nullptr) {
    TRY_ASSIGN(io::EventFile file, io::EventFile::Create(folder_, options_.suffix));
    file_ = std::make_unique<io::EventFile>(std::move(file));
  }
  Status status;
  for (const io::Event& event : events) {
    if (status.ok()) status = file_->Add(event);
  }
  if (status.ok()) status = file_->Flush();
  if (!status.ok()) file_ = nullptr;
  return status;
}

void SummaryWriter::Queue::Tell(const Status& status, size_t num_events) {
  if (file_ != nullptr) path_ = file_->path();
  if (!status.ok()) {
    lost_ += static_cast<int64_t>(num_events);
    // Once for each row of failures: a full disk must not fill the log as well.
    if (error_.ok()) {
      Log(LogLevel::kWarning,
          Format(
              "summaries: {} events were not written: {}{}", num_events, status.ToString(),
              options_.on_error == OnWriteError::kGoOn ? "; training goes on without them" : ""));
    }
  }
  error_ = status;
}

}  // namespace penstock
