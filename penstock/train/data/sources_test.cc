#include <gtest/gtest.h>

#include <cstdlib>

#include "penstock/core/log.h"
#include "penstock/train/data/csv.h"
#include "penstock/train/data/images.h"
#include "penstock/train/data/testing/data_test.h"
#include "penstock/train/data/text.h"
#include "penstock/train/data/tiny_shakespeare.h"

namespace penstock {
namespace {

using testing_data::ErrorOf;
using testing_data::TempFolder;

class SourcesTest : public testing_data::DataTest {};

std::string Big(std::initializer_list<uint32_t> numbers) {
  std::string bytes;
  for (const uint32_t number : numbers)
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}
const std::string kTwoImages =
    Big({0x803, 2, 2, 2}) + std::string("\x00\x33\x66\x99\xcc\xff\x00\xff", 8);

TEST_F(SourcesTest, IdxImagesAreScaled) {
  const auto data = IdxImages(folder.Write("images", kTwoImages),
                              folder.Write("labels", Big({0x801, 2}) + "\x03\x09"));
  EXPECT_EQ(data.Size(), 2);
  std::vector<float> pixels;
  for (const auto& [image, label] : data) {
    EXPECT_EQ(image.shape(), (Shape{2, 2, 1}));
    pixels.insert(pixels.end(), image.begin(), image.end());
    pixels.push_back(static_cast<float>(int32_t{label}));
  }
  const std::vector<float> expected = {0, .2f, .4f, .6f, 3, .8f, 1, 0, 1, 9};
  ASSERT_EQ(pixels.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(pixels[i], expected[i], 1e-6);
}

TEST_F(SourcesTest, IdxFilesCutAnywhereOrTooLongAreErrors) {
  const std::string labels = folder.Write("labels", Big({0x801, 2}) + "\x03\x09");
  for (size_t size = 0; size < kTwoImages.size(); ++size) {
    const std::string cut = folder.Write("cut", kTwoImages.substr(0, size));
    EXPECT_NE(ErrorOf([&] { IdxImages(cut, labels); }).find("DATA_LOSS"), std::string::npos)
        << size;
  }
  const std::string longer = folder.Write("long", kTwoImages + "x");
  EXPECT_NE(ErrorOf([&] { IdxImages(longer, labels); }).find("goes on after"), std::string::npos);
  const std::string huge = folder.Write("huge", Big({0x803, 0xffffffff, 0xffffffff, 0xffffffff}));
  EXPECT_NE(ErrorOf([&] { IdxImages(huge, labels); }).find("too large"), std::string::npos);
  const std::string claims = folder.Write("claims", Big({0x803, 100, 1000, 1000}));
  EXPECT_NE(ErrorOf([&] { IdxImages(claims, labels); }).find("are cut"), std::string::npos);
  const std::string three = folder.Write("three", Big({0x801, 3}) + "abc");
  const std::string images = folder.Write("images", kTwoImages);
  EXPECT_NE(ErrorOf([&] { IdxImages(images, three); }).find("2 images"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { IdxImages(labels, images); }).find("expected images"), std::string::npos);
}

TEST_F(SourcesTest, LabelsOutOfRangeAreReportedOrLeftOut) {
  const std::string images = folder.Write("images", kTwoImages);
  const std::string labels = folder.Write("labels", Big({0x801, 2}) + "\x03\x0a");
  const std::string what = ErrorOf([&] { IdxImages(images, labels); });
  EXPECT_NE(what.find(labels + ": offset 9: a label must be in [0, 10), got 10"), std::string::npos)
      << what;
  auto reader = IdxImages(images, labels, {.on_bad = OnBadRecord::kSkip}).Shuffle(1).Read();
  EXPECT_EQ(int32_t{std::get<1>(*reader.Next())}, 3);
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(reader.stats().bad_records, 1);
}

TEST_F(SourcesTest, CifarRecordsBecomeImagesWithChannelsLast) {
  std::string record =
      "\x07" + std::string(1024, '\xff') + std::string(1024, '\x00') + std::string(1024, '\x33');
  const std::string file = folder.Write("batch", record + record);
  const auto data = CifarImages({file, file});
  EXPECT_EQ(data.Size(), 4);
  for (const auto& [image, label] : data) {
    EXPECT_EQ(image.shape(), (Shape{32, 32, 3}));
    EXPECT_EQ(int32_t{label}, 7);
    EXPECT_EQ(image(31, 5, 0), 1);
    EXPECT_EQ(image(31, 5, 1), 0);
    EXPECT_NEAR(image(31, 5, 2), .2f, 1e-6);
  }
  const std::string cut = folder.Write("cut", record + record.substr(1));
  EXPECT_NE(ErrorOf([&] { CifarImages({cut}); }).find("the record at offset 3073 is cut"),
            std::string::npos);
  EXPECT_EQ(CifarImages({cut, file}, {.labels = {.on_bad = OnBadRecord::kSkip}}).Size(), 3);
  record[0] = 10;
  const std::string bad = folder.Write("bad", record);
  EXPECT_NE(ErrorOf([&] { CifarImages({file, bad}); }).find(bad + ": offset 0"), std::string::npos);
  const std::string fine = folder.Write("fine", std::string("\x01\x63", 2) + record.substr(1));
  for (const auto& [image, label] :
       CifarImages({fine}, {.label_bytes = 2, .labels = {.classes = 100}}))
    EXPECT_EQ(int32_t{label}, 99);
}

TEST_F(SourcesTest, CsvReadsTypesNamesAndQuotes) {
  const std::string file = folder.Write("data.csv",
                                        "name, x,y,count\r\n"
                                        "\"a, \"\"b\"\"\",1.5,-2e3,7\r\n"
                                        "\n"
                                        "\"two\nlines\",+3, 4 ,8\n"
                                        "plain,,5,9");
  const auto data = Csv(file, {.header = true}, Column<std::string>{.index = 0},
                        Column<float>{.name = "x", .count = 2, .otherwise = -1},
                        Column<int64_t>{.name = "count"});
  std::vector<std::string> names;
  std::vector<float> numbers;
  for (const auto& [name, xy, count] : data) {
    names.push_back(name);
    numbers.insert(numbers.end(), {xy[0], xy[1], static_cast<float>(int64_t{count})});
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a, \"b\"", "two\nlines", "plain"}));
  EXPECT_EQ(numbers, (std::vector<float>{1.5f, -2000, 7, 3, 4, 8, -1, 5, 9}));
}

TEST_F(SourcesTest, BadCsvRecordsNameTheirLine) {
  const std::string file = folder.Write("bad.csv", "1,0\n2,x\n3\n4,9\n5,\"1\"2\n6,1\n7,\"2");
  const auto read = [&](OnBadRecord on_bad) {
    return Csv(file, {.on_bad = on_bad}, Column<int32_t>{},
               Column<int32_t>{.index = 1, .limit = 3});
  };
  auto failing = read(OnBadRecord::kFail).Read();
  EXPECT_TRUE(failing.Next());
  const std::string what = ErrorOf([&] { failing.Next(); });
  EXPECT_NE(what.find("line 2 (offset 4): column 1: expected int32, got x"), std::string::npos)
      << what;
  auto skipping = read(OnBadRecord::kSkip).Read();
  std::vector<int32_t> firsts;
  while (auto row = skipping.Next()) firsts.push_back(std::get<0>(*row));
  EXPECT_EQ(firsts, (std::vector<int32_t>{1, 6}));
  EXPECT_EQ(skipping.stats().bad_records, 5);
  EXPECT_THROW(Csv(file, {}, Column<float>{.name = "x"}), Error) << "no header";
  EXPECT_THROW(Csv(file, {.header = true}, Column<float>{.name = "x"}).Read().Next(), Error);
  EXPECT_THROW(Csv(file, {}, Column<float>{.index = -1}), Error);
}

TEST_F(SourcesTest, ImageFoldersAreClasses) {
  // A BMP of 1 x 2 pixels of 24 bits.
  std::string bmp = "BM" + std::string(8, '\0') + std::string("\x36\0\0\0\x28\0\0\0", 8);
  bmp += std::string("\x01\0\0\0\x02\0\0\0\x01\0\x18\0", 12) + std::string(24, '\0');
  bmp += std::string("\x01\x02\x03\0\x04\x05\x06\0", 8);
  folder.Write("set/dogs/1.bmp", bmp);
  folder.Write("set/cats/2.bmp", bmp);
  folder.Write("set/cats/1.bmp", bmp);
  folder.Write("set/README", "of no account");
  ImageFolder set{.path = folder / "set", .threads = 2};
  EXPECT_EQ(set.Classes(), (std::vector<std::string>{"cats", "dogs"}));
  std::vector<int32_t> labels;
  for (const auto& [image, label] : set.Read()) {
    EXPECT_EQ(image.shape(), (Shape{2, 1, 3}));
    EXPECT_EQ(image.ToVector(), (std::vector<uint8_t>{6, 5, 4, 3, 2, 1}));
    labels.push_back(label);
  }
  EXPECT_EQ(labels, (std::vector<int32_t>{0, 0, 1}));
  const std::string bad = folder.Write("set/cats/3.jpg", "no image");
  EXPECT_NE(ErrorOf([&] {
              for (const auto& element : set.Read()) (void)element;
            }).find(bad),
            std::string::npos);
  set.on_bad = OnBadRecord::kSkip;
  auto reader = set.Read().Read();
  int count = 0;
  while (reader.Next()) ++count;
  EXPECT_EQ(count, 3);
  EXPECT_EQ(reader.stats().bad_records, 1);
  EXPECT_THROW((ImageFolder{.path = folder / "absent"}.Read()), Error);
}

TEST_F(SourcesTest, DigitsAreInTheRepository) {
  const auto train = Digits::Train(), test = Digits::Test();
  EXPECT_EQ(train.Size(), 1438);
  EXPECT_EQ(test.Size(), 359);
  std::vector<int> counts(10);
  for (const auto& [image, label] : train.Concatenate(test)) {
    EXPECT_EQ(image.shape(), (Shape{64}));
    for (const float pixel : image) EXPECT_TRUE(pixel >= 0 && pixel <= 1);
    ++counts[static_cast<size_t>(int32_t{label})];
  }
  // As the data's description has them.
  EXPECT_EQ(counts, (std::vector<int>{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}));
  int batches = 0;
  for (auto [x, y] : Digits::Train().Shuffle(1).Batch(32).Epochs(2)) {
    EXPECT_EQ(x.shape().dim(1), 64);
    EXPECT_EQ(y.shape().rank(), 1);
    ++batches;
  }
  EXPECT_EQ(batches, 90);
}

TEST_F(SourcesTest, SharedDataSets) {
  const std::string shared = "../shared/datasets";
  if (!std::filesystem::exists(shared)) GTEST_SKIP() << "there is no " << shared;
  const auto test = FashionMnist{shared + "/fashion-mnist"}.Test();
  EXPECT_EQ(test.Size(), 10000);
  std::vector<int> counts(10);
  for (const auto& [x, y] : test.Batch(1000))
    for (const int32_t label : y) ++counts[static_cast<size_t>(label)];
  EXPECT_EQ(counts, std::vector<int>(10, 1000));
  const TinyShakespeare shakespeare(shared + "/tinyshakespeare");
  EXPECT_EQ(shakespeare.text.size(), 1115394u);
  EXPECT_EQ(shakespeare.vocabulary.size(), 65);
  EXPECT_EQ(
      shakespeare.vocabulary.Decode({shakespeare.train.begin(), shakespeare.train.begin() + 14}),
      "First Citizen:");
}

TEST_F(SourcesTest, TextLines) {
  std::vector<std::string> lines;
  for (const std::string line : TextLines(folder.Write("text", "one\r\n\ntwo")))
    lines.push_back(line);
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "", "two"}));
  EXPECT_THROW(TextLines(folder / "absent").Read().Next(), Error);
}

