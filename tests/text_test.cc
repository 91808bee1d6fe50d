// Runs tests/scripts/*.txt: whole sessions as text that a stranger can read and add to.
//
//   # a fed node cuts its producers off
//   graph   x = Placeholder() ; w = Const(value=[[1],[2]]) ; y = MatMul(x, w) ; z = Relu(y)
//   run     feed y = [[1,-1]]   fetch z
//   expect  [[1,0]]
//   nodes   _Arg z _Retval
//
//   script = { "graph" text } then any of
//            "run"    [ "feed" name "=" value { "," name "=" value } ]
//                     [ "fetch" name { "," name } ] [ "target" name { "," name } ]
//            "expect" value                 of the next fetch of the last run
//            "nodes"  { name }              that the last run is compiled to, in any order; those
//            of
//                                           feeds and fetches are written _Arg and _Retval
//            "fails"  code text             the last run, or the graph, fails with that in its
//            message
//
// A line that begins with a blank goes on with the one before. A "graph" after something else
// begins the next script. Values are those of graph/text_literal.h. Every script runs twice, with
// all passes on and with all off; only with all on are nodes compared. Floats agree to about six
// digits.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "penstock/compile/pipeline.h"
#include "penstock/device/device.h"
#include "penstock/device/kernel.h"
#include "penstock/graph/text_graph.h"
#include "penstock/graph/text_literal.h"
#include "penstock/session/evaluate.h"
#include "penstock/session/session.h"

namespace penstock {
namespace {

constexpr char kFolder[] = "tests/scripts";

struct Directive {
  int line = 0;
  std::string word;
  std::string text;
};

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<Directive> ReadDirectives(const std::string& path) {
  std::vector<Directive> out;
  std::ifstream file(path);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (Trimmed(line).empty() || line[0] == '#') continue;
    if (line[0] == ' ' || line[0] == '\t') {
      if (!out.empty()) out.back().text += "\n" + line;
      continue;
    }
    const size_t blank = std::min(line.find_first_of(" \t"), line.size());
    out.push_back({number, line.substr(0, blank), Trimmed(line.substr(blank))});
  }
  return out;
}

template <class T>
bool SameValues(const Tensor& want, const Tensor& got) {
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    const T a = want.data<T>()[i];
    const T b = got.data<T>()[i];
    if constexpr (std::is_same_v<T, std::string>) {
      if (a != b) return false;
    } else {
      const auto x = static_cast<double>(a);
      const auto y = static_cast<double>(b);
      const bool is_exact = std::is_integral_v<T> || !std::isfinite(x) || !std::isfinite(y);
      if (std::isnan(x) && std::isnan(y)) continue;
      if (is_exact ? x != y : std::fabs(x - y) > 1e-6 + 2e-6 * std::fabs(x)) return false;
    }
  }
  return true;
}

bool Agree(const Tensor& want, const Tensor& got) {
  if (want.dtype() != got.dtype() || !(want.shape() == got.shape())) return false;
  switch (want.dtype()) {
    case DType::kFloat:
      return SameValues<float>(want, got);
    case DType::kDouble:
      return SameValues<double>(want, got);
    case DType::kString:
      return SameValues<std::string>(want, got);
    default:
      return SameContent(want, got);
  }
}

// One script under way: a graph, a session on it, and how the last step went.
class Script {
 public:
  Script(const Directive& graph, bool optimised)
      : optimised_(optimised), device_(MakeCpuDevice({.threads = 2})) {
    failure_ = AddTextGraph(graph.text, &graph_);
    LocalSessionOptions options;
    options.device = device_;
    if (!optimised) options.disabled_passes = OptionalPasses();
    session_ = MakeLocalSession(graph_, options);
  }

  // What is wrong, or nothing.
  std::string Obey(const Directive& directive) {
    if (directive.word == "fails") return Fails(directive.text);
    if (!failure_.ok()) return failure_.ToString();
    if (directive.word == "run") {
      failure_ = Run(directive.text);  // "fails" may ask for it
      return "";
    }
    if (directive.word == "expect") return Text(Expect(directive.text));
    if (directive.word == "nodes") return optimised_ ? Text(Nodes(directive.text)) : "";
    return "no such directive: " + directive.word;
  }
  // An error that nobody asked for.
  std::string End() const { return failure_.ok() ? "" : failure_.ToString(); }

 private:
  static std::string Text(const Status& status) { return status.ok() ? "" : status.ToString(); }

  Result<OutputRef> TakeOutput(TextCursor& cursor) {
    std::string name(cursor.TakeWord());
    if (cursor.Take(':')) name += ":" + std::string(cursor.TakeWord());
    return graph_.FindOutput(name);
  }

