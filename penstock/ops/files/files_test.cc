#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "penstock/io/file_roots.h"
#include "penstock/io/record.h"
#include "penstock/ops/collections/testing/graph_test.h"

namespace penstock::ops {
namespace {

namespace fs = std::filesystem;

class FilesTest : public GraphTest {
 protected:
  FilesTest() {
    std::string pattern = (fs::temp_directory_path() / "files_test_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~FilesTest() override {
    (void)io::SetFileRoots({});
    fs::remove_all(folder_);
  }
  std::string At(const std::string& name) const { return (folder_ / name).string(); }
  std::string Put(const std::string& name, const std::string& bytes) const {
    std::ofstream(At(name), std::ios::binary) << bytes;
    return At(name);
  }
  Expr Word(const std::string& word) { return s.Constant(Tensor::Scalar(word)); }
  Expr Queue() {
    return Add("FIFOQueueV2", {}, {{"component_types", std::vector<DType>{DType::kString}}});
  }
  void Enqueue(const Expr& queue, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const Result<std::vector<Tensor>> run =
          Run({}, {Node("QueueEnqueueV2", {queue, Word(name)},
                        {{"Tcomponents", std::vector<DType>{DType::kString}}})});
      ASSERT_TRUE(run.ok()) << run.status().ToString();
    }
  }
  void Close(const Expr& queue) { ASSERT_TRUE(Run({}, {Node("QueueCloseV2", {queue})}).ok()); }
  // The values that come until the queue is used up.
  std::vector<std::string> ReadAll(const Expr& reader, const Expr& queue) {
    const Expr key = Add("ReaderReadV2", {reader, queue});
    const Expr value(&s, {key.ref().node, 1});
    std::vector<std::string> values;
    while (true) {
      const Result<std::vector<Tensor>> got = Run({key, value});
      if (!got.ok()) {
        EXPECT_EQ(got.status().code(), Code::kOutOfRange) << got.status().ToString();
        return values;
      }
      values.push_back(fs::path((*got)[0].scalar<std::string>()).filename().string() + "=" +
                       (*got)[1].scalar<std::string>());
    }
  }