TEST(Text, VocabulariesEncodeAndDecode) {
  const Vocabulary characters = Vocabulary::Characters("hello");
  EXPECT_EQ(characters.size(), 4);
  EXPECT_EQ(characters.Encode("hole"), (std::vector<int32_t>{1, 3, 2, 0}));
  EXPECT_EQ(characters.Decode({1, 0, 2, 2, 3}), "hello");
  EXPECT_THROW(characters.Encode("x"), Error);
  const Vocabulary words = Vocabulary::Words("b a  c\na b b", 3);
  EXPECT_EQ(words.size(), 3);
  EXPECT_EQ(words.Encode("a b c d"), (std::vector<int32_t>{2, 1, 0, 0}));
  EXPECT_EQ(words.Decode({1, 2, 0}), "b a <unk>");
}

TEST(Text, WindowsAreShiftedByOneToken) {
  const std::vector<int32_t> tokens = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<std::vector<int32_t>> inputs;
  for (const auto& [x, y] : TokenWindows(tokens, 3)) {
    inputs.push_back(x.ToVector());
    for (int i = 0; i < 3; ++i) EXPECT_EQ(y[i], x[i] + 1);
  }
  EXPECT_EQ(inputs, (std::vector<std::vector<int32_t>>{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}}));
  EXPECT_EQ(TokenWindows(tokens, 3, 1).Size(), 7);
  EXPECT_EQ(TokenWindows(tokens, 9).Size(), 1);
  EXPECT_THROW(TokenWindows(tokens, 10), Error);
  inputs.clear();
  for (const auto& [x, y] : TokenStream(tokens, 2, 2)) {
    EXPECT_EQ(x.shape(), (Shape{2, 2}));
    inputs.push_back(x.ToVector());
    for (int i = 0; i < 4; ++i) EXPECT_EQ(y[i], x[i] + 1);
  }
  EXPECT_EQ(inputs, (std::vector<std::vector<int32_t>>{{0, 1, 4, 5}, {2, 3, 6, 7}}));
  EXPECT_THROW(TokenStream(tokens, 3, 4), Error);
}

}  // namespace
}  // namespace penstock
