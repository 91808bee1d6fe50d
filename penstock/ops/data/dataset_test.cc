#include "penstock/ops/data/dataset.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "penstock/graph/scope.h"
#include "penstock/graph/testing/functions.h"
#include "penstock/io/record.h"
#include "penstock/session/session.h"

namespace penstock {
namespace {

const std::vector<DType> kInt64{DType::kInt64};

// A graph of datasets; elements are read as text.
class DatasetTest : public testing::Test {
 protected:
  DatasetTest() {
    AddFunction(graph_,
                MakeFunction("double", {{"x", DType::kInt64}}, {{"r", DType::kInt64, "a:z:0"}},
                             {MakeNode("a", "AddV2", {"x", "x"}, {{"T", DType::kInt64}})}));
    AddFunction(graph_,
                MakeFunction("inverse", {{"x", DType::kInt64}, {"of", DType::kInt64}},
                             {{"r", DType::kInt64, "d:z:0"}},
                             {MakeNode("d", "FloorDiv", {"of", "x"}, {{"T", DType::kInt64}})}));
    AddFunction(
        graph_,
        MakeFunction("big", {{"x", DType::kInt64}}, {{"r", DType::kBool, "g:z:0"}},
                     {ConstNode("limit", Tensor::Scalar<int64_t>(2)),
                      MakeNode("g", "Greater", {"x", "limit:output:0"}, {{"T", DType::kInt64}})}));
    // [0, x), as a dataset.
    AddFunction(graph_,
                MakeFunction(
                    "below", {{"x", DType::kInt64}}, {{"r", DType::kVariant, "d:handle:0"}},
                    {ConstNode("zero", Tensor::Scalar<int64_t>(0)),
                     ConstNode("one", Tensor::Scalar<int64_t>(1)),
                     MakeNode("d", "RangeDataset", {"zero:output:0", "x", "one:output:0"}, Spec())},
                    {}, true));
    AddFunction(graph_, MakeFunction(
                            "take", {{"x", DType::kInt64}, {"q", DType::kResource}},
                            {{"r", DType::kInt64, "d:components:0"}},
                            {MakeNode("d", "QueueDequeueV2", {"q"}, {{"component_types", kInt64}})},
                            {}, true));
  }

  static AttrMap Spec(std::vector<Shape> shapes = {Shape()}, std::vector<DType> types = kInt64) {
    return {{"output_types", std::move(types)}, {"output_shapes", std::move(shapes)}};
  }
  static AttrMap With(AttrMap attrs, std::string_view name, AttrValue value) {
    attrs.emplace_back(name, std::move(value));
    return attrs;
  }
  Expr Number(int64_t value) { return scope_.Constant(Tensor::Scalar(value)); }
  Expr Range(int64_t start, int64_t stop, int64_t step = 1) {
    return scope_.Add("RangeDataset", {Number(start), Number(stop), Number(step)}, Spec());
  }
  Expr Calls(const std::string& op, std::vector<Expr> inputs, const std::string& f,
             std::string_view role = "f") {
    return scope_.Add(op, inputs, With(Spec(), role, FunctionName{f, {}}));
  }

  // An iterator that is begun, and the op that asks it.
  Expr NextOf(const Expr& dataset, const AttrMap& spec = Spec()) {
    const Expr iterator =
        scope_.Add("IteratorV2", {},
                   With(With(spec, "shared_name", std::string()), "container", std::string()));
    const Expr start = scope_.Add("MakeIterator", {dataset, iterator});
    const Expr next = scope_.Add("IteratorGetNext", {iterator}, spec);
    EXPECT_TRUE(scope_.status().ok()) << scope_.status().ToString();
    if (session_ == nullptr) session_ = MakeLocalSession(graph_);
    const Status started = session_->Run({{}, {}, {start.ref().node}}, {}, {}, nullptr).status();
    start_error_ = started.ok() ? "" : started.ToString();
    return next;
  }
  std::string Read(const Expr& next, const RunOptions& options = {}) {
    if (!start_error_.empty()) return start_error_;
    const auto out = session_->Run({{}, {next.ref()}, {}}, {}, options, nullptr);
    if (!out.ok()) {
      return out.status().code() == Code::kOutOfRange ? "end" : out.status().ToString();
    }
    const std::string text = (*out)[0].ToString();
    return text.substr(text.find('{'));
  }
  std::string All(const Expr& dataset, const AttrMap& spec = Spec(), int limit = 40) {
    const Expr next = NextOf(dataset, spec);
    std::string text;
    for (int i = 0; i < limit; ++i) {
      const std::string one = Read(next);
      text += one;
      if (one == "end" || !start_error_.empty()) break;
    }
    return text;
  }