  fs::path folder_;
};

using Lines = std::vector<std::string>;

TEST_F(FilesTest, ReadersReadTheirFiles) {
  const std::string text = Put("t", "a\nb\r\n\nd");
  const std::string fixed = Put("f", "HHabcdefFF");
  {
    auto writer = io::RecordWriter::Open(At("r"));
    ASSERT_TRUE(writer->Write("one").ok() && writer->Write("").ok() && writer->Close().ok());
  }
  const Expr q = Queue();
  Enqueue(q, {text});
  Close(q);
  EXPECT_EQ(ReadAll(Add("TextLineReaderV2", {}, {{"skip_header_lines", int64_t{1}}}), q),
            (Lines{"t:2=b", "t:3=", "t:4=d"}));
  const Expr q2 = Queue();
  Enqueue(q2, {fixed, Put("none", "")});
  Close(q2);
  EXPECT_EQ(ReadAll(Add("FixedLengthRecordReaderV2", {},
                        {{"header_bytes", int64_t{2}},
                         {"record_bytes", int64_t{3}},
                         {"footer_bytes", int64_t{2}}}),
                    q2),
            (Lines{"f:0=abc", "f:1=def"}));
  const Expr q3 = Queue();
  Enqueue(q3, {At("r")});
  Close(q3);
  EXPECT_EQ(ReadAll(Add("TFRecordReaderV2", {}), q3), (Lines{"r:0=one", "r:19="}));
  const Expr q4 = Queue();
  Enqueue(q4, {text});
  Close(q4);
  EXPECT_EQ(ReadAll(Add("WholeFileReaderV2", {}), q4), (Lines{"t=a\nb\r\n\nd"}));
}

// A reader passes many files without a record before it finds one, without nesting.
TEST_F(FilesTest, EmptyFilesAreSkipped) {
  const std::string none = Put("none", "");
  const Expr q = Queue();
  const Tensor names = [&] {
    Tensor tensor(DType::kString, Shape{20000});
    for (std::string& name : tensor.mutable_values<std::string>()) name = none;
    return tensor;
  }();
  ASSERT_TRUE(Run({}, {Node("QueueEnqueueManyV2", {q, s.Constant(names)},
                            {{"Tcomponents", std::vector<DType>{DType::kString}}})})
                  .ok());
  Enqueue(q, {Put("last", "x")});
  Close(q);
  const Expr reader = Add("TextLineReaderV2", {});
  EXPECT_EQ(ReadAll(reader, q), (Lines{"last:1=x"}));
  Expect(Add("ReaderNumWorkUnitsCompletedV2", {reader}), "int64 [] {20001}");
  Expect(Add("ReaderNumRecordsProducedV2", {reader}), "int64 [] {1}");
}

TEST_F(FilesTest, ReadsThatWaitAreServedWhenWorkComes) {
  const Expr q = Queue();
  const Expr reader = Add("IdentityReaderV2", {});
  const Expr read = Add("ReaderReadV2", {reader, q});
  const NodeId put = Node("QueueEnqueueManyV2", {q, Vector<std::string>({"a", "b", "c", "d"})},
                          {{"Tcomponents", std::vector<DType>{DType::kString}}});
  ASSERT_TRUE(Run({reader}).ok());
  std::atomic<int> served{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) readers.emplace_back([&] { served += Run({read}).ok() ? 1 : 0; });
  ASSERT_TRUE(Run({}, {put}).ok());
  for (std::thread& thread : readers) thread.join();
  EXPECT_EQ(served, 4);
}

TEST_F(FilesTest, ReadUpToTakesWhatOneFileHas) {
  const Expr q = Queue();
  Enqueue(q, {Put("a", "1\n2\n3\n"), Put("b", "4\n")});
  const Expr reader = Add("TextLineReaderV2", {});
  const auto read = [&](int64_t n) {
    const Expr keys = Add("ReaderReadUpToV2", {reader, q, s.Constant(Tensor::Scalar(n))});
    return Expr(&s, {keys.ref().node, 1});
  };
  const Expr two = read(2);
  Expect(two, "string [2] {\"1\", \"2\"}");
  Expect(two, "string [1] {\"3\"}");
  Expect(two, "string [1] {\"4\"}");
  ExpectInvalid(read(0), "positive");
}

TEST_F(FilesTest, StateBringsAReaderBackToItsPlace) {
  const Expr q = Queue();
  Enqueue(q, {Put("a", "1\n2\n3\n")});
  Close(q);
  const Expr reader = Add("TextLineReaderV2", {});
  const Expr key = Add("ReaderReadV2", {reader, q});
  const Expr value(&s, {key.ref().node, 1});
  Expect(value, "string [] {\"1\"}");
  const Result<std::vector<Tensor>> state = Run({Add("ReaderSerializeStateV2", {reader})});
  ASSERT_TRUE(state.ok());
  Expect(value, "string [] {\"2\"}");
  ASSERT_TRUE(Run({}, {Node("ReaderResetV2", {reader})}).ok());
  Expect(Add("ReaderNumRecordsProducedV2", {reader}), "int64 [] {0}");
  ASSERT_TRUE(Run({}, {Node("ReaderRestoreStateV2", {reader, s.Constant((*state)[0])})}).ok());
  Expect(std::vector{key, value}, {"string [] {\"" + At("a") + ":2\"}", "string [] {\"2\"}"});
  ExpectError(Run({}, {Node("ReaderRestoreStateV2", {reader, Word("\xFF")})}),
              Code::kInvalidArgument, "state");
}

TEST_F(FilesTest, BadReadersAreRefused) {
  const Expr q = Queue();
  Enqueue(q, {At("missing")});
  ExpectError(Add("ReaderReadV2", {Add("WholeFileReaderV2", {}), q}), Code::kNotFound, "missing");
  const Expr floats =
      Add("FIFOQueueV2", {}, {{"component_types", std::vector<DType>{DType::kFloat}}});
  ExpectInvalid(Add("ReaderReadV2", {Add("IdentityReaderV2", {}), floats}), "string");
  ExpectInvalid(Add("FixedLengthRecordReaderV2", {}, {{"record_bytes", int64_t{0}}}),
                "record_bytes");
  const Expr handle = Placeholder(DType::kResource);
  const Expr read = Add("ReaderReadV2", {handle, q});
  const NodeId reset = Node("ReaderResetV2", {handle});
  for (const Tensor& bad : HostileHandles()) {
    EXPECT_FALSE(Run({read}, {}, {{handle, bad}}).ok());
    EXPECT_FALSE(Run({}, {reset}, {{handle, bad}}).ok());
  }
}

TEST_F(FilesTest, FilesAreWrittenReadAndMatched) {
  ASSERT_TRUE(Run({}, {Node("WriteFile", {Word(At("new/a")), Word("text")})}).ok());
  Expect(Add("ReadFile", {Word(At("new/a"))}), "string [] {\"text\"}");
  Expect(Add("MatchingFiles", {Vector<std::string>({At("n*/?"), At("none*")})}),
         "string [1] {\"" + At("new/a") + "\"}");
  ExpectError(Add("ReadFile", {Word(At("none"))}), Code::kNotFound, "none");
  const std::vector<std::string> roots = {At("new")};
  ASSERT_TRUE(io::SetFileRoots(roots).ok());
  ExpectError(Add("ReadFile", {Word(At("new/../t"))}), Code::kPermissionDenied, "roots");
  ExpectError(Run({}, {Node("WriteFile", {Word(At("t")), Word("")})}), Code::kPermissionDenied,
              "roots");
}

TEST_F(FilesTest, TablesAreFilledFromLines) {
  const auto table = [&](std::string_view name) {
    return Add("HashTableV2", {}, {{"key_dtype", DType::kString}, {"value_dtype", DType::kInt64}},
               name);
  };
  const auto fill = [&](const Expr& handle, const std::string& path, int64_t key, int64_t value) {
    return Run({}, {Node("InitializeTableFromTextFileV2", {handle, Word(path)},
                         {{"key_index", key}, {"value_index", value}})});
  };
  const std::string path = Put("v", "a\t5\nb\t6\n");
  const Expr t = table("t");
  ASSERT_TRUE(fill(t, path, 0, 1).ok());
  Expect(Add("LookupTableFindV2",
             {t, Vector<std::string>({"b", "x"}), s.Constant(Tensor::Scalar<int64_t>(-1))}),
         "int64 [2] {6, -1}");
  ASSERT_TRUE(fill(table("lines"), path, -2, -1).ok());
  ExpectError(fill(table("columns"), path, 0, 2), Code::kInvalidArgument, "columns");
  ExpectError(fill(table("number"), path, 1, 0), Code::kInvalidArgument, "not a valid int64");
  ExpectError(fill(table("key"), path, -1, 1), Code::kInvalidArgument, "line number");
  ExpectError(fill(table("empty"), Put("e", "a\n\n"), -2, -1), Code::kInvalidArgument,
              "empty line");
}

}  // namespace
}  // namespace penstock::ops