  Status Run(const std::string& text) {
    spec_ = {};
    results_.clear();
    next_result_ = 0;
    std::vector<Tensor> feeds;
    TextCursor cursor(text);
    while (!cursor.AtEnd()) {
      const std::string word(cursor.TakeWord());
      do {
        if (word == "target") {
          spec_.targets.push_back(graph_.FindNode(cursor.TakeWord()));
          continue;
        }
        TRY_ASSIGN(const OutputRef output, TakeOutput(cursor));
        if (word == "fetch") {
          spec_.fetches.push_back(output);
        } else if (word == "feed") {
          TRY(cursor.Expect('='));
          TRY_ASSIGN(const Literal literal, TakeLiteral(&cursor));
          // Without a dtype of its own the value is what is wanted there.
          const auto dtype = literal.dtype ? literal.dtype : graph_.output(output).dtype;
          TRY_ASSIGN(Tensor value, LiteralToTensor(cursor, literal, dtype));
          spec_.feeds.push_back(output);
          feeds.push_back(std::move(value));
        } else {
          return InvalidArgument("expected feed, fetch or target, got {}", word);
        }
      } while (cursor.Take(','));
    }
    TRY_ASSIGN(results_, session_->Run(spec_, feeds, {}, nullptr));
    return OkStatus();
  }

  Status Expect(const std::string& text) {
    if (next_result_ >= results_.size()) return InvalidArgument("there is no such result");
    const Tensor& got = results_[next_result_++];
    TRY_ASSIGN(const Tensor want, ParseTensorText(text, got.dtype()));
    if (Agree(want, got)) return OkStatus();
    return Internal("expected {}, got {}", want.ToString(), got.ToString());
  }

  Status Nodes(const std::string& text) {
    CompileOptions options;
    options.evaluator = [&](const Node& node, const std::vector<Tensor>& inputs) {
      return EvaluateNode(node, inputs, StandardKernels(), *device_);
    };
    TRY_ASSIGN(const Compiled compiled,
               Compile(graph_, {spec_.feeds, spec_.fetches, spec_.targets}, options));
    std::vector<std::string> got;
    for (const NodeId id : compiled.schedule.order) {
      const Node& node = compiled.graph.node(id);
      const bool is_edge = node.op_name() == "_Arg" || node.op_name() == "_Retval";
      got.push_back(is_edge ? node.op_name() : node.name);
    }
    std::istringstream words(text.substr(0, text.find('#')));
    std::vector<std::string> want{std::istream_iterator<std::string>(words), {}};
    std::sort(want.begin(), want.end());
    std::sort(got.begin(), got.end());
    if (want == got) return OkStatus();
    return Internal("the step is compiled to {}", AttrValue(got).ToString());
  }

  std::string Fails(const std::string& text) {
    if (failure_.ok()) return "it did not fail";
    const std::string message = failure_.ToString();
    const size_t blank = std::min(text.find(' '), text.size());
    failure_ = OkStatus();
    for (const std::string& part : {text.substr(0, blank), Trimmed(text.substr(blank))}) {
      if (message.find(part) == std::string::npos) return "it failed otherwise: " + message;
    }
    return "";
  }

  const bool optimised_;
  const std::shared_ptr<Device> device_;
  Graph graph_;
  std::unique_ptr<SessionBackend> session_;
  Status failure_;  // of the graph or the last run, until "fails" has seen it
  CallableSpec spec_;
  std::vector<Tensor> results_;
  size_t next_result_ = 0;
};

class TextTest : public testing::TestWithParam<std::string> {};

TEST_P(TextTest, Script) {
  const std::string path = std::string(kFolder) + "/" + GetParam() + ".txt";
  const std::vector<Directive> directives = ReadDirectives(path);
  ASSERT_FALSE(directives.empty()) << path;
  ASSERT_EQ(directives[0].word, "graph") << path;
  for (const bool optimised : {true, false}) {
    const char* passes = optimised ? "all passes on" : "all passes off";
    std::unique_ptr<Script> script;
    int line = 0;
    for (const Directive& directive : directives) {
      std::string wrong;
      const bool begins = directive.word == "graph";
      if (script != nullptr && (begins || directive.word == "run")) wrong = script->End();
      EXPECT_EQ(wrong, "") << path << ":" << line << ", " << passes;
      line = directive.line;
      if (begins) {
        script = std::make_unique<Script>(directive, optimised);
      } else if (wrong.empty()) {
        wrong = script->Obey(directive);
        EXPECT_EQ(wrong, "") << path << ":" << line << ", " << passes;
      }
    }
    EXPECT_EQ(script->End(), "") << path << ":" << line << ", " << passes;
  }
}

std::vector<std::string> ScriptNames() {
  std::vector<std::string> names;
  if (!std::filesystem::is_directory(kFolder)) return names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Scripts, TextTest, testing::ValuesIn(ScriptNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace penstock
