#include "penstock/train/data/tf_examples.h"

#include <gtest/gtest.h>

#include "penstock/core/log.h"
#include "penstock/train/data/testing/data_test.h"

namespace penstock {
namespace {

using testing_data::ErrorOf;
using testing_data::MakeExample;
using testing_data::TempFolder;
using testing_data::WriteExamples;

DatasetOf<uint8_t, int32_t> Images(std::vector<std::string> files, RecordOptions options = {},
                                   int64_t limit = 10) {
  return TfExamples(std::move(files), options, Feature<uint8_t>{.name = "image", .shape = {2, 2}},
                    Feature<int32_t>{.name = "label", .limit = limit});
}

// "image,label" of each row of each batch.
std::vector<std::string> RowsOf(const DatasetOf<uint8_t, int32_t>& batches) {
  std::vector<std::string> rows;
  for (const auto& [images, labels] : batches) {
    for (int64_t i = 0; i < labels.size(); ++i)
      rows.push_back(Format("{},{}", static_cast<int>(images[4 * i + 3]), labels[i]));
  }
  return rows;
}

class TfExamplesTest : public testing_data::DataTest {};

TEST_F(TfExamplesTest, BatchesAreTheSameHoweverTheyAreMade) {
  const std::vector<std::string> files = {WriteExamples(folder, "a", 23),
                                          WriteExamples(folder, "b", 9, 4, 10, 23)};
  std::vector<std::string> expected;
  for (int i = 0; i < 32; ++i) expected.push_back(Format("{},{}", i, i % 10));
  for (const int threads : {1, 2, 5}) {
    const auto data = Images(files, {.threads = threads});
    for (const int64_t size : {1, 5, 32, 100}) EXPECT_EQ(RowsOf(data.Batch(size)), expected);
    EXPECT_EQ(RowsOf(data.Batch(5, {.drop_remainder = true})).size(), 30u);
    EXPECT_EQ(RowsOf(data.Map([](auto x, auto y) { return std::tuple(x, y); }).Batch(5)), expected);
    auto reader = data.Batch(5).Prefetch(2).Read();
    EXPECT_EQ(std::get<0>(*reader.Next()).shape(), (Shape{5, 2, 2}));
    const DataState state = reader.SaveState();
    auto resumed = data.Batch(5).Prefetch(2).Read();
    resumed.RestoreState(state);
    EXPECT_EQ(std::get<1>(*resumed.Next())[0], 5);
    EXPECT_GT(reader.stats().bytes, 0);
  }
  const auto skipping = Images(files, {.on_bad = OnBadRecord::kSkip});
  EXPECT_EQ(RowsOf(skipping.Batch(5)), expected);
}

TEST_F(TfExamplesTest, CompressedFilesAreReadAsStreams) {
  const auto data = TfRecords({"penstock/train/data/testing/three.tfrecord.gz"},
                              {.compression = RecordCompression::kGzip});
  std::vector<std::string> records;
  for (const std::string record : data) records.push_back(record);
  EXPECT_EQ(records, (std::vector<std::string>{"one", "", "three"}));
}

TEST_F(TfExamplesTest, FeaturesOfAllKinds) {
  using io::WireWriter;
  const auto entry = [](const std::string& name, uint32_t kind, const std::string& list) {
    const std::string feature = WireWriter().Bytes(kind, list).text();
    return WireWriter().Bytes(1, name).Bytes(2, feature).text();
  };
  const std::string words = WireWriter().Bytes(1, "to").Bytes(1, "be").text();
  const std::string floats = WireWriter().Float(1, 1.5f).Float(1, -2).text();
  const std::string integers = WireWriter().Bytes(1, std::string("\x01\xac\x02", 3)).text();
  const std::string example = WireWriter()
                                  .Bytes(1, WireWriter()
                                                .Bytes(1, entry("words", 1, words))
                                                .Bytes(1, entry("x", 2, floats))
                                                .Bytes(1, entry("n", 3, integers))
                                                .text())
                                  .text();
  io::RecordWriter writer = *io::RecordWriter::Open(folder / "file");
  ASSERT_TRUE(writer.Write(example).ok());
  ASSERT_TRUE(writer.Close().ok());
  const auto data = TfExamples(
      {folder / "file"}, {}, Feature<std::string>{.name = "words", .shape = {-1}},
      Feature<float>{.name = "x", .shape = {2}}, Feature<int64_t>{.name = "n", .shape = {-1, 2}},
      Feature<float>{.name = "absent", .shape = {2}, .otherwise = {7, 8}},
      Feature<int32_t>{.name = "none", .shape = {-1}});
  int count = 0;
  for (const auto& [w, x, n, absent, none] : data) {
    EXPECT_EQ(w.ToVector(), (std::vector<std::string>{"to", "be"}));
    EXPECT_EQ(x.ToVector(), (std::vector<float>{1.5f, -2}));
    EXPECT_EQ(n.shape(), (Shape{1, 2}));
    EXPECT_EQ(n.ToVector(), (std::vector<int64_t>{1, 300}));
    EXPECT_EQ(absent.ToVector(), (std::vector<float>{7, 8}));
    EXPECT_EQ(none.size(), 0);
    ++count;
  }
  EXPECT_EQ(count, 1);
  const auto narrow = TfExamples({folder / "file"}, {}, Feature<float>{.name = "n", .shape = {2}});
  EXPECT_NE(ErrorOf([&] { narrow.Read().Next(); }).find("feature n is no list of float"),
            std::string::npos);
}

TEST_F(TfExamplesTest, BadSpecificationsAreRefused) {
  EXPECT_THROW(TfRecords({}), Error);
  EXPECT_THROW(TfExamples({"x"}, {}), Error);
  EXPECT_THROW(TfExamples({"x"}, {}, Feature<float>{.name = "a", .shape = {2, -1}}), Error);
  EXPECT_THROW(TfExamples({"x"}, {}, Feature<float>{.name = "a", .shape = {2}, .otherwise = {1}}),
               Error);
  EXPECT_NE(ErrorOf([&] { Images({folder / "none"}).Read().Next(); }).find("NOT_FOUND"),
            std::string::npos);
}

TEST_F(TfExamplesTest, LabelsOutOfRangeNameFileAndOffset) {
  const std::string file = WriteExamples(folder, "a", 12, 4, 12);
  for (const int threads : {1, 2}) {
    for (const auto& data :
         {Images({file}, {.threads = threads}).Batch(4), Images({file}, {.threads = threads})}) {
      const std::string what = ErrorOf([&] { RowsOf(data); });
      EXPECT_NE(what.find(file + ": record at offset"), std::string::npos) << what;
      EXPECT_NE(what.find("feature label must lie in [0, 10), got 10"), std::string::npos) << what;
    }
  }
  auto reader = Images({file}, {.on_bad = OnBadRecord::kSkip}).Batch(4).Read();
  int64_t rows = 0;
  while (auto batch = reader.Next()) rows += std::get<1>(*batch).size();
  EXPECT_EQ(rows, 10);
  EXPECT_EQ(reader.stats().bad_records, 2);
}

TEST_F(TfExamplesTest, ADamagedByteIsFoundWhereverItLies) {
  WriteExamples(folder, "good", 3);
  const std::string bytes = folder.Read("good");
  const size_t record = bytes.size() / 3;
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string bad = bytes;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    const std::string file = folder.Write("bad", bad);
    for (const int threads : {1, 2}) {
      const std::string what =
          ErrorOf([&] { RowsOf(Images({file}, {.threads = threads}).Batch(2)); });
      EXPECT_NE(what.find(Format("record at offset {}", at / record * record)), std::string::npos)
          << at << ": " << what;
    }
    auto reader = Images({file}, {.on_bad = OnBadRecord::kSkip}).Batch(2).Read();
    int64_t rows = 0;
    while (auto batch = reader.Next()) rows += std::get<1>(*batch).size();
    // After a damaged length nothing can be found; after damaged data the next record follows.
    const bool in_length = at % record < 12;
    EXPECT_EQ(rows, in_length ? static_cast<int64_t>(at / record) : 2) << at;
    EXPECT_EQ(reader.stats().bad_records, 1);
  }
}

TEST_F(TfExamplesTest, AFileCutAnywhereIsReadUpToThere) {
  WriteExamples(folder, "good", 3);
  const std::string bytes = folder.Read("good");
  const size_t record = bytes.size() / 3;
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string file = folder.Write("cut", bytes.substr(0, size));
    const bool whole = size % record == 0;
    const std::string what = ErrorOf([&] { RowsOf(Images({file}).Batch(2)); });
    EXPECT_EQ(what.empty(), whole) << size << ": " << what;
    EXPECT_EQ(what.find("DATA_LOSS") != std::string::npos, !whole) << what;
    auto reader = Images({file, folder / "good"}, {.on_bad = OnBadRecord::kSkip}).Read();
    size_t count = 0;
    while (reader.Next()) ++count;
    EXPECT_EQ(count, size / record + 3) << "the next file is read all the same";
    EXPECT_EQ(reader.stats().bad_records, whole ? 0 : 1);
  }
}

TEST_F(TfExamplesTest, MalformedExamplesOfEveryLengthAreErrors) {
  const std::string example = MakeExample("abcd", 300);
  for (size_t size = 0; size < example.size(); ++size) {
    io::RecordWriter writer = *io::RecordWriter::Open(folder / "file");
    ASSERT_TRUE(writer.Write(example.substr(0, size)).ok());
    ASSERT_TRUE(writer.Close().ok());
    EXPECT_NE(
        ErrorOf([&] { Images({folder / "file"}, {}, 0).Read().Next(); }).find("record at offset 0"),
        std::string::npos)
        << size;
  }
}

}  // namespace
}  // namespace penstock
