#include "penstock/ops/files/reader.h"

#include <atomic>
#include <utility>

#include "penstock/io/wire_reader.h"
#include "penstock/io/wire_writer.h"

namespace penstock::ops {

Reader::Reader(std::string name, MakeSource make) : name_(std::move(name)), source_(make()) {}

void Reader::Read(KernelContext& context, std::shared_ptr<Queue> queue, Done done) {
  Enter(std::make_unique<Request>(
      Request{&context, std::move(queue), 1, true, std::move(done), {}, {}}));
}

void Reader::ReadUpTo(KernelContext& context, std::shared_ptr<Queue> queue, int64_t n, Done done) {
  Enter(std::make_unique<Request>(
      Request{&context, std::move(queue), n, false, std::move(done), {}, {}}));
}

void Reader::Enter(std::unique_ptr<Request> request) {
  {
    MutexLock lock(mu_);
    requests_.push_back(std::move(request));
    if (serving_) return;
    serving_ = true;
  }
  Serve();
}

void Reader::Serve() {
  // A done that ends the step may drop the last other owner.
  const std::shared_ptr<Reader> self = shared_from_this();
  while (true) {
    Request* request = nullptr;
    {
      MutexLock lock(mu_);
      if (requests_.empty()) {
        serving_ = false;
        return;
      }
      request = requests_.front().get();
    }
    Result<bool> served = Advance(*request);
    Status status = served.status();
    if (served.ok() && !*served) {
      // The queue may answer at once, or later on another thread: whoever comes second goes on, so
      // that many empty files in a row do not nest.
      struct Answer {
        std::atomic<bool> first_came{false};
        Status status;
      };
      auto answer = std::make_shared<Answer>();
      request->queue->Dequeue(*request->context, [self, answer, request](Status dequeued) {
        answer->status = std::move(dequeued);
        if (!answer->first_came.exchange(true)) return;
        self->Resume(*request, answer->status);
      });
      if (!answer->first_came.exchange(true)) return;
      status = answer->status.ok() ? Begin(*request) : answer->status;
      if (status.ok()) continue;
    }
    End(status);
  }
}

void Reader::Resume(Request& request, Status status) {
  if (status.ok()) status = Begin(request);
  if (!status.ok()) End(status);
  Serve();
}

void Reader::End(Status status) {
  std::unique_ptr<Request> request;
  {
    MutexLock lock(mu_);
    request = std::move(requests_.front());
    requests_.pop_front();
  }
  if (status.ok()) status = Deliver(*request);
  request->done(std::move(status));
}

Result<bool> Reader::Advance(Request& request) {
  MutexLock lock(mu_);
  while (working_ && static_cast<int64_t>(request.keys.size()) < request.most) {
    std::string key, value;
    bool last = false;
    TRY_ASSIGN(const bool found, source_->Next(&key, &value, &last));
    if (found) {
      request.keys.push_back(std::move(key));
      request.values.push_back(std::move(value));
      ++produced_;
    }
    if (!found || last) {
      working_ = false;
      ++finished_;
    }
  }
  return !request.keys.empty();
}

Status Reader::Begin(Request& request) {
  const Tensor dequeued = std::exchange(request.context->output(0), Tensor());
  if (dequeued.dtype() != DType::kString || dequeued.num_elements() != 1)
    return InvalidArgument("the queue of a reader must hold names, got a tensor of {} {}",
                           dequeued.dtype(), dequeued.shape());
  MutexLock lock(mu_);
  work_ = dequeued.scalar<std::string>();
  ++started_;
  TRY(source_->Open(work_, nullptr));
  working_ = true;
  return OkStatus();
}

Status Reader::Deliver(Request& request) {
  const Shape shape = request.single ? Shape() : Shape{static_cast<int64_t>(request.keys.size())};
  KernelContext& context = *request.context;
  for (const int output : {0, 1}) {
    TRY_ASSIGN(Tensor tensor, context.Allocate(DType::kString, shape));
    std::vector<std::string>& from = output == 0 ? request.keys : request.values;
    std::move(from.begin(), from.end(), tensor.mutable_data<std::string>());
    context.SetOutput(output, std::move(tensor));
  }
  return OkStatus();
}

int64_t Reader::NumRecordsProduced() const {
  MutexLock lock(mu_);
  return produced_;
}

int64_t Reader::NumWorkUnitsCompleted() const {
  MutexLock lock(mu_);
  return finished_;
}

void Reader::Reset() {
  MutexLock lock(mu_);
  working_ = false;
  work_.clear();
  started_ = finished_ = produced_ = 0;
}

std::string Reader::SerializeState() const {
  MutexLock lock(mu_);
  io::WireWriter state;
  const auto put = [&state](uint32_t field, uint64_t value) {
    if (value != 0) state.Varint(field, value);
  };
  put(1, static_cast<uint64_t>(started_));
  put(2, static_cast<uint64_t>(finished_));
  put(3, static_cast<uint64_t>(produced_));
  if (started_ != finished_) state.Bytes(4, work_);
  if (working_) {
    put(101, source_->position().offset);
    put(102, source_->position().record);
  }
  return state.text();
}

Status Reader::RestoreState(std::string_view state) {
  int64_t started = 0, finished = 0, produced = 0;
  std::string work;
  SourcePosition position;
  bool positioned = false;
  io::WireReader reader(state);
  while (reader.Next()) {
    const bool number = reader.Is(reader.field(), io::WireReader::kVarint);
    if (number && reader.field() == 1) started = static_cast<int64_t>(reader.number());
    if (number && reader.field() == 2) finished = static_cast<int64_t>(reader.number());
    if (number && reader.field() == 3) produced = static_cast<int64_t>(reader.number());
    if (reader.Is(4, io::WireReader::kBytes)) work = reader.bytes();
    if (number && reader.field() == 101) position.offset = reader.number();
    if (number && reader.field() == 102) position.record = reader.number();
    positioned |= number && reader.field() > 100;
  }
  if (!reader.ok() || started < 0 || finished < 0 || produced < 0 || started < finished)
    return InvalidArgument("Could not parse state for {}: {}", Printable(name_), Printable(state));
  MutexLock lock(mu_);
  working_ = false;
  if (started > finished) {
    TRY(source_->Open(work, positioned ? &position : nullptr));
    working_ = true;
  }
  started_ = started;
  finished_ = finished;
  produced_ = produced;
  work_ = std::move(work);
  return OkStatus();
}

}  // namespace penstock::ops
