#include "penstock/train/loop/signals.h"

#include <atomic>

namespace penstock {
namespace {

// Lock-free: a handler may write it.
std::atomic<int> caught{0};
static_assert(std::atomic<int>::is_always_lock_free);

void Note(int signal) {
  int none = 0;
  if (caught.compare_exchange_strong(none, signal)) return;
  // The user insists. Unblocked when the handler returns, the signal then has its default effect.
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

// A signal that the process was started to ignore (nohup) stays ignored.
void Catch(int signal, const struct sigaction& action, struct sigaction* old) {
  sigaction(signal, nullptr, old);
  if (old->sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  caught = 0;
  struct sigaction action = {};
  action.sa_handler = Note;
  // Reads and waits of other threads go on: the loop asks between steps.
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  Catch(SIGINT, action, &old_interrupt_);
  Catch(SIGTERM, action, &old_terminate_);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
}

int InterruptGuard::signal() { return caught; }

const char* SignalName(int signal) { return signal == SIGINT ? "SIGINT" : "SIGTERM"; }

}  // namespace penstock
