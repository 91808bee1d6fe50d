#include "penstock/session/partial_run.h"

#include <algorithm>

namespace penstock {
namespace {

int FindEdge(const std::vector<PartialGraph::Edge>& edges, OutputRef ref) {
  const auto it = std::find_if(edges.begin(), edges.end(),
                               [&](const PartialGraph::Edge& edge) { return edge.ref == ref; });
  return it == edges.end() ? -1 : static_cast<int>(it - edges.begin());
}

Status NoSuchRun() {
  return InvalidArgument("Must run PartialRunSetup before performing partial runs");
}

}  // namespace

OpenPartialRun::OpenPartialRun(PartialGraph graph, std::unique_ptr<Plan> plan, std::string what,
                               int64_t step_id)
    : edges_(std::move(graph)),
      plan_(std::move(plan)),
      what_(std::move(what)),
      given_(edges_.feeds.size(), 0),
      fetches_(edges_.fetches.size()) {
  step_.id = step_id;
  step_.plan = plan_.get();
  step_.what = what_;
  step_.counted = true;
}

void OpenPartialRun::Start(StepRequest request) {
  request.args = {};
  request.cancellation = &step_.cancellation;
  request.rendezvous = rendezvous_.get();
  request.progress = &step_.progress;
  request.step_id = step_.id;
  for (size_t i = 0; i < edges_.fetches.size(); ++i) {
    rendezvous_->RecvAsync(edges_.fetches[i].key, nullptr,
                           [this, i](const Status& status, Tensor value, bool is_dead) {
                             Fetched(static_cast<int>(i), status, std::move(value), is_dead);
                           });
  }
  for (size_t i = 0; i < edges_.fetches.size(); ++i) {
    if (edges_.fetches[i].settled_key.empty()) continue;
    rendezvous_->RecvAsync(edges_.fetches[i].settled_key, nullptr,
                           [this, i](const Status& status, Tensor, bool) {
                             // Its value, were there one, has arrived before.
                             if (status.ok()) Fetched(static_cast<int>(i), status, Tensor(), true);
                           });
  }
  // `this` alone: who destroys the run waits for the step, on a thread that is not the step's.
  StartStep(*plan_, request,
            [this](const Result<std::vector<Tensor>>& results) { StepEnded(results.status()); });
}

void OpenPartialRun::Fetched(int index, const Status& status, Tensor value, bool is_dead) {
  MutexLock lock(mu_);
  Fetch& fetch = fetches_[index];
  if (fetch.settled) return;
  fetch.settled = true;
  fetch.status = status;
  if (status.ok() && is_dead) {
    fetch.status = InvalidArgument(
        "The tensor returned for {} was not valid: it is on a branch "
        "that was not taken",
        edges_.fetches[index].name);
  }
  fetch.value = std::move(value);
  changed_.NotifyAll();
}

void OpenPartialRun::StepEnded(const Status& status) {
  rendezvous_->Abort(status.ok() ? InvalidArgument("The tensor that was to be fetched was not "
                                                   "valid: it is on a branch that was not taken")
                                 : status);
  MutexLock lock(mu_);
  status_ = status;
  ended_ = true;
  changed_.NotifyAll();  // with the lock: the run may be gone as soon as it is free
}

void OpenPartialRun::WaitForEnd() {
  MutexLock lock(mu_);
  while (!ended_) changed_.Wait(mu_);
}

Status OpenPartialRun::CheckFeed(OutputRef ref, const Tensor& value,
                                 const std::vector<uint8_t>& given, int* index) const {
  *index = FindEdge(edges_.feeds, ref);
  if (*index < 0) {
    return InvalidArgument("The feed {}:{} was not specified in PartialRunSetup", ref.node,
                           ref.port);
  }
  const PartialGraph::Edge& edge = edges_.feeds[*index];
  if (given[*index] != 0) return InvalidArgument("The feed {} has already been fed", edge.name);
  if (!value.initialized()) return InvalidArgument("the feed for {} holds no value", edge.name);
  if (value.dtype() == edge.info.dtype && edge.info.shape.IsCompatibleWith(value.shape()))
    return OkStatus();
  return InvalidArgument("the feed for {} must be {} {}, got {} {}", edge.name, edge.info.dtype,
                         edge.info.shape, value.dtype(), value.shape());
}

Status OpenPartialRun::CheckFetch(OutputRef ref, const std::vector<uint8_t>& given,
                                  const std::vector<int>& claimed, int* index) const {
  *index = FindEdge(edges_.fetches, ref);
  if (*index < 0) {
    return InvalidArgument("The fetch {}:{} was not specified in PartialRunSetup", ref.node,
                           ref.port);
  }
  const std::string& name = edges_.fetches[*index].name;
  if (fetches_[*index].taken || std::find(claimed.begin(), claimed.end(), *index) != claimed.end())
    return InvalidArgument("The fetch {} has already been fetched", name);
  std::string missing;
  for (const int feed : edges_.needs[*index]) {
    if (given[feed] == 0) missing += (missing.empty() ? "" : ", ") + edges_.feeds[feed].name;
  }
  if (missing.empty()) return OkStatus();
  return InvalidArgument(
      "The fetch {} can't be computed from the feeds that have been fed so far: it depends on "
      "feeds that have not been given: {}",
      name, missing);
}

Status OpenPartialRun::Claim(std::span<const std::pair<OutputRef, Tensor>> feeds,
                             std::span<const OutputRef> fetches, std::vector<int>* feed_indices,
                             std::vector<int>* fetch_indices) {
  MutexLock lock(mu_);
  std::vector<uint8_t> given = given_;
  for (const auto& [ref, value] : feeds) {
    int index = 0;
    TRY(CheckFeed(ref, value, given, &index));
    given[index] = 1;
    feed_indices->push_back(index);
  }
  for (const OutputRef& ref : fetches) {
    int index = 0;
    TRY(CheckFetch(ref, given, *fetch_indices, &index));
    fetch_indices->push_back(index);
  }
  given_ = std::move(given);
  for (const int index : *fetch_indices) fetches_[index].taken = true;
  return OkStatus();
}

Status OpenPartialRun::EnterTable(StepTable* steps) {
  MutexLock lock(callers_mu_);
  if (callers_ == 0) {
    step_.seen_changes = -1;
    step_.seen_at = ActiveStep::Clock::now();
    step_.reported = false;
    TRY(steps->Add(&step_));
  }
  ++callers_;
  return OkStatus();
}

void OpenPartialRun::LeaveTable(StepTable* steps) {
  MutexLock lock(callers_mu_);
  if (--callers_ == 0) steps->Remove(&step_);
}

Result<std::vector<Tensor>> OpenPartialRun::Run(std::span<const std::pair<OutputRef, Tensor>> feeds,
                                                std::span<const OutputRef> fetches,
                                                const RunOptions& options, StepTable* steps,
                                                bool* ended) {
  *ended = false;
  std::vector<int> feed_indices;
  std::vector<int> fetch_indices;
  TRY(EnterTable(steps));
  Status status = Claim(feeds, fetches, &feed_indices, &fetch_indices);
  if (!status.ok()) {
    LeaveTable(steps);
    return status;
  }
  for (size_t i = 0; i < feeds.size(); ++i) {
    // When the step has failed, its own error says more than that of the rendezvous.
    (void)rendezvous_->Send(edges_.feeds[feed_indices[i]].key, feeds[i].second, false);
  }
  status = Await(fetch_indices, options);
  if (!status.ok()) {
    Cancel(Cancelled("a call of the partial run failed"));
    WaitForEnd();
  }
  LeaveTable(steps);
  MutexLock lock(mu_);
  *ended = !status.ok() || AllUsed();
  if (!status.ok()) return status;
  std::vector<Tensor> values;
  for (const int index : fetch_indices) values.push_back(std::move(fetches_[index].value));
  return values;
}

Status OpenPartialRun::Await(const std::vector<int>& fetches, const RunOptions& options) {
  Cancellation::Token token = 0;
  if (options.cancellation != nullptr) {
    token = options.cancellation->Register(
        [this, outer = options.cancellation] { Cancel(outer->status()); });
    if (token == 0) Cancel(options.cancellation->status());
  }
  const auto deadline = ActiveStep::Clock::now() + options.timeout;
  bool timed = options.timeout.count() > 0;
  {
    MutexLock lock(mu_);
    while (!ended_ && !(Settled(fetches) && !AllUsed())) {
      if (!timed) {
        changed_.Wait(mu_);
      } else if (!changed_.WaitUntil(mu_, deadline)) {
        timed = false;
        mu_.Unlock();
        Cancel(DeadlineExceeded("the step did not finish within {} ms", options.timeout.count()));
        mu_.Lock();
      }
    }
  }
  if (token != 0) options.cancellation->DeregisterAndWait(token);
  MutexLock lock(mu_);
  if (ended_) TRY(status_);
  for (const int index : fetches) TRY(fetches_[index].status);
  return OkStatus();
}

bool OpenPartialRun::Settled(const std::vector<int>& fetches) const {
  for (const int index : fetches) {
    if (!fetches_[index].settled) return false;
  }
  return true;
}

bool OpenPartialRun::AllUsed() const {
  return std::all_of(given_.begin(), given_.end(), [](uint8_t given) { return given != 0; }) &&
         std::all_of(fetches_.begin(), fetches_.end(), [](const Fetch& f) { return f.taken; });
}

std::string OpenPartialRun::DebugString() const {
  std::string out = DescribeStep(step_, ActiveStep::Clock::now());
  MutexLock lock(mu_);
  std::string_view separator = "; feeds to come: ";
  for (size_t i = 0; i < given_.size(); ++i) {
    if (given_[i] != 0) continue;
    out += std::string(separator) + edges_.feeds[i].name;
    separator = ", ";
  }
  separator = "; fetches to come: ";
  for (size_t i = 0; i < fetches_.size(); ++i) {
    if (fetches_[i].taken) continue;
    out += std::string(separator) + edges_.fetches[i].name;
    separator = ", ";
  }
  return out;
}

Result<PartialRunHandle> PartialRunTable::Add(std::shared_ptr<OpenPartialRun> run) {
  MutexLock lock(mu_);
  if (closed_) return FailedPrecondition("the session is closed");
  runs_.emplace(next_, std::move(run));
  return next_++;
}

Result<std::shared_ptr<OpenPartialRun>> PartialRunTable::Find(PartialRunHandle handle) const {
  MutexLock lock(mu_);
  const auto it = runs_.find(handle);
  if (it == runs_.end()) return NoSuchRun();
  return it->second;
}

void PartialRunTable::Remove(PartialRunHandle handle) {
  MutexLock lock(mu_);
  runs_.erase(handle);
}

Status PartialRunTable::Abandon(PartialRunHandle handle, const Status& why) {
  TRY_ASSIGN(const std::shared_ptr<OpenPartialRun> run, Find(handle));
  run->Cancel(why);
  run->WaitForEnd();
  Remove(handle);
  return OkStatus();
}

void PartialRunTable::Close(const Status& why) {
  std::map<PartialRunHandle, std::shared_ptr<OpenPartialRun>> runs;
  {
    MutexLock lock(mu_);
    closed_ = true;
    runs.swap(runs_);
  }
  for (auto& [handle, run] : runs) run->Cancel(why);
  for (auto& [handle, run] : runs) run->WaitForEnd();
}

std::string PartialRunTable::DebugString() const {
  std::string out;
  MutexLock lock(mu_);
  for (const auto& [handle, run] : runs_) {
    out += Format("  partial run {}: {}\n", handle, run->DebugString());
  }
  return out;
}

}  // namespace penstock
