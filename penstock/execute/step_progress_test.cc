#include "penstock/execute/step_progress.h"

#include <gtest/gtest.h>

#include <thread>

namespace penstock {
namespace {

TEST(StepProgress, CountsNodesAndKeepsThoseThatWait) {
  StepProgress progress;
  EXPECT_EQ(progress.ended(), 0);
  EXPECT_EQ(progress.last_started(), kNoNode);
  progress.NodeStarted(7);
  progress.NodeEnded();
  progress.NodeStarted(4);
  StepProgress::Waiting four;
  StepProgress::Waiting two;
  progress.NodeWaits(4, &four);
  progress.NodeWaits(2, &two);
  EXPECT_EQ(progress.ended(), 1);
  EXPECT_EQ(progress.last_started(), 4);
  auto waiting = progress.WaitingNodes();
  ASSERT_EQ(waiting.size(), 2u);
  EXPECT_LE(waiting[0].since, waiting[1].since);
  progress.NodeResumed(&four);
  waiting = progress.WaitingNodes();
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_EQ(waiting[0].node, 2);
}

TEST(StepProgress, ANodeOfALoopWaitsSeveralTimes) {
  StepProgress progress;
  StepProgress::Waiting first;
  StepProgress::Waiting second;
  progress.NodeWaits(3, &first);
  progress.NodeWaits(3, &second);
  progress.NodeResumed(&first);
  EXPECT_EQ(progress.WaitingNodes().size(), 1u);
  progress.NodeResumed(&second);
  EXPECT_TRUE(progress.WaitingNodes().empty());
}

TEST(StepProgress, EveryEventIsAChange) {
  StepProgress progress;
  int64_t seen = progress.Changes();
  auto changed = [&] {
    const int64_t before = std::exchange(seen, progress.Changes());
    return before != seen;
  };
  EXPECT_FALSE(changed());
  StepProgress::Waiting entry;
  progress.NodeWaits(1, &entry);
  EXPECT_TRUE(changed());
  progress.NodeResumed(&entry);
  EXPECT_TRUE(changed());
  progress.NodeEnded();
  EXPECT_TRUE(changed());
  progress.NodesEnded(9);
  EXPECT_TRUE(changed());
  EXPECT_EQ(progress.ended(), 9);
}

TEST(StepProgressConcurrent, NothingIsLost) {
  StepProgress progress;
  constexpr int kNodes = 500;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kNodes; ++i) {
        progress.NodeStarted(i);
        StepProgress::Waiting entry;
        progress.NodeWaits(i % 7, &entry);
        progress.NodeResumed(&entry);
        progress.NodeEnded();
      }
    });
  }
  threads.emplace_back([&] {
    for (int i = 0; i < kNodes; ++i) EXPECT_LE(progress.WaitingNodes().size(), 3u);
  });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(progress.ended(), 3 * kNodes);
  EXPECT_TRUE(progress.WaitingNodes().empty());
}

}  // namespace
}  // namespace penstock
