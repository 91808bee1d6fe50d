#include "penstock/ops/readers/readers.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "penstock/graph/scope.h"
#include "penstock/io/record.h"
#include "penstock/session/session.h"

namespace penstock {
namespace {

class ReadersTest : public testing::Test {
 protected:
  ReadersTest() : folder_(testing::TempDir() + "/readers_test") {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ + "/a") << "head\none\ntwo\n";
    std::ofstream(folder_ + "/b") << "head";
    std::ofstream(folder_ + "/c") << "head\nlast";
    queue_ =
        scope_.Add("FIFOQueueV2", {}, {{"component_types", std::vector<DType>{DType::kString}}});
    LocalSessionOptions options;
    options.threads = 2;
    session_ = MakeLocalSession(graph_, options);
  }
  ~ReadersTest() override { std::filesystem::remove_all(folder_); }

  void Run(const Expr& target) {
    const Status status = session_->Run({{}, {}, {target.ref().node}}, {}, {}, nullptr).status();
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  void Enqueue(const std::string& name) {
    Run(scope_.Add("QueueEnqueueV2",
                   {queue_, scope_.Constant(Tensor::Scalar(folder_ + "/" + name))}));
  }
  void Close() { Run(scope_.Add("QueueCloseV2", {queue_})); }
  // "key=value" of one read, without the folder.
  std::string Read(const Expr& read) {
    const auto out =
        session_->Run({{}, {read.Output(0).ref(), read.Output(1).ref()}, {}}, {}, {}, nullptr);
    if (!out.ok()) return std::string(ToString(out.status().code()));
    std::string text;
    for (int64_t i = 0; i < (*out)[0].num_elements(); ++i) {
      text += (*out)[0].data<std::string>()[i].substr(folder_.size() + 1) + "=" +
              (*out)[1].data<std::string>()[i] + ";";
    }
    return text;
  }
  Expr Reader(const std::string& op, const AttrMap& attrs = {}) {
    return scope_.Add(op, {}, attrs, op);
  }

  const std::string folder_;
  Graph graph_;
  const Scope scope_{graph_};
  Expr queue_;
  std::unique_ptr<SessionBackend> session_;
};

TEST_F(ReadersTest, LinesOfSeveralFiles) {
  const Expr reader = Reader("TextLineReaderV2", {{"skip_header_lines", int64_t{1}}});
  const Expr read = scope_.Add("ReaderReadV2", {reader, queue_});
  for (const char* name : {"a", "b", "c"}) Enqueue(name);
  EXPECT_EQ(Read(read), "a:2=one;");
  EXPECT_EQ(Read(read), "a:3=two;");
  EXPECT_EQ(Read(read), "c:2=last;");
  const auto count = [&](const char* op) {
    return (*session_->Run({{}, {scope_.Add(op, {reader}).ref()}, {}}, {}, {}, nullptr))[0]
        .ToString();
  };
  EXPECT_EQ(count("ReaderNumRecordsProducedV2"), "int64 [] {3}");
  EXPECT_EQ(count("ReaderNumWorkUnitsCompletedV2"), "int64 [] {2}");
  Close();
  EXPECT_EQ(Read(read), "OUT_OF_RANGE");
  Run(scope_.Add("ReaderResetV2", {reader}));
  EXPECT_EQ(count("ReaderNumRecordsProducedV2"), "int64 [] {0}");
  EXPECT_TRUE(scope_.status().ok()) << scope_.status().ToString();
}

TEST_F(ReadersTest, OtherFormats) {
  Result<io::RecordWriter> writer = io::RecordWriter::Open(folder_ + "/r");
  ASSERT_TRUE(writer->Write("x").ok() && writer->Write("yz").ok() && writer->Close().ok());
  const auto up_to = [&](const Expr& reader, int64_t n) {
    return Read(
        scope_.Add("ReaderReadUpToV2", {reader, queue_, scope_.Constant(Tensor::Scalar(n))}));
  };
  Enqueue("r");
  EXPECT_EQ(up_to(Reader("TFRecordReaderV2"), 2), "r:0=x;r:17=yz;");
  Enqueue("c");
  EXPECT_EQ(up_to(Reader("WholeFileReaderV2"), 1), "c=head\nlast;");
  Enqueue("c");
  const Expr identity = Reader("IdentityReaderV2");
  EXPECT_EQ(up_to(identity, 1), "c=" + folder_ + "/c;");
  const Expr fixed = Reader(
      "FixedLengthRecordReaderV2",
      {{"header_bytes", int64_t{1}}, {"record_bytes", int64_t{3}}, {"hop_bytes", int64_t{2}}});
  for (const char* name : {"b", "none"}) Enqueue(name);
  EXPECT_EQ(up_to(fixed, 9), "b:0=ead;");  // what was read before the error
  EXPECT_EQ(up_to(identity, 0), "INVALID_ARGUMENT");
  Enqueue("none");
  EXPECT_EQ(up_to(Reader("TFRecordReaderV2"), 1), "NOT_FOUND");
  EXPECT_EQ(up_to(Reader("TFRecordReaderV2", {{"compression_type", std::string("GZIP")}}), 1),
            "UNIMPLEMENTED");
  EXPECT_EQ(up_to(Reader("FixedLengthRecordReaderV2", {{"record_bytes", int64_t{0}}}), 1),
            "INVALID_ARGUMENT");
}

// More calls than threads wait for a file, each gets its record, and none waits for ever.
TEST_F(ReadersTest, WaitForFilesWithoutAThread) {
  const Expr read = scope_.Add("ReaderReadV2", {Reader("IdentityReaderV2"), queue_});
  std::vector<std::thread> readers;
  std::atomic<int> num_read{0};
  for (int i = 0; i < 6; ++i)
    readers.emplace_back([&] { num_read += Read(read).starts_with("f"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(num_read, 0);
  for (int i = 0; i < 6; ++i) Enqueue("f");
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(num_read, 6);
}

TEST_F(ReadersTest, TablesFromTextFiles) {
  std::ofstream(folder_ + "/t") << "x 5\ny 7\n";
  const Expr file = scope_.Constant(Tensor::Scalar(folder_ + "/t"));
  int64_t count = 0;
  const auto lookup = [&](const AttrMap& attrs, const std::string& key) {
    const Expr table = scope_.Add("HashTableV2", {},
                                  {{"key_dtype", DType::kString},
                                   {"value_dtype", DType::kInt64},
                                   {"shared_name", Format("t{}", ++count)}});
    const Expr fill = scope_.Add("InitializeTableFromTextFileV2", {table, file}, attrs);
    const Status status = session_->Run({{}, {}, {fill.ref().node}}, {}, {}, nullptr).status();
    if (!status.ok()) return status.ToString();
    const Expr value =
        scope_.Add("LookupTableFindV2", {table, scope_.Constant(Tensor::Scalar(key)),
                                         scope_.Constant(Tensor::Scalar<int64_t>(-1))});
    return (*session_->Run({{}, {value.ref()}, {}}, {}, {}, nullptr))[0].ToString();
  };
  const auto attrs = [](int64_t key, int64_t value, int64_t vocab = -1) {
    return AttrMap{{"key_index", key},
                   {"value_index", value},
                   {"vocab_size", vocab},
                   {"delimiter", std::string(" ")}};
  };
  EXPECT_EQ(lookup(attrs(0, 1), "y"), "int64 [] {7}");
  EXPECT_EQ(lookup(attrs(0, -1), "y"), "int64 [] {1}");
  EXPECT_EQ(lookup(attrs(-2, -1), "x 5"), "int64 [] {0}");
  EXPECT_EQ(lookup(attrs(0, 1, 1), "y"), "int64 [] {-1}");
  const auto fails = [&](const AttrMap& wrong, std::string_view part) {
    const std::string text = lookup(wrong, "y");
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  fails(attrs(0, 1, 3), "expected 3 but got 2");
  fails(attrs(0, 2), "number of columns");
  fails(attrs(0, 0), "not a valid int64");
  fails(attrs(-1, 1), "line numbers need dtype int64");
}

}  // namespace
}  // namespace penstock
