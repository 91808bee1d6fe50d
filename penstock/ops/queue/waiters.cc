#include "penstock/ops/queue/waiters.h"

#include <utility>

namespace penstock::ops {

WaiterList::~WaiterList() {
  while (first_ != nullptr) Remove(first_);
}

void WaiterList::PushBack(std::unique_ptr<Waiter> owned) {
  Waiter* waiter = owned.release();
  waiter->previous_ = last_;
  waiter->next_ = nullptr;
  (last_ == nullptr ? first_ : last_->next_) = waiter;
  last_ = waiter;
  ++size_;
}

std::unique_ptr<Waiter> WaiterList::Remove(Waiter* waiter) {
  (waiter->previous_ == nullptr ? first_ : waiter->previous_->next_) = waiter->next_;
  (waiter->next_ == nullptr ? last_ : waiter->next_->previous_) = waiter->previous_;
  --size_;
  return std::unique_ptr<Waiter>(waiter);
}

void Waitable::Start(std::unique_ptr<Waiter> waiter, WaiterList* list) {
  WaiterList served;
  {
    MutexLock lock(mu_);
    Waiter::Progress progress = Waiter::Progress::kStuck;
    if (list->empty() || !list->in_order()) progress = waiter->Try();
    if (progress == Waiter::Progress::kServed) {
      served.PushBack(std::move(waiter));
    } else if (Status status = JoinGroup(*waiter); status.ok()) {
      waiter->resource_ = shared_from_this();
      list->PushBack(std::move(waiter));
      if (progress == Waiter::Progress::kStuck) return;
    } else {
      waiter->GiveBack();
      waiter->status_ = std::move(status);
      served.PushBack(std::move(waiter));
    }
    Serve(served);
  }
  Finish(served);
}

void Waitable::Serve(WaiterList& served) {
  for (bool progress = true; progress;) {
    progress = false;
    for (WaiterList* list : lists_) progress |= ServeList(*list, served);
  }
}

bool Waitable::ServeList(WaiterList& list, WaiterList& served) {
  bool progress = false;
  for (Waiter* waiter = list.first(); waiter != nullptr;) {
    Waiter* next = WaiterList::Next(*waiter);
    const Waiter::Progress made = waiter->Try();
    progress |= made != Waiter::Progress::kStuck;
    if (made == Waiter::Progress::kServed) {
      Release(waiter, list, served);
    } else if (list.in_order()) {
      break;
    }
    waiter = next;
  }
  return progress;
}

void Waitable::Release(Waiter* waiter, WaiterList& list, WaiterList& served) {
  LeaveGroup(*waiter);
  served.PushBack(list.Remove(waiter));
}

void Waitable::FailAll(WaiterList& list, const Status& why, WaiterList& served) {
  while (!list.empty()) {
    Waiter* waiter = list.first();
    waiter->GiveBack();
    waiter->status_ = why;
    Release(waiter, list, served);
  }
}

void Waitable::Finish(WaiterList& served) {
  while (!served.empty()) {
    std::unique_ptr<Waiter> waiter = served.Remove(served.first());
    Status status = waiter->status_.ok() ? waiter->Deliver() : std::move(waiter->status_);
    // The call's context may be gone once `done` has run, so the waiter goes first.
    Done done = std::move(waiter->done_);
    waiter.reset();
    done(std::move(status));
  }
}

Status Waitable::JoinGroup(Waiter& waiter) {
  Cancellation* cancellation = waiter.context_.cancellation();
  if (cancellation == nullptr) return OkStatus();
  const auto [found, is_new] = groups_.try_emplace(cancellation);
  CancelGroup& group = found->second;
  if (is_new) {
    group.cancellation = cancellation;
    // The callback keeps the resource: it may be about to run when the last waiter leaves.
    group.token = cancellation->Register(
        [self = shared_from_this(), cancellation] { self->CancelGroupOf(cancellation); });
    if (group.token == 0) {
      groups_.erase(found);
      return cancellation->status();
    }
  }
  ++group.members;
  waiter.group_ = &group;
  return OkStatus();
}

void Waitable::LeaveGroup(Waiter& waiter) {
  CancelGroup* group = std::exchange(waiter.group_, nullptr);
  if (group == nullptr || --group->members > 0) return;
  Cancellation* cancellation = group->cancellation;
  // False when the callback is about to run: it will find nobody of this step.
  (void)cancellation->Deregister(group->token);
  groups_.erase(cancellation);
}

void Waitable::CancelGroupOf(Cancellation* cancellation) {
  WaiterList served;
  {
    MutexLock lock(mu_);
    for (WaiterList* list : lists_) {
      for (Waiter* waiter = list->first(); waiter != nullptr;) {
        Waiter* next = WaiterList::Next(*waiter);
        if (waiter->group_ != nullptr && waiter->group_->cancellation == cancellation) {
          waiter->GiveBack();
          waiter->status_ = cancellation->status();
          Release(waiter, *list, served);
        }
        waiter = next;
      }
    }
    if (!served.empty()) Serve(served);
  }
  Finish(served);
}

Status CheckNotCancelled(const KernelContext& context) {
  const Cancellation* cancellation = context.cancellation();
  if (cancellation == nullptr || !cancellation->IsCancelled()) return OkStatus();
  return cancellation->status();
}

}  // namespace penstock::ops
