#include "penstock/client/coordinator.h"

#include <exception>
#include <utility>

#include "penstock/client/error.h"

namespace penstock {

bool IsCleanStop(Code code) { return code == Code::kOutOfRange || code == Code::kCancelled; }

Coordinator::~Coordinator() {
  RequestStop();
  std::list<Member> members;
  {
    MutexLock lock(mu_);
    while (!AllEnded()) changed_.Wait(mu_);
    members.swap(members_);
  }
  for (Member& member : members) member.thread.join();
}

void Coordinator::Start(std::string name, std::function<void()> body) {
  MutexLock lock(mu_);
  Member& member = members_.emplace_back();
  member.name = std::move(name);
  try {
    member.thread = std::thread([this, &member, body = std::move(body)] { Run(&member, body); });
  } catch (...) {
    members_.pop_back();
    throw;
  }
}

void Coordinator::Run(Member* member, const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    RequestStop(error.status());
  } catch (const std::exception& error) {
    RequestStop(Internal("thread {}: {}", member->name, error.what()));
  } catch (...) {
    RequestStop(Internal("thread {} threw what is no std::exception", member->name));
  }
  MutexLock lock(mu_);
  member->ended = true;
  changed_.NotifyAll();
}

void Coordinator::RequestStop(const Status& why) {
  std::vector<std::function<void()>> callbacks;
  {
    MutexLock lock(mu_);
    if (error_.ok() && !why.ok() && !IsCleanStop(why.code())) error_ = why;
    if (stop_) return;
    stop_ = true;
    callbacks.swap(on_stop_);
    changed_.NotifyAll();
  }
  for (const auto& callback : callbacks) callback();
}

bool Coordinator::ShouldStop() const {
  MutexLock lock(mu_);
  return stop_;
}

bool Coordinator::WaitForStop(std::chrono::milliseconds limit) const {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  MutexLock lock(mu_);
  while (!stop_) {
    if (!changed_.WaitUntil(mu_, deadline)) break;
  }
  return stop_;
}

void Coordinator::OnStop(std::function<void()> callback) {
  {
    MutexLock lock(mu_);
    if (!stop_) {
      on_stop_.push_back(std::move(callback));
      return;
    }
  }
  callback();
}

bool Coordinator::AllEnded() const {
  for (const Member& member : members_) {
    if (!member.ended) return false;
  }
  return true;
}

void Coordinator::Join(std::chrono::milliseconds grace) {
  std::list<Member> ended;
  std::string running;
  Status error;
  {
    MutexLock lock(mu_);
    while (!AllEnded() && !stop_) changed_.Wait(mu_);
    const auto deadline = std::chrono::steady_clock::now() + grace;
    while (!AllEnded()) {
      if (!changed_.WaitUntil(mu_, deadline)) break;
    }
    for (auto it = members_.begin(); it != members_.end();) {
      const auto next = std::next(it);
      if (it->ended) {
        ended.splice(ended.end(), members_, it);
      } else {
        running += (running.empty() ? "" : ", ") + it->name;
      }
      it = next;
    }
    error = error_;
  }
  // Each is past its last look at the coordinator, or about to be.
  for (Member& member : ended) member.thread.join();
  OrThrow(error);
  if (running.empty()) return;
  throw Error(DeadlineExceeded("Coordinator stopped with threads still running: {}", running));
}

}  // namespace penstock
