#include "penstock/graph/text_graph.h"

#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "penstock/graph/text_literal.h"

namespace penstock {
namespace {

class Parser {
 public:
  Parser(std::string_view text, Graph* graph) : cursor_(text), graph_(*graph) {}

  Status Parse() {
    SkipKeyword();
    while (!cursor_.AtEnd()) {
      TRY(ParseStatement());
      cursor_.Take(';');
    }
    for (const OpenInput& open : open_inputs_) {
      const NodeId source = graph_.FindNode(open.source);
      if (source == kNoNode) return UnknownNode(open.at, open.source);
      Status status = graph_.SetInput(open.node, open.index, {source, open.port});
      if (!status.ok()) return cursor_.Annotate(open.at, status);
    }
    return OkStatus();
  }

 private:
  struct Attribute {
    std::string name;
    Literal value;
  };
  // Of a Merge, from a NextIteration further down.
  struct OpenInput {
    NodeId node;
    int index;
    std::string source;
    int port;
    size_t at;
  };

  void SkipKeyword() {
    cursor_.Peek();
    const size_t at = cursor_.at();
    if (cursor_.TakeWord() != "graph" || cursor_.Peek() == '=') cursor_.set_at(at);
  }

  Result<std::string> TakeName(std::string_view what) {
    cursor_.Peek();
    const size_t at = cursor_.at();
    std::string name(cursor_.TakeWord());
    if (name.empty()) return cursor_.Error(at, Format("expected {}", what));
    return name;
  }

  Status ParseStatement() {
    NodeSpec spec;
    spec.exact_name = true;
    cursor_.Peek();
    const size_t at = cursor_.at();
    TRY_ASSIGN(spec.name, TakeName("the name of a node"));
    TRY(cursor_.Expect('='));
    cursor_.Peek();
    const size_t op_at = cursor_.at();
    TRY_ASSIGN(spec.op, TakeName("the name of an op"));
    const OpInfo* op = graph_.registry().Find(spec.op);
    if (op == nullptr) {
      return cursor_.Annotate(op_at, NotFound("Op type not registered '{}'", Printable(spec.op)));
    }
    TRY(cursor_.Expect('('));
    std::vector<Attribute> attributes;
    if (!cursor_.Take(')')) {
      do {
        TRY(ParseItem(&spec, &attributes));
      } while (cursor_.Take(','));
      TRY(cursor_.Expect(')'));
    }
    TRY(SetAttributes(op->def, attributes, &spec));
    Result<NodeId> id = graph_.AddNode(std::move(spec));
    if (!id.ok()) return cursor_.Annotate(at, id.status());
    for (auto open = open_inputs_.rbegin(); open != open_inputs_.rend() && open->node == kNoNode;
         ++open) {
      open->node = *id;
    }
    return OkStatus();
  }

  Status ParseItem(NodeSpec* spec, std::vector<Attribute>* attributes) {
    const bool is_control = cursor_.Take('^');
    cursor_.Peek();
    const size_t at = cursor_.at();
    TRY_ASSIGN(std::string name, TakeName("an input or an attribute"));
    if (is_control) {
      const NodeId id = graph_.FindNode(name);
      if (id == kNoNode) return UnknownNode(at, name);
      spec->control_inputs.push_back(id);
      return OkStatus();
    }
    if (cursor_.Take('=')) {
      TRY_ASSIGN(Literal value, TakeLiteral(&cursor_));
      attributes->push_back({std::move(name), std::move(value)});
      return OkStatus();
    }
    int port = 0;
    if (cursor_.Take(':')) {
      const std::string_view digits = cursor_.TakeWord();
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
      if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
        return cursor_.Error(at, "expected the number of an output after ':'");
      }
    }
    const NodeId id = graph_.FindNode(name);
    if (id == kNoNode) {
      if (!spec->op.ends_with("Merge")) return UnknownNode(at, name);
      open_inputs_.push_back({kNoNode, static_cast<int>(spec->inputs.size()), name, port, at});
    }
    spec->inputs.push_back({id, port});
    return OkStatus();
  }

  Status SetAttributes(const OpDef& def, const std::vector<Attribute>& attributes, NodeSpec* spec) {
    const AttrDef* dtype_def = def.FindAttr("dtype");
    std::optional<DType> dtype;
    for (const Attribute& attribute : attributes) {
      if (attribute.name == "dtype") dtype = ParseDType(attribute.value.text);
    }
    for (const auto& [name, literal] : attributes) {
      const AttrDef* attr = def.FindAttr(name);
      if (attr == nullptr && name == "device" && literal.kind == Literal::kString) {
        spec->device = literal.text;
        continue;
      }
      TRY_ASSIGN(AttrValue value,
                 LiteralToAttr(cursor_, literal, attr == nullptr ? "" : attr->kind, dtype));
      if (const Tensor* tensor = value.Get<Tensor>(); tensor != nullptr && !dtype)
        dtype = tensor->dtype();
      if (FindAttr(spec->attrs, name) != nullptr)
        return cursor_.Error(literal.at, Format("{} is given twice", name));
      spec->attrs.emplace_back(name, std::move(value));
    }
    if (dtype_def != nullptr && dtype_def->kind == "type" && !dtype_def->default_value &&
        FindAttr(spec->attrs, "dtype") == nullptr) {
      spec->attrs.emplace_back("dtype", dtype.value_or(DType::kFloat));
    }
    return OkStatus();
  }

  Status UnknownNode(size_t at, std::string_view name) const {
    return cursor_.Error(at, Format("Unknown input node '{}'", Printable(name)));
  }

  TextCursor cursor_;
  Graph& graph_;
  std::vector<OpenInput> open_inputs_;
};

}  // namespace

Status AddTextGraph(std::string_view text, Graph* graph) { return Parser(text, graph).Parse(); }

Result<Graph> ParseTextGraph(std::string_view text, const OpRegistry& registry) {
  Graph graph(registry);
  TRY(AddTextGraph(text, &graph));
  return graph;
}

Result<Tensor> ParseTensorText(std::string_view text, std::optional<DType> dtype) {
  TextCursor cursor(text);
  TRY_ASSIGN(const Literal literal, TakeLiteral(&cursor));
  if (!cursor.AtEnd()) return cursor.Error(cursor.at(), "expected nothing after the value");
  return LiteralToTensor(cursor, literal, literal.dtype ? literal.dtype : dtype);
}

}  // namespace penstock
