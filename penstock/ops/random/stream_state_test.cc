#include "penstock/ops/random/stream_state.h"

#include <gtest/gtest.h>

#include "penstock/graph/scope.h"
#include "penstock/session/session.h"

namespace penstock::ops {
namespace {

// A graph with two nodes that draw; the second has seeds of chance.
struct Draws {
  Graph graph;
  Scope scope{graph};
  Expr shape = scope.Constant(Tensor::FromValues<int32_t>({1}, {3}));
  Expr seeded = scope.Add("RandomUniform", {shape},
                          {{"dtype", DType::kFloat}, {"seed", int64_t{1}}, {"seed2", int64_t{2}}});
  Expr by_chance = scope.Add("RandomUniform", {shape}, {{"dtype", DType::kFloat}});
  Expr read = scope.Add("_ReadRandomStreams", {});
  Expr fed = scope.Add("Placeholder", {}, {{"dtype", DType::kString}, {"shape", Shape()}});
  NodeId write = *scope.AddNode({.op = "_WriteRandomStreams", .inputs = {fed.ref()}});
};

std::vector<float> Draw(SessionBackend& session, const Draws& draws) {
  const auto values = session.Run(
      {.feeds = {}, .fetches = {draws.seeded.ref(), draws.by_chance.ref()}, .targets = {}}, {}, {},
      nullptr);
  EXPECT_TRUE(values.ok()) << values.status().ToString();
  std::vector<float> numbers;
  for (const Tensor& value : *values)
    numbers.insert(numbers.end(), value.data<float>(), value.data<float>() + 3);
  return numbers;
}

std::string Read(SessionBackend& session, const Draws& draws) {
  return (*session.Run({.feeds = {}, .fetches = {draws.read.ref()}, .targets = {}}, {}, {},
                       nullptr))[0]
      .scalar<std::string>();
}

Status Write(SessionBackend& session, const Draws& draws, const std::string& state) {
  const Tensor fed = Tensor::Scalar(state);
  return session
      .Run({.feeds = {draws.fed.ref()}, .fetches = {}, .targets = {draws.write}}, {&fed, 1}, {},
           nullptr)
      .status();
}

TEST(RandomStreams, DrawTheSameFromTheSamePlace) {
  const Draws draws;
  const auto session = MakeLocalSession(draws.graph);
  Draw(*session, draws);
  const std::string place = Read(*session, draws);
  const std::vector<float> later = Draw(*session, draws);
  EXPECT_NE(Draw(*session, draws), later);
  ASSERT_TRUE(Write(*session, draws, place).ok());
  EXPECT_EQ(Draw(*session, draws), later);
  // In a session that has drawn nothing yet, too.
  const auto other = MakeLocalSession(draws.graph);
  EXPECT_EQ(Read(*other, draws), "");
  ASSERT_TRUE(Write(*other, draws, place).ok());
  EXPECT_EQ(Draw(*other, draws), later);
}

TEST(RandomStreams, AResetSessionStartsAnew) {
  const Draws draws;
  const auto session = MakeLocalSession(draws.graph);
  const std::vector<float> first = Draw(*session, draws);
  Draw(*session, draws);
  const std::string container = RandomStreams::kContainer;
  ASSERT_TRUE(session->Reset({&container, 1}).ok());
  const std::vector<float> again = Draw(*session, draws);
  EXPECT_EQ(std::vector<float>(again.begin(), again.begin() + 3),
            std::vector<float>(first.begin(), first.begin() + 3));
  EXPECT_NE(again, first) << "chance does not repeat itself";
}

TEST(RandomStreams, DamageIsTold) {
  const Draws draws;
  const auto session = MakeLocalSession(draws.graph);
  Draw(*session, draws);
  const std::string place = Read(*session, draws);
  EXPECT_EQ(Write(*session, draws, place.substr(0, place.size() - 1)).code(), Code::kDataLoss);
  EXPECT_EQ(Write(*session, draws, "x").code(), Code::kDataLoss);
  EXPECT_TRUE(Write(*session, draws, "").ok()) << "no streams";
}

TEST(RandomStreams, PositionsComeBack) {
  const std::map<std::string, kernels::Philox> positions = {
      {"a/1/2", kernels::Philox(UINT64_MAX, 3, UINT64_MAX)}, {"", kernels::Philox(0, 0, 0)}};
  const auto parsed = ParsePositions(SerializePositions(positions));
  ASSERT_TRUE(parsed.ok());
  ASSERT_EQ(parsed->size(), 2u);
  EXPECT_EQ(parsed->at("a/1/2").key(), UINT64_MAX);
  EXPECT_EQ(parsed->at("a/1/2").counter_low(), 3u);
  EXPECT_EQ(parsed->at("a/1/2").counter_high(), UINT64_MAX);
}

}  // namespace
}  // namespace penstock::ops
