#include "penstock/train/save/saver.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "penstock/io/bundle.h"
#include "penstock/train/testing/small_model.h"

namespace penstock {
namespace {

TEST_F(SaverTest, RestoresBitForBit) {
  SmallModel m;
  Session session(m.g);
  session.Run(m.init);
  // A NaN with a payload.
  Tensor odd(DType::kFloat, Shape{2, 3});
  const uint32_t bits[6] = {0x7fc12345, 0xffa00001, 0x80000000, 1, 0x7f800000, 0x3f800000};
  std::memcpy(odd.mutable_raw(), bits, sizeof bits);
  const VariableValues::Assignment assignment(0, odd);
  VariableValues(m.g).Assign(session, {&assignment, 1});
  Saver saver(m.g);
  EXPECT_EQ(saver.Save(session, At("run/model.ckpt"), {.step = 3}), At("run/model.ckpt-3"));
  EXPECT_EQ(LatestCheckpoint(At("run")), At("run/model.ckpt-3"));

  SmallModel fresh;
  Session other(fresh.g);  // nothing is initialized
  Saver reader(fresh.g);
  const RestoreReport report = reader.Restore(other, At("run/model.ckpt-3"));
  EXPECT_TRUE(report.complete()) << report.ToString();
  EXPECT_TRUE(report.unused.empty());
  EXPECT_EQ(std::memcmp(other.Run(fresh.w.Read()).data(), bits, sizeof bits), 0);
  EXPECT_EQ(other.Run(fresh.b.Read())[1], 0.2);
  EXPECT_EQ(static_cast<int64_t>(other.Run(fresh.n.Read())), 7);
  // What is restored is a variable like any other.
  other.Run(fresh.bump);
  EXPECT_EQ(static_cast<int64_t>(other.Run(fresh.n.Read())), 8);
  EXPECT_EQ(static_cast<int64_t>(session.Run(m.n.Read())), 7);
}

TEST_F(SaverTest, SavesWhatItWasAskedTo) {
  SmallModel m;
  Session session(m.g);
  session.Run(m.init);
  Saver some(m.g, {.variables = {ParameterOf(m.g, m.b.handle())}});
  some.Save(session, At("b"), {.extra = {{"input/position", Tensor::Scalar<int64_t>(99)}}});
  EXPECT_EQ(io::BundleReader::Open(At("b"))->Names(),
            (std::vector<std::string>{"dense/bias", "input/position"}));
  EXPECT_EQ(ReadSaved(At("b"), "input/position").scalar<int64_t>(), 99);
  EXPECT_EQ(CodeOf([&] { ReadSaved(At("b"), "none"); }), Code::kNotFound);
  EXPECT_EQ(CodeOf([&] {
              some.Save(session, At("b"), {.extra = {{"dense/bias", Tensor()}}});
            }),
            Code::kInvalidArgument);
  const Parameter b = ParameterOf(m.g, m.b.handle());
  EXPECT_EQ(CodeOf([&] { Saver twice(m.g, {.variables = {b, b}}); }), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf([&] { some.Save(session, At("") + "/"); }), Code::kInvalidArgument);
}

TEST_F(SaverTest, RetainsTheMostRecentAlsoAfterARestart) {
  for (int start = 0; start < 2; ++start) {
    SmallModel m;
    Session session(m.g);
    session.Run(m.init);
    Saver saver(m.g, {.retention = {.max_to_keep = 2}});
    for (int step = 0; step < 3; ++step) {
      session.Run(m.bump);
      saver.Save(session, At("m"), {.step = 10 * start + step});
    }
  }
  EXPECT_EQ(CheckpointsIn(folder_), (std::vector<std::string>{At("m-12"), At("m-11")}));
  EXPECT_EQ(NumFiles(), 5u);
}

TEST_F(SaverTest, LiesInSeveralFiles) {
  SmallModel m;
  Session session(m.g);
  session.Run(m.init);
  Saver saver(m.g, {.max_shard_bytes = 16});
  saver.Save(session, At("m"));
  EXPECT_EQ(io::ReadBundleIndex(At("m"))->num_shards, 3);
  session.Run(m.bump);
  EXPECT_TRUE(saver.Restore(session, At("m")).complete());
  EXPECT_EQ(static_cast<int64_t>(session.Run(m.n.Read())), 7);
}

TEST_F(SaverTest, MapsNames) {
  SmallModel m("old/", std::vector<float>(6, 2.f));
  Session session(m.g);
  session.Run(m.init);
  Saver(m.g).Save(session, At("m"));
  SmallModel fresh("new/net/", std::vector<float>(6));
  Session other(fresh.g);
  Saver saver(fresh.g);
  EXPECT_EQ(CodeOf([&] { saver.Restore(other, At("m")); }), Code::kNotFound);
  const RestoreReport report = saver.Restore(
      other, At("m"),
      {.names = {{"nothing/", ""}, {"old/", "new/net/"}, {"old/step", "new/net/step"}}});
  EXPECT_TRUE(report.complete()) << report.ToString();
  EXPECT_EQ(other.Run(fresh.w.Read())[0], 2.f);
  EXPECT_NE(report.ToString().find("restored (as old/dense/kernel)"), std::string::npos);
}

// Variables larger than what is held at once are read into their own memory.
TEST_F(SaverTest, LargeVariables) {
  constexpr int64_t kElements = 10 << 20;  // 40 MB
  Graph g;
  Variable<float> v(g, Constant<float>(g, Shape{kElements}, 1.f), "v");
  Variable<float> small(g, Constant<float>(g, 5.f), "small");
  const Operation add = v.AssignAdd(Constant<float>(g, Shape{kElements}, 1.f));
  Session session(g);
  session.Run(InitVariables(g));
  Saver saver(g);
  saver.Save(session, At("m"));
  session.Run(add);
  const float* const memory = session.Run(v.Read()).data();
  saver.Restore(session, At("m"));
  const Array<float> value = session.Run(v.Read());
  EXPECT_EQ(value.data(), memory);
  EXPECT_EQ(value[0], 1.f);
  EXPECT_EQ(value[kElements - 1], 1.f);
  session.Run(add);  // `value` is held: the variable leaves it behind
  saver.Restore(session, At("m"));
  EXPECT_EQ(session.Run(v.Read())[kElements / 2], 1.f);
  // Damage: an error, and what was small enough to be read before is not lost.
  {
    std::fstream file(At("m.data-00000-of-00001"), std::ios::in | std::ios::out);
    file.seekp(1 << 20);
    file.put('x');
  }
  EXPECT_EQ(CodeOf([&] { saver.Restore(session, At("m")); }), Code::kDataLoss);
  EXPECT_EQ(static_cast<float>(session.Run(small.Read())), 5.f);
  EXPECT_EQ(CodeOf([&] { session.Run(v.Read()); }), Code::kFailedPrecondition);
  session.Run(InitVariables(g));
}

// Graphs that were read have no collections; their variables may be references.
TEST_F(SaverTest, VariablesByReference) {
  Graph g;
  const NodeId v = OrThrow(g.AddNode(
      {.op = "VariableV2", .name = "v", .attrs = {{"dtype", DType::kFloat}, {"shape", Shape{2}}}}));
  const NodeId value = Constant(g, Array<float>(std::vector<float>{1, 2})).ref().node;
  const NodeId assign =
      OrThrow(g.AddNode({.op = "Assign", .name = "a", .inputs = {{v, 0}, {value, 0}}}));
  Session session(g);
  session.Run(Operation(g, assign));
  Saver saver(g);
  ASSERT_EQ(saver.variables().size(), 1u);
  saver.Save(session, At("m"));
  Session other(g);
  saver.Restore(other, At("m"));
  EXPECT_EQ(VariableValues(g).Read(other)[0].ToString(), "float [2] {1, 2}");
}

}  // namespace
}  // namespace penstock