  Graph graph_;
  const Scope scope_{graph_};
  std::unique_ptr<SessionBackend> session_;
  std::string start_error_;
};

TEST_F(DatasetTest, Sources) {
  EXPECT_EQ(All(Range(0, 3)), "{0}{1}{2}end");
  EXPECT_EQ(All(Range(5, 1, -2)), "{5}{3}end");
  EXPECT_EQ(All(Range(INT64_MAX - 1, INT64_MAX, 5)), Format("{{}}end", INT64_MAX - 1));
  EXPECT_NE(All(Range(0, 1, 0)).find("non-zero"), std::string::npos);
  const Expr rows = scope_.Constant(Tensor::FromValues<int64_t>(Shape{2, 2}, {1, 2, 3, 4}));
  const std::vector<Shape> vector{Shape{2}};
  EXPECT_EQ(
      All(scope_.Add("TensorSliceDataset", {rows}, {{"output_shapes", vector}}), Spec(vector)),
      "{1, 2}{3, 4}end");
  EXPECT_EQ(
      All(scope_.Add("TensorDataset", {rows}, {{"output_shapes", std::vector<Shape>{Shape{2, 2}}}}),
          Spec({Shape{2, 2}})),
      "{1, 2, 3, 4}end");
}

TEST_F(DatasetTest, Transforms) {
  const auto counted = [&](const char* op, const Expr& input, int64_t count) {
    return All(scope_.Add(op, {input, Number(count)}, Spec()));
  };
  EXPECT_EQ(counted("TakeDataset", Range(0, 5), 2), "{0}{1}end");
  EXPECT_EQ(counted("TakeDataset", Range(0, 2), -1), "{0}{1}end");
  EXPECT_EQ(counted("SkipDataset", Range(0, 4), 3), "{3}end");
  EXPECT_EQ(counted("SkipDataset", Range(0, 4), -1), "end");
  EXPECT_EQ(counted("RepeatDataset", Range(0, 2), 2), "{0}{1}{0}{1}end");
  EXPECT_EQ(counted("RepeatDataset", Range(0, 0), -1), "end");  // not for ever
  EXPECT_EQ(counted("PrefetchDataset", Range(0, 2), 4), "{0}{1}end");
  EXPECT_NE(counted("PrefetchDataset", Range(0, 2), -4).find("buffer_size"), std::string::npos);
  EXPECT_EQ(All(scope_.Add("ShardDataset", {Range(0, 7), Number(3), Number(1)}, Spec())),
            "{1}{4}end");
  EXPECT_NE(
      All(scope_.Add("ShardDataset", {Range(0, 7), Number(3), Number(3)}, Spec())).find("Index"),
      std::string::npos);
  EXPECT_EQ(All(scope_.Add("ConcatenateDataset", {Range(0, 2), Range(7, 8)}, Spec())),
            "{0}{1}{7}end");
  EXPECT_EQ(All(scope_.Add("ZipDataset", {Range(0, 2), Range(7, 17)},
                           Spec({Shape(), Shape()}, {DType::kInt64, DType::kInt64})),
                Spec({Shape(), Shape()}, {DType::kInt64, DType::kInt64})),
            "{0}{1}end");
  const Expr cached = scope_.Add(
      "CacheDataset", {Range(0, 2), scope_.Constant(Tensor::Scalar(std::string()))}, Spec());
  EXPECT_EQ(counted("RepeatDataset", cached, 2), "{0}{1}{0}{1}end");
  EXPECT_NE(All(scope_.Add("OptionalNone", {})).find("expected a dataset"), std::string::npos);
}

TEST_F(DatasetTest, Functions) {
  EXPECT_EQ(All(Calls("MapDataset", {Range(0, 3)}, "double")), "{0}{2}{4}end");
  EXPECT_EQ(All(Calls("FilterDataset", {Range(0, 5)}, "big", "predicate")), "{3}{4}end");
  // An error stands for its element.
  const Expr inverse = Calls("MapDataset", {Range(-1, 2), Number(10)}, "inverse");
  const std::string text = All(inverse);
  EXPECT_TRUE(text.starts_with("{-10}") && text.ends_with("{10}end")) << text;
  EXPECT_NE(text.find("INVALID_ARGUMENT"), std::string::npos) << text;
  for (const int64_t calls : {1, 2, 8, -1}) {
    EXPECT_EQ(All(Calls("ParallelMapDatasetV2", {Range(0, 5), Number(calls)}, "double")),
              "{0}{2}{4}{6}{8}end");
  }
  EXPECT_NE(All(Calls("ParallelMapDatasetV2", {Range(0, 5), Number(0)}, "double")).find("parallel"),
            std::string::npos);
  EXPECT_EQ(All(Calls("FlatMapDataset", {Range(0, 4)}, "below")), "{0}{0}{1}{0}{1}{2}end");
  EXPECT_EQ(All(Calls("InterleaveDataset", {Range(2, 5), Number(2), Number(1)}, "below")),
            "{0}{0}{1}{1}{2}{0}{1}{2}{3}end");
  EXPECT_EQ(All(Calls("ParallelInterleaveDatasetV2", {Range(1, 7), Number(3), Number(2), Number(2)},
                      "below")),
            "{0}{0}{1}{0}{1}{0}{1}{2}{2}{3}{0}{1}{0}{1}{2}{3}{2}{3}{4}{4}{5}end");
  EXPECT_EQ(
      All(Calls("InterleaveDataset", {Range(1, 3), Number(int64_t{1} << 50), Number(2)}, "below")),
      "{0}{0}{1}end");
  EXPECT_NE(All(Calls("FlatMapDataset", {Range(0, 4)}, "double")).find("expected a dataset"),
            std::string::npos);
  EXPECT_NE(All(Calls("MapDataset", {Range(0, 4)}, "inverse")).find("takes"), std::string::npos);
}

TEST_F(DatasetTest, Batches) {
  const Expr no = scope_.Constant(Tensor::Scalar(false)),
             yes = scope_.Constant(Tensor::Scalar(true));
  const std::vector<Shape> vector{Shape{-1}};
  const auto batch = [&](const Expr& input, int64_t size, const Expr& drop) {
    return scope_.Add("BatchDatasetV2", {input, Number(size), drop}, Spec(vector));
  };
  EXPECT_EQ(All(batch(Range(0, 5), 2, no), Spec(vector)), "{0, 1}{2, 3}{4}end");
  EXPECT_EQ(All(batch(Range(0, 5), 2, yes), Spec(vector)), "{0, 1}{2, 3}end");
  EXPECT_NE(All(batch(Range(0, 5), 0, yes)).find("greater than zero"), std::string::npos);
  // Rows of different lengths: batches of 2 and of 1.
  const Expr uneven = batch(Range(0, 3), 2, no);
  EXPECT_NE(All(batch(uneven, 2, no), Spec({Shape{-1, -1}})).find("different shapes"),
            std::string::npos);
  const auto padded = [&](int64_t length) {
    const Expr shape = scope_.Constant(Tensor::FromValues<int64_t>(Shape{1}, {length}));
    return scope_.Add("PaddedBatchDatasetV2", {uneven, Number(2), shape, Number(9), no},
                      {{"output_shapes", std::vector<Shape>{Shape{-1, -1}}},
                       {"Toutput_types", kInt64},
                       {"N", int64_t{1}}});
  };
  EXPECT_EQ(All(padded(-1), Spec({Shape{-1, -1}})), "{0, 1, 2, 9}end");
  EXPECT_EQ(All(padded(3), Spec({Shape{-1, -1}})), "{0, 1, 9, 2, 9, 9}end");
  EXPECT_NE(All(padded(1), Spec({Shape{-1, -1}})).find("smaller size"), std::string::npos);
}

// The orders are those of TensorFlow 2.21 for these seeds.
TEST_F(DatasetTest, Shuffles) {
  const auto shuffle = [&](bool again) {
    return scope_.Add("ShuffleDataset", {Range(0, 10), Number(4), Number(7), Number(9)},
                      With(Spec(), "reshuffle_each_iteration", again));
  };
  const std::string fixed = "{3}{1}{4}{2}{5}{7}{8}{6}{9}{0}";
  const std::string twice = "{2}{1}{4}{5}{3}{8}{9}{0}{6}{7}{3}{4}{0}{2}{5}{7}{6}{1}{8}{9}end";
  EXPECT_EQ(All(scope_.Add("RepeatDataset", {shuffle(false), Number(2)}, Spec())),
            fixed + fixed + "end");
  EXPECT_EQ(All(scope_.Add("RepeatDataset", {shuffle(true), Number(2)}, Spec())), twice);
  EXPECT_EQ(All(scope_.Add("ShuffleAndRepeatDataset",
                           {Range(0, 10), Number(4), Number(7), Number(9), Number(2)}, Spec())),
            twice);
}

TEST_F(DatasetTest, Files) {
  const std::string folder = testing::TempDir() + "/dataset_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/a") << "one\r\ntwo\n\nlast";
  std::ofstream(folder + "/b") << "";
  Result<io::RecordWriter> writer = io::RecordWriter::Open(folder + "/r");
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Write("rec").ok() && writer->Write("").ok() && writer->Close().ok());
  const auto text = [&](const std::string& value) {
    return scope_.Constant(Tensor::Scalar(value));
  };
  const AttrMap spec = Spec({Shape()}, {DType::kString});
  const Expr paths = scope_.Constant(
      Tensor::FromValues<std::string>(Shape{3}, {folder + "/b", folder + "/a", folder + "/b"}));
  EXPECT_EQ(All(scope_.Add("TextLineDataset", {paths, text(""), Number(0)}), spec),
            "{\"one\"}{\"two\"}{\"\"}{\"last\"}end");
  EXPECT_EQ(All(scope_.Add("TFRecordDataset", {text(folder + "/r"), text(""), Number(0)}), spec),
            "{\"rec\"}{\"\"}end");
  EXPECT_NE(
      All(scope_.Add("TFRecordDataset", {paths, text(""), Number(0)}), spec).find("DATA_LOSS"),
      std::string::npos);
  EXPECT_NE(All(scope_.Add("TFRecordDataset", {text(folder + "/no"), text(""), Number(0)}), spec)
                .find("NOT_FOUND"),
            std::string::npos);
  const auto fixed = [&](int64_t header, int64_t record) {
    return All(scope_.Add("FixedLengthRecordDataset", {text(folder + "/a"), Number(header),
                                                       Number(record), Number(4), Number(0)}),
               spec);
  };
  EXPECT_EQ(fixed(5, 5), "{\"two\\x0a\\x0a\"}end");
  EXPECT_NE(fixed(4, 4).find("exact multiple"), std::string::npos);
  EXPECT_NE(fixed(400, 4).find("exact multiple"), std::string::npos);
  EXPECT_NE(fixed(0, 0).find("record_bytes"), std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST_F(DatasetTest, IteratorsAsState) {
  const Expr unborn =
      scope_.Add("IteratorV2", {},
                 With(With(Spec(), "shared_name", std::string("u")), "container", std::string()));
  const Expr next = NextOf(Range(0, 2));
  const Expr early = scope_.Add("IteratorGetNext", {unborn}, Spec());
  EXPECT_NE(Read(early).find("has not been initialized"), std::string::npos);
  EXPECT_EQ(Read(next), "{0}");
  // By its name, from another place in the graph.
  const Expr handle = scope_.Add("IteratorFromStringHandleV2",
                                 {scope_.Add("IteratorToStringHandle", {unborn})}, {});
  const Expr made = scope_.Add("MakeIterator", {Range(5, 7), handle});
  ASSERT_TRUE(session_->Run({{}, {}, {made.ref().node}}, {}, {}, nullptr).ok());
  EXPECT_EQ(Read(early), "{5}");
  const Expr wrong = scope_.Add("IteratorGetNext", {unborn}, Spec({Shape{2}}));
  EXPECT_NE(Read(wrong).find("component 0 must be int64 [2]"), std::string::npos);
  const Expr bad = scope_.Add("IteratorFromStringHandleV2",
                              {scope_.Constant(Tensor::Scalar(std::string("x")))}, {});
  EXPECT_NE(Read(scope_.Add("IteratorGetNext", {bad}, Spec())).find("no handle"),
            std::string::npos);
  AddFunction(graph_,
              MakeFunction("some", {}, {{"r", DType::kVariant, "d:handle:0"}},
                           {ConstNode("zero", Tensor::Scalar<int64_t>(0)),
                            ConstNode("one", Tensor::Scalar<int64_t>(1)),
                            MakeNode("d", "RangeDataset",
                                     {"zero:output:0", "one:output:0", "one:output:0"}, Spec())},
                           {}, true));
  const Expr once =
      scope_.Add("OneShotIterator", {}, With(Spec(), "dataset_factory", FunctionName{"some", {}}));
  const Expr of_once = scope_.Add("IteratorGetNext", {once}, Spec());
  EXPECT_EQ(Read(of_once), "{0}");
  EXPECT_EQ(Read(of_once), "end");
}

// A function that waits holds no thread: as many callers as there are threads and more wait for a
// queue, and go on when it is filled.
TEST_F(DatasetTest, WaitsWithoutAThread) {
  LocalSessionOptions options;
  options.threads = 2;
  session_ = MakeLocalSession(graph_, options);
  const Expr queue = scope_.Add("FIFOQueueV2", {},
                                {{"component_types", kInt64}, {"shared_name", std::string("q")}});
  const Expr plain = NextOf(Calls("MapDataset", {Range(0, 100), queue}, "take"));
  const Expr parallel =
      NextOf(Calls("ParallelMapDatasetV2", {Range(0, 4), queue, Number(4)}, "take"));
  std::vector<std::thread> readers;
  std::atomic<int> num_read{0};
  for (int i = 0; i < 6; ++i) {
    readers.emplace_back([&, i] { num_read += Read(i < 5 ? plain : parallel) == "{7}"; });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(num_read, 0);
  Tensor sevens(DType::kInt64, Shape{9});
  for (int64_t& seven : sevens.mutable_values<int64_t>()) seven = 7;
  const Expr fill = scope_.Add("QueueEnqueueManyV2", {queue, scope_.Constant(sevens)});
  ASSERT_TRUE(session_->Run({{}, {}, {fill.ref().node}}, {}, {}, nullptr).ok());
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(num_read, 6);
  // What waits can be given up.
  EXPECT_NE(Read(plain, {.timeout = std::chrono::milliseconds(50)}).find("DEADLINE"),
            std::string::npos);
}

TEST_F(DatasetTest, NestingIsLimited) {
  // A function whose dataset calls the function again.
  AddFunction(
      graph_,
      MakeFunction(
          "deeper", {{"x", DType::kInt64}}, {{"r", DType::kVariant, "f:handle:0"}},
          {MakeNode("t", "TensorDataset", {"x"},
                    {{"Toutput_types", kInt64}, {"output_shapes", std::vector<Shape>{Shape()}}}),
           MakeNode("f", "FlatMapDataset", {"t:handle:0"},
                    With(With(Spec(), "f", FunctionName{"deeper", {}}), "Targuments",
                         std::vector<DType>{}))},
          {}, true));
  const std::string text = Read(NextOf(Calls("FlatMapDataset", {Range(0, 1)}, "deeper")));
  EXPECT_NE(text.find("nested more than"), std::string::npos) << text;
}

}  // namespace
}  // namespace penstock
