#include "penstock/client/coordinator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "penstock/client/error.h"

namespace penstock {
namespace {

using std::chrono::milliseconds;

TEST(Coordinator, ThreadsStopTogether) {
  Coordinator coordinator;
  std::atomic<int> ended{0};
  for (int t = 0; t < 3; ++t) {
    coordinator.Start("worker", [&] {
      while (!coordinator.WaitForStop(milliseconds(1000))) {
      }
      ended.fetch_add(1);
    });
  }
  EXPECT_FALSE(coordinator.ShouldStop());
  coordinator.RequestStop();
  coordinator.Join();
  EXPECT_EQ(ended.load(), 3);
  EXPECT_TRUE(coordinator.ShouldStop());
  coordinator.Join();  // there is nothing left to wait for
}

TEST(Coordinator, JoinWaitsForThreadsThatEndByThemselves) {
  Coordinator coordinator;
  std::atomic<int> ended{0};
  coordinator.Start("worker", [&] { ended.fetch_add(1); });
  coordinator.Join();
  EXPECT_EQ(ended.load(), 1);
  EXPECT_FALSE(coordinator.ShouldStop());
}

TEST(Coordinator, TheFirstErrorComesOutOfJoin) {
  Coordinator coordinator;
  coordinator.Start("fails", [] { throw Error(DataLoss("the file is torn")); });
  coordinator.Start("fails later", [&] {
    while (!coordinator.WaitForStop(milliseconds(1000))) {
    }
    throw std::runtime_error("a second one");
  });
  try {
    coordinator.Join();
    FAIL() << "Join must throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kDataLoss) << error.what();
  }
}

TEST(Coordinator, OtherExceptionsAreInternal) {
  Coordinator coordinator;
  coordinator.Start("reader", [] { throw std::runtime_error("no such thing"); });
  try {
    coordinator.Join();
    FAIL() << "Join must throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.status().message(), "thread reader: no such thing");
  }
}

TEST(Coordinator, TheEndOfInputIsNoError) {
  Coordinator coordinator;
  coordinator.Start("reads", [] { throw Error(OutOfRange("the queue is closed")); });
  coordinator.Join();
  EXPECT_TRUE(coordinator.ShouldStop());
  coordinator.RequestStop(Cancelled("the queue was closed"));
  coordinator.Join();
  coordinator.RequestStop(Internal("this is one"));
  EXPECT_THROW(coordinator.Join(), Error);
}

TEST(Coordinator, ThreadsThatDoNotStopAreNamed) {
  std::atomic<bool> go_on{true};
  Coordinator coordinator;
  coordinator.Start("stubborn", [&] {
    while (go_on) std::this_thread::yield();
  });
  coordinator.Start("quick", [] {});
  coordinator.RequestStop();
  try {
    coordinator.Join(milliseconds(20));
    ADD_FAILURE() << "Join must throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kDeadlineExceeded);
    EXPECT_NE(error.status().message().find("stubborn"), std::string::npos) << error.what();
  }
  go_on = false;
  coordinator.Join();
}

TEST(Coordinator, CallbacksRunOnceWhenItStops) {
  Coordinator coordinator;
  int calls = 0;
  coordinator.OnStop([&] { ++calls; });
  EXPECT_EQ(calls, 0);
  coordinator.RequestStop();
  coordinator.RequestStop();
  EXPECT_EQ(calls, 1);
  coordinator.OnStop([&] { ++calls; });  // it has stopped: at once
  EXPECT_EQ(calls, 2);
}

TEST(CoordinatorStress, ConcurrentStopsAndStarts) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> ended{0};
    std::atomic<int> called{0};
    {
      Coordinator coordinator;
      coordinator.OnStop([&] { called.fetch_add(1); });
      for (int t = 0; t < 4; ++t) {
        coordinator.Start("worker", [&, t] {
          if (t % 2 == 0) coordinator.RequestStop();
          while (!coordinator.ShouldStop()) std::this_thread::yield();
          ended.fetch_add(1);
        });
      }
    }
    EXPECT_EQ(ended.load(), 4);
    EXPECT_EQ(called.load(), 1);
  }
}

}  // namespace
}  // namespace penstock
