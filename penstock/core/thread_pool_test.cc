#include "penstock/core/thread_pool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <numeric>

#include "penstock/core/cancellation.h"
#include "penstock/core/log.h"
#include "penstock/core/parallel.h"

namespace penstock {
namespace {

TEST(ThreadPool, RunsAllBeforeItIsGone) {
  std::atomic<int> ran{0};
  {
    ThreadPool pool(3);
    for (int i = 0; i < 1000; ++i) pool.Schedule([&] { ran.fetch_add(1); });
  }
  EXPECT_EQ(ran.load(), 1000);
}

// Tasks come one by one, after pauses around the time that a worker watches before it sleeps.
TEST(ThreadPoolConcurrency, NoTaskIsLostWhenAWorkerFallsAsleep) {
  ThreadPool pool(2);
  std::atomic<int> ran{0};
  for (int i = 1; i <= 2000; ++i) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(i % 40);
    while (std::chrono::steady_clock::now() < end) {
    }
    pool.Schedule([&] {
      ran.fetch_add(1);
      ran.notify_one();
    });
    for (int now = ran.load(); now < i; now = ran.load()) ran.wait(now);  // hangs if it is lost
  }
}

TEST(ThreadPool, OneThreadRunsInline) {
  ThreadPool pool(1);
  bool ran = false;
  pool.Schedule([&] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST(ParallelFor, CoversEveryItemOnce) {
  ThreadPool pool(4);
  const ParallelFor each(&pool);
  for (const int64_t n : {0, 1, 7, 1000, 100'003}) {
    for (const int64_t grain : {1, 64}) {
      std::vector<std::atomic<int>> hits(n);
      each(
          n, 1000,
          [&](int64_t begin, int64_t end) {
            EXPECT_EQ(begin % grain, 0);
            for (int64_t i = begin; i < end; ++i) hits[i].fetch_add(1);
          },
          grain);
      for (int64_t i = 0; i < n; ++i) ASSERT_EQ(hits[i].load(), 1) << n << " " << i;
    }
  }
}

TEST(ParallelFor, NestsAndRunsConcurrently) {
  ThreadPool pool(4);
  const ParallelFor each(&pool);
  std::atomic<int64_t> sum{0};
  each(16, 1e6, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      each(100, 1e4, [&](int64_t b, int64_t e) { sum.fetch_add(e - b); });
    }
  });
  EXPECT_EQ(sum.load(), 1600);
}

// A pool of two with its worker busy: the caller runs what is scheduled, sleeps in between, and
// ends when it is told to.
TEST(ThreadPool, ACallerHelpsUntilItIsTold) {
  ThreadPool pool(2);
  std::atomic<bool> busy{false}, release{false}, done{false};
  std::atomic<int> ran{0};
  pool.Schedule([&] {
    busy = true;
    while (!release.load()) std::this_thread::yield();
  });
  while (!busy.load()) std::this_thread::yield();
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) pool.Schedule([&] { ran.fetch_add(1); });
    while (ran.load() < 100) std::this_thread::yield();
    done = true;
    pool.Wake();
  });
  // Whether the helper or, in between, the worker took them: all have run.
  EXPECT_TRUE(pool.HelpUntil([&] { return done.load(); }));
  EXPECT_EQ(ran.load(), 100);
  other.join();
  release = true;
}

TEST(ThreadPool, HasRoomForOneHelper) {
  ThreadPool pool(2);
  std::atomic<bool> inside{false}, done{false};
  std::thread first([&] {
    EXPECT_TRUE(pool.HelpUntil([&] {
      inside = true;
      return done.load();
    }));
  });
  while (!inside.load()) std::this_thread::yield();
  EXPECT_FALSE(pool.HelpUntil([] { return false; }));
  done = true;
  pool.Wake();
  first.join();
  EXPECT_TRUE(pool.HelpUntil([] { return true; }));
}

TEST(ThreadBudget, ObeysTheSmallestLimit) {
  EXPECT_EQ(ThreadBudget(1), 1);
  EXPECT_GE(ThreadBudget(), 1);
  setenv("PENSTOCK_NUM_THREADS", "1", 1);
  EXPECT_EQ(ThreadBudget(64), 1);
  std::string logged;
  SetLogSink([&](LogLevel, std::string_view line) { logged = line; });
  setenv("PENSTOCK_NUM_THREADS", "many", 1);
  EXPECT_GE(ThreadBudget(), 1);
  EXPECT_NE(logged.find("PENSTOCK_NUM_THREADS=many"), std::string::npos);
  SetLogSink({});
  unsetenv("PENSTOCK_NUM_THREADS");
}

TEST(CancellationConcurrency, CallbacksRunOnceOrNever) {
  for (int round = 0; round < 200; ++round) {
    Cancellation cancellation;
    std::atomic<int> called{0};
    std::vector<Cancellation::Token> tokens;
    for (int i = 0; i < 8; ++i)
      tokens.push_back(cancellation.Register([&] { called.fetch_add(1); }));
    std::thread canceller([&] { cancellation.Cancel(Cancelled("stop")); });
    int removed = 0;
    for (const auto token : tokens) removed += cancellation.Deregister(token) ? 1 : 0;
    canceller.join();
    EXPECT_EQ(called.load() + removed, 8);
    EXPECT_EQ(cancellation.Register([] {}), 0u);
    EXPECT_EQ(cancellation.status().message(), "stop");
  }
}

}  // namespace
}  // namespace penstock
