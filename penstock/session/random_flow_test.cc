// Random programs of nested branches and loops, made into graphs of Switch, Merge, Enter, Exit and
// NextIteration, must give what a plain interpreter of the same program gives.
//
//   PENSTOCK_RANDOM_PROGRAMS=5000 session_test --gtest_filter='RandomFlow.*'   # more of them

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "penstock/device/device.h"
#include "penstock/graph/scope.h"
#include "penstock/session/session.h"

namespace penstock {
namespace {

constexpr int kVariables = 4;
using Values = std::vector<int64_t>;

// x = a op b;  if (a < b) {...} else {...};  for (i = 0; i < times && a < b + slack; ++i) {...}
struct Statement {
  enum class Kind { kAssign, kConstant, kIf, kLoop } kind = Kind::kAssign;
  int target = 0;
  int a = 0;
  int b = 0;
  int op = 0;  // into kOps
  int64_t number = 0;
  int64_t parallel_iterations = 1;
  std::vector<Statement> first;  // the branch taken, or the body
  std::vector<Statement> second;
};
constexpr const char* kOps[] = {"AddV2", "Sub", "Maximum", "Minimum"};

// ---- random programs ----

class Programmer {
 public:
  explicit Programmer(uint32_t seed) : random_(seed) {}
  std::vector<Statement> Block(int depth) {
    std::vector<Statement> block;
    for (int64_t n = 1 + Pick(3); n > 0; --n) block.push_back(One(depth));
    return block;
  }
  int64_t Pick(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint32_t>(n)); }

 private:
  int PickVariable() { return static_cast<int>(Pick(kVariables)); }
  Statement One(int depth) {
    Statement s;
    s.target = PickVariable();
    s.a = PickVariable();
    s.b = PickVariable();
    s.op = static_cast<int>(Pick(std::size(kOps)));
    s.number = Pick(7) - 2;
    const int64_t kind = Pick(depth > 0 ? 6 : 3);
    if (kind < 2) return s;
    if (kind == 2) {
      s.kind = Statement::Kind::kConstant;
      return s;
    }
    s.kind = kind < 4 ? Statement::Kind::kIf : Statement::Kind::kLoop;
    s.parallel_iterations = 1 + Pick(4);
    s.first = Block(depth - 1);
    if (s.kind == Statement::Kind::kIf) s.second = Block(depth - 1);
    return s;
  }
  std::mt19937 random_;
};

// ---- what they mean ----

int64_t Apply(int op, int64_t a, int64_t b) {
  switch (op) {
    case 0:
      return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    case 1:
      return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
    case 2:
      return std::max(a, b);
    default:
      return std::min(a, b);
  }
}

void Interpret(const std::vector<Statement>& block, Values& v) {
  for (const Statement& s : block) {
    switch (s.kind) {
      case Statement::Kind::kAssign:
        v[s.target] = Apply(s.op, v[s.a], v[s.b]);
        break;
      case Statement::Kind::kConstant:
        v[s.target] = Apply(s.op, v[s.a], s.number);
        break;
      case Statement::Kind::kIf:
        Interpret(v[s.a] < v[s.b] ? s.first : s.second, v);
        break;
      case Statement::Kind::kLoop:
        for (int64_t i = 0; i < s.number; ++i) Interpret(s.first, v);
        break;
    }
  }
}

// ---- as graphs ----

// Writes a program into a graph. Constants wait for `pivot`, a node of the branch or loop that
// they are written in, as a client writes them.
class Writer {
 public:
  explicit Writer(Graph& graph) : graph_(graph) {}
  const Status& status() const { return status_; }

  void Block(const std::vector<Statement>& block, std::vector<OutputRef>& v, NodeId pivot) {
    for (const Statement& s : block) {
      switch (s.kind) {
        case Statement::Kind::kAssign:
          v[s.target] = Add(kOps[s.op], {v[s.a], v[s.b]});
          break;
        case Statement::Kind::kConstant:
          v[s.target] = Add(kOps[s.op], {v[s.a], Constant(s.number, pivot)});
          break;
        case Statement::Kind::kIf:
          If(s, v);
          break;
        case Statement::Kind::kLoop:
          Loop(s, v, pivot);
          break;
      }
    }
  }
  OutputRef Add(std::string op, std::vector<OutputRef> inputs, AttrMap attrs = {},
                std::vector<NodeId> controls = {}) {
    Result<NodeId> node = graph_.AddNode({.op = std::move(op),
                                          .inputs = std::move(inputs),
                                          .control_inputs = std::move(controls),
                                          .attrs = std::move(attrs)});
    if (status_.ok() && !node.ok()) status_ = node.status();
    return {node.ok() ? *node : 0, 0};
  }

