#include "penstock/transport/rendezvous.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace penstock {
namespace {

// What one receiver was told.
struct Got {
  int calls = 0;
  Status status;
  Tensor value;
  bool is_dead = false;

  Rendezvous::RecvDone Done() {
    return [this](const Status& s, Tensor v, bool dead) {
      ++calls;
      status = s;
      value = std::move(v);
      is_dead = dead;
    };
  }
};

TEST(Rendezvous, EitherSideMayComeFirst) {
  const auto rendezvous = MakeLocalRendezvous();
  Got early;
  Got late;
  rendezvous->RecvAsync("a", nullptr, early.Done());
  EXPECT_EQ(early.calls, 0);
  ASSERT_TRUE(rendezvous->Send("a", Tensor::Scalar(1), false).ok());
  ASSERT_TRUE(rendezvous->Send("b", Tensor::Scalar(2), false).ok());
  rendezvous->RecvAsync("b", nullptr, late.Done());
  EXPECT_EQ(early.calls, 1);
  EXPECT_EQ(early.value.scalar<int32_t>(), 1);
  EXPECT_EQ(late.calls, 1);
  EXPECT_EQ(late.value.scalar<int32_t>(), 2);
}

TEST(Rendezvous, ValuesAndReceiversOfAKeyQueue) {
  const auto rendezvous = MakeLocalRendezvous();
  for (const int value : {1, 2}) {
    ASSERT_TRUE(rendezvous->Send("a", Tensor::Scalar(value), false).ok());
  }
  Got got[4];
  for (Got& one : got) rendezvous->RecvAsync("a", nullptr, one.Done());
  for (const int value : {3, 4}) {
    ASSERT_TRUE(rendezvous->Send("a", Tensor::Scalar(value), false).ok());
  }
  for (int i = 0; i < 4; ++i) EXPECT_EQ(got[i].value.scalar<int32_t>(), i + 1);
}

TEST(Rendezvous, DeadValuesArriveDead) {
  const auto rendezvous = MakeLocalRendezvous();
  ASSERT_TRUE(rendezvous->Send("a", Tensor(), true).ok());
  Got got;
  rendezvous->RecvAsync("a", nullptr, got.Done());
  EXPECT_TRUE(got.status.ok());
  EXPECT_TRUE(got.is_dead);
}

TEST(Rendezvous, AbortFailsAllNowAndLater) {
  const auto rendezvous = MakeLocalRendezvous();
  Got waiting;
  Got later;
  rendezvous->RecvAsync("a", nullptr, waiting.Done());
  ASSERT_TRUE(rendezvous->Send("b", Tensor::Scalar(1), false).ok());
  rendezvous->Abort(Unavailable("the worker is gone"));
  rendezvous->Abort(Internal("a later reason"));
  rendezvous->RecvAsync("b", nullptr, later.Done());
  EXPECT_EQ(waiting.status.ToString(), "UNAVAILABLE: the worker is gone");
  EXPECT_EQ(later.status.ToString(), "UNAVAILABLE: the worker is gone");
  EXPECT_EQ(rendezvous->Send("c", Tensor::Scalar(1), false).code(), Code::kUnavailable);
  EXPECT_EQ(waiting.calls, 1);
}

TEST(Rendezvous, ACancelledReceiverIsTakenOut) {
  const auto rendezvous = MakeLocalRendezvous();
  Cancellation cancellation;
  Got cancelled;
  Got stays;
  Got late;
  rendezvous->RecvAsync("a", &cancellation, cancelled.Done());
  rendezvous->RecvAsync("a", nullptr, stays.Done());
  cancellation.Cancel(DeadlineExceeded("too late"));
  EXPECT_EQ(cancelled.status.code(), Code::kDeadlineExceeded);
  rendezvous->RecvAsync("a", &cancellation, late.Done());
  EXPECT_EQ(late.status.code(), Code::kDeadlineExceeded);
  ASSERT_TRUE(rendezvous->Send("a", Tensor::Scalar(7), false).ok());
  EXPECT_EQ(stays.value.scalar<int32_t>(), 7);
  EXPECT_EQ(cancelled.calls + late.calls, 2);
}

TEST(Rendezvous, ItsEndIsAnAbort) {
  Got got;
  {
    const auto rendezvous = MakeLocalRendezvous();
    rendezvous->RecvAsync("a", nullptr, got.Done());
  }
  EXPECT_EQ(got.status.code(), Code::kCancelled);
}

TEST(Rendezvous, CallbacksMayUseIt) {
  const auto rendezvous = MakeLocalRendezvous();
  Got second;
  rendezvous->RecvAsync("a", nullptr, [&](const Status&, Tensor value, bool) {
    rendezvous->RecvAsync("b", nullptr, second.Done());
    EXPECT_TRUE(rendezvous->Send("b", std::move(value), false).ok());
  });
  ASSERT_TRUE(rendezvous->Send("a", Tensor::Scalar(5), false).ok());
  EXPECT_EQ(second.value.scalar<int32_t>(), 5);
}

TEST(Rendezvous, KeysAreTensorFlows) {
  EXPECT_EQ(RendezvousKey("/job:a/task:0/device:CPU:0", 255, "/job:a/task:0/device:GPU:0", "x:0"),
            "/job:a/task:0/device:CPU:0;00000000000000ff;/job:a/task:0/device:GPU:0;x:0;0:0");
  EXPECT_EQ(RendezvousKey("a", -1, "b", "edge_1", 2, 3), "a;ffffffffffffffff;b;edge_1;2:3");
}

// Every receiver is called once, whatever comes first: the value, the cancellation or the abort.
TEST(RendezvousStress, ConcurrentSendCancelAndAbort) {
  constexpr int kRounds = 300;
  constexpr int kKeys = 8;
  for (int round = 0; round < kRounds; ++round) {
    const auto rendezvous = MakeLocalRendezvous();
    Cancellation cancellation;
    std::atomic<int> calls{0};
    std::atomic<int> values{0};
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
      for (int k = 0; k < kKeys; ++k) {
        rendezvous->RecvAsync(std::to_string(k), &cancellation,
                              [&](const Status& status, Tensor, bool) {
                                calls.fetch_add(1);
                                if (status.ok()) values.fetch_add(1);
                              });
      }
    });
    threads.emplace_back([&] {
      for (int k = 0; k < kKeys; ++k) {
        (void)rendezvous->Send(std::to_string(k), Tensor::Scalar(k), false);
      }
    });
    threads.emplace_back([&] {
      if (round % 3 == 0) cancellation.Cancel(Cancelled("enough"));
      if (round % 3 == 1) rendezvous->Abort(Aborted("enough"));
    });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(calls.load(), kKeys);
    if (round % 3 == 2) {
      EXPECT_EQ(values.load(), kKeys);
    }
  }
}

}  // namespace
}  // namespace penstock
