#include "penstock/train/data/input_queue.h"

#include <gtest/gtest.h>

#include <map>

#include "penstock/client/ops.h"
#include "penstock/client/variable.h"
#include "penstock/train/data/testing/temp_folder.h"

namespace penstock {
namespace {

using testing_data::TempFolder;
using testing_data::WriteExamples;

// Reads until the data end, and counts how often each example came: its image tells which it is.
std::map<int, int> ReadAll(const std::vector<std::string>& files, const InputQueueOptions& options,
                           int64_t* batches = nullptr) {
  Graph g;
  auto [image, label] =
      InputQueue(g, files, options, Feature<uint8_t>{.name = "image", .shape = {2, 2}},
                 Feature<int32_t>{.name = "label", .limit = 10});
  Session session(g);
  session.Run(InitVariables(g));
  std::map<int, int> counts;
  Coordinator coordinator;
  StartQueueRunners(g, session, coordinator);
  try {
    while (true) {
      auto [images, labels] = session.Run(Fetch(image, label));
      if (batches != nullptr) ++*batches;
      EXPECT_EQ(images.shape(), (Shape{labels.size(), 2, 2}));
      for (int64_t i = 0; i < labels.size(); ++i) {
        EXPECT_EQ(images[4 * i] % 10, labels[i]);
        ++counts[images[4 * i]];
      }
    }
  } catch (const Error& error) {
    if (error.code() != Code::kOutOfRange) throw;
  }
  coordinator.RequestStop();
  coordinator.Join();
  return counts;
}

TEST(InputQueue, EveryExampleComesOnceAnEpoch) {
  const TempFolder folder;
  const std::vector<std::string> files = {WriteExamples(folder, "a", 100),
                                          WriteExamples(folder, "b", 63, 4, 10, 100),
                                          WriteExamples(folder, "c", 37, 4, 10, 163)};
  for (const bool shuffle : {false, true}) {
    for (const int threads : {1, 3}) {
      int64_t batches = 0;
      const std::map<int, int> counts = ReadAll(files,
                                                {.batch = 32,
                                                 .epochs = 2,
                                                 .shuffle = shuffle,
                                                 .capacity = 100,
                                                 .min_after_dequeue = 50,
                                                 .threads = threads,
                                                 .read_block = 7},
                                                &batches);
      EXPECT_EQ(counts.size(), 200u);
      for (const auto& [example, count] : counts) EXPECT_EQ(count, 2) << example;
      EXPECT_EQ(batches, 13);
    }
  }
}

TEST(InputQueue, BadFilesStopIt) {
  const TempFolder folder;
  const std::string labels = WriteExamples(folder, "labels", 20, 4, 12);
  EXPECT_THROW(ReadAll({labels}, {.batch = 4}), Error) << "labels out of range";
  WriteExamples(folder, "good", 20);
  const std::string bytes = folder.Read("good");
  const std::string cut = folder.Write("cut", bytes.substr(0, bytes.size() - 3));
  EXPECT_THROW(ReadAll({cut}, {.batch = 4}), Error);
  EXPECT_THROW(ReadAll({folder / "absent"}, {.batch = 4}), Error);
}

TEST(InputQueue, ItsCounterIsNoPartOfTheModel) {
  Graph g;
  InputQueue(g, {"file"}, {}, Feature<float>{.name = "x", .shape = {3}});
  EXPECT_TRUE(g.collections["variables"].empty());
  EXPECT_TRUE(g.collections["trainable_variables"].empty());
  EXPECT_EQ(QueueRunners(g).size(), 2u);
}

TEST(InputQueue, ArgumentsAreChecked) {
  Graph g;
  const Feature<float> x{.name = "x", .shape = {3}};
  EXPECT_THROW(InputQueue(g, {}, {}, x), Error);
  EXPECT_THROW(InputQueue(g, {"f"}, {.batch = 0}, x), Error);
  EXPECT_THROW(InputQueue(g, {"f"}, {.batch = 64, .capacity = 32}, x), Error);
  EXPECT_THROW(InputQueue(g, {"f"}, {}, Feature<float>{.name = "x", .shape = {-1}}), Error);
}

}  // namespace
}  // namespace penstock