 private:
  OutputRef Constant(int64_t value, NodeId pivot) {
    return Add("Const", {}, {{"value", Tensor::Scalar(value)}, {"dtype", DType::kInt64}}, {pivot});
  }
  static OutputRef Port(OutputRef ref, int port) { return {ref.node, port}; }

  void If(const Statement& s, std::vector<OutputRef>& v) {
    const OutputRef pred = Add("Less", {v[s.a], v[s.b]});
    std::vector<OutputRef> yes;
    std::vector<OutputRef> no;
    for (const OutputRef& value : v) {
      const OutputRef both = Add("Switch", {value, pred});
      no.push_back(Port(both, 0));
      yes.push_back(Port(both, 1));
    }
    Block(s.first, yes, Add("Identity", {yes[0]}).node);
    Block(s.second, no, Add("Identity", {no[0]}).node);
    for (size_t i = 0; i < v.size(); ++i) v[i] = Add("Merge", {no[i], yes[i]});
  }

  void Loop(const Statement& s, std::vector<OutputRef>& v, NodeId pivot) {
    const std::string name = "loop" + std::to_string(num_loops_++);
    auto enter = [&](OutputRef value, bool is_constant) {
      return Add("Enter", {value},
                 {{"frame_name", name},
                  {"is_constant", is_constant},
                  {"parallel_iterations", s.parallel_iterations}});
    };
    std::vector<OutputRef> merged;
    std::vector<OutputRef> in = v;
    in.push_back(Constant(0, pivot));
    for (OutputRef& value : in) merged.push_back(Add("Merge", {enter(value, false), OutputRef()}));
    const OutputRef limit = enter(Constant(s.number, pivot), true);
    const OutputRef one = enter(Constant(1, pivot), true);
    const OutputRef go = Add("LoopCond", {Add("Less", {merged.back(), limit})});
    std::vector<OutputRef> body;
    std::vector<OutputRef> out;
    for (const OutputRef& value : merged) {
      const OutputRef both = Add("Switch", {value, go});
      out.push_back(Add("Exit", {both}));
      body.push_back(Port(both, 1));
    }
    OutputRef counter = body.back();
    body.pop_back();
    Block(s.first, body, Add("Identity", {counter}).node);
    body.push_back(Add("AddV2", {counter, one}));
    for (size_t i = 0; i < body.size(); ++i) {
      const Status closed = graph_.SetInput(merged[i].node, 1, Add("NextIteration", {body[i]}));
      if (status_.ok()) status_ = closed;
    }
    for (size_t i = 0; i < v.size(); ++i) v[i] = out[i];
  }

  Graph& graph_;
  Status status_;
  int num_loops_ = 0;
};

int NumPrograms() {
  const char* text = std::getenv("PENSTOCK_RANDOM_PROGRAMS");
  return text == nullptr ? 150 : std::atoi(text);
}

TEST(RandomFlow, ConcurrentGraphsAgreeWithAnInterpreter) {
  const std::shared_ptr<Device> one = MakeCpuDevice({.threads = 1});
  const std::shared_ptr<Device> four = MakeCpuDevice({.threads = 4});
  for (int seed = 0; seed < NumPrograms(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Programmer programmer(static_cast<uint32_t>(seed));
    const std::vector<Statement> program = programmer.Block(3);
    Graph graph;
    Writer writer(graph);
    std::vector<OutputRef> v;
    for (int i = 0; i < kVariables; ++i)
      v.push_back(writer.Add("Placeholder", {}, {{"dtype", DType::kInt64}, {"shape", Shape{}}}));
    const CallableSpec inputs{v, {}, {}};
    const OutputRef start = writer.Add("Identity", {v[0]});
    writer.Block(program, v, start.node);
    ASSERT_TRUE(writer.status().ok()) << writer.status().ToString();

    for (const auto& device : {one, four}) {
      for (const bool optimise : {true, false}) {
        LocalSessionOptions options;
        options.device = device;
        if (!optimise) options.disabled_passes = {"fold", "simplify", "merge", "fuse"};
        const auto session = MakeLocalSession(graph, options);
        Values values;
        std::vector<Tensor> feeds;
        for (int i = 0; i < kVariables; ++i) {
          values.push_back(programmer.Pick(20) - 10);
          feeds.push_back(Tensor::Scalar(values.back()));
        }
        Interpret(program, values);
        Result<std::vector<Tensor>> got = session->Run({inputs.feeds, v, {}}, feeds, {}, nullptr);
        ASSERT_TRUE(got.ok()) << got.status().ToString();
        for (int i = 0; i < kVariables; ++i)
          ASSERT_EQ((*got)[i].scalar<int64_t>(), values[i]) << "variable " << i;
      }
    }
  }
}

}  // namespace
}  // namespace penstock
