#include "penstock/io/event_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "penstock/io/file_tree.h"
#include "penstock/io/summary.h"

namespace penstock::io {
namespace {

// Bytes in hexadecimal. What is compared with was written by TensorBoard 2.21's own messages.
std::string Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<uint8_t>(byte) >> 4];
    text += kDigits[static_cast<uint8_t>(byte) & 15];
  }
  return text;
}

std::string NewFolder(const std::string& name) {
  const std::string folder = testing::TempDir() + "event_file_test_" + name;
  std::filesystem::remove_all(folder);
  return folder;
}

TEST(EventFile, WritesTheBytesOfTensorBoard) {
  EXPECT_EQ(
      Hex(SerializeEvent({.wall_time = 1.5, .kind = Event::kVersion, .content = "brain.Event:2"})),
      "09000000000000f83f1a0d627261696e2e4576656e743a32");
  EXPECT_EQ(
      Hex(SerializeEvent({.wall_time = 1.5, .step = 300, .content = ScalarSummary("loss", 0.25f)})),
      "09000000000000f83f10ac022a0d0a0b0a046c6f7373150000803e");
  EXPECT_EQ(Hex(SerializeEvent({.wall_time = 2, .kind = Event::kGraph, .content = "abc"})),
            "0900000000000000402203616263");
  // StepStats with a device "/cpu:0" and nothing else.
  const std::string step_stats = "\x0a\x08\x0a\x06/cpu:0";
  EXPECT_EQ(Hex(SerializeEvent({.wall_time = 1.5,
                                .step = 7,
                                .kind = Event::kRunMetadata,
                                .content = TaggedRunMetadata("step7", step_stats)})),
            "09000000000000f83f100742150a057374657037120c0a0a0a080a062f6370753a30");
}

TEST(Summary, ImagesAndTextAreThoseOfTensorBoard) {
  EXPECT_EQ(Hex(ImageSummary("x/image/0", 4, 5, 3, "PNG")),
            "0a180a09782f696d6167652f30220b0804100518032203504e47");
  EXPECT_EQ(Hex(ImagesSummary("x", 4, 5, {"PNG"})),
            "0a260a0178421308071204120208034201354201344203504e474a0c0a080a06696d616765732003");
  EXPECT_EQ(Hex(TextSummary("note", "hi")),
            "0a1c0a046e6f7465420808071200420268694a0a0a060a04746578742002");
}

TEST(EventFile, EventsComeBack) {
  const Event event{
      .wall_time = 1.25, .step = -3, .kind = Event::kGraph, .content = std::string("\0g", 2)};
  const Result<Event> parsed = ParseEvent(SerializeEvent(event));
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(parsed->wall_time, 1.25);
  EXPECT_EQ(parsed->step, -3);
  EXPECT_EQ(parsed->kind, Event::kGraph);
  EXPECT_EQ(parsed->content, event.content);
  EXPECT_EQ(ParseEvent("\x0a").status().code(), Code::kDataLoss);
  EXPECT_EQ(ParseEvent("").status().code(), Code::kDataLoss);
}

TEST(EventFile, BeginsWithItsVersionAndGrows) {
  const std::string folder = NewFolder("grows") + "/a/b";
  Result<EventFile> file = EventFile::Create(folder);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_NE(file->path().find("events.out.tfevents."), std::string::npos);
  Result<RecordReader> reader = RecordReader::Open(file->path());
  ASSERT_TRUE(reader.ok());
  std::string record;
  ASSERT_TRUE(*reader->Read(&record));
  EXPECT_EQ(ParseEvent(record)->content, "brain.Event:2");
  EXPECT_FALSE(*reader->Read(&record));
  ASSERT_TRUE(file->Add({.step = 1, .content = ScalarSummary("a", 1)}).ok());
  EXPECT_FALSE(*reader->Read(&record)) << "it is buffered";
  ASSERT_TRUE(file->Flush().ok());
  ASSERT_TRUE(*reader->Read(&record));
  EXPECT_EQ(ParseEvent(record)->step, 1);
}

// A process can die at any byte of a write.
TEST(EventFile, ACutFileIsReadUpToTheCut) {
  const std::string folder = NewFolder("cut");
  Result<EventFile> file = EventFile::Create(folder);
  ASSERT_TRUE(file.ok());
  for (int64_t step = 1; step <= 3; ++step)
    ASSERT_TRUE(file->Add({.step = step, .content = ScalarSummary("a", 1)}).ok());
  ASSERT_TRUE(file->Close().ok());
  const std::string whole = *ReadWholeFile(file->path());
  int64_t previous = -1;
  for (size_t size = 0; size <= whole.size(); ++size) {
    const std::string path = folder + "/cut";
    std::filesystem::remove(path);
    std::ofstream(path, std::ios::binary) << whole.substr(0, size);
    Result<RecordReader> reader = RecordReader::Open(path);
    ASSERT_TRUE(reader.ok());
    int64_t num_events = 0;
    std::string record;
    for (Result<bool> more = reader->Read(&record); more.ok() && *more;
         more = reader->Read(&record)) {
      ASSERT_TRUE(ParseEvent(record).ok());
      ++num_events;
    }
    EXPECT_GE(num_events, previous);
    previous = num_events;
  }
  EXPECT_EQ(previous, 4);
}

TEST(EventFile, TwoFilesHaveTwoNames) {
  const std::string folder = NewFolder("names");
  Result<EventFile> a = EventFile::Create(folder), b = EventFile::Create(folder, ".v2");
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_NE(a->path(), b->path());
  EXPECT_TRUE(b->path().ends_with(".v2"));
}

TEST(EventFile, AFolderThatIsAFileIsAnError) {
  const std::string folder = NewFolder("file");
  ASSERT_TRUE(MakeFolders(folder).ok());
  ASSERT_TRUE(WriteFileAtomically(folder + "/x", "").ok());
  const Status status = EventFile::Create(folder + "/x").status();
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find(folder + "/x"), std::string::npos) << status.ToString();
}

}  // namespace
}  // namespace penstock::io
