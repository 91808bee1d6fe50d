#include "penstock/graph/instantiate.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>

#include "penstock/graph/function_call.h"
#include "penstock/graph/node_check.h"

namespace penstock {
namespace {

// Values nested deeper than this inside attributes are an attack, not a program.
constexpr int kMaxNesting = 16;
// An attribute of a few bytes can ask for millions of arguments.
constexpr size_t kMaxArguments = 1 << 16;

// `value` with each placeholder replaced by the attribute that it names.
Result<AttrValue> Substitute(const AttrValue& value, const AttrMap& attrs, int depth = 0) {
  if (const auto* placeholder = value.Get<AttrValue::Placeholder>()) {
    const AttrValue* found = FindAttr(attrs, placeholder->name);
    if (found == nullptr)
      return InvalidArgument("the function has no attribute {}", Printable(placeholder->name));
    return *found;
  }
  if (depth > kMaxNesting) return InvalidArgument("functions nest too deep in an attribute");
  auto in_function = [&](const FunctionName& from) -> Result<FunctionName> {
    FunctionName to{from.name, {}};
    for (const auto& [name, attr] : from.attrs) {
      TRY_ASSIGN(AttrValue substituted, Substitute(attr, attrs, depth + 1));
      to.attrs.emplace_back(name, std::move(substituted));
    }
    return to;
  };
  if (const auto* function = value.Get<FunctionName>()) {
    TRY_ASSIGN(FunctionName to, in_function(*function));
    return AttrValue(std::move(to));
  }
  if (const auto* functions = value.Get<std::vector<FunctionName>>()) {
    std::vector<FunctionName> to;
    for (const FunctionName& function : *functions) {
      TRY_ASSIGN(to.emplace_back(), in_function(function));
    }
    return AttrValue(std::move(to));
  }
  return value;
}

// A node's input as a FunctionDef spells it: "arg", "arg:0", "node:output_arg", "node:output_arg:0"
// or "^node".
struct Reference {
  std::string_view node;
  std::string_view arg;
  std::optional<int32_t> index;
  bool is_control = false;
};

std::optional<int32_t> Number(std::string_view digits) {
  int32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    return std::nullopt;
  return value;
}

Result<Reference> ParseReference(std::string_view text) {
  Reference out;
  if (text.starts_with('^')) {
    out.node = text.substr(1);
    out.is_control = true;
    return out;
  }
  const size_t colon = text.find(':');
  out.node = text.substr(0, colon);
  if (colon == std::string_view::npos) return out;
  std::string_view rest = text.substr(colon + 1);
  if (const size_t second = rest.find(':'); second != std::string_view::npos) {
    out.index = Number(rest.substr(second + 1));
    if (!out.index || *out.index < 0)
      return InvalidArgument("\"{}\" is not of the form node:output:index", Printable(text));
    rest = rest.substr(0, second);
  } else if ((out.index = Number(rest))) {
    return out;
  }
  out.arg = rest;
  return out;
}

bool ClosesLoop(const FunctionNode& reader, const FunctionNode& source) {
  return reader.op.ends_with("Merge") && source.op.ends_with("NextIteration");
}

// One body in the making.
class Builder {
 public:
  Builder(const FunctionLibrary& library, const FunctionDef& function, AttrMap attrs,
          const OpRegistry& registry)
      : function_(function), attrs_(std::move(attrs)), body_{Graph(registry), {}, {}, {}} {
    body_.graph.library() = library;
  }

  Result<FunctionBody> Build() {
    TRY_ASSIGN(const NodeTypes types, FunctionTypes(function_, attrs_));
    if (types.inputs.size() + types.outputs.size() > kMaxArguments)
      return InvalidArgument("{} arguments and {} results are too many", types.inputs.size(),
                             types.outputs.size());
    TRY(AddArgs(types));
    TRY_ASSIGN(const std::vector<int32_t> order, Order());
    for (const int32_t i : order) {
      Status status = AddNode(i);
      if (!status.ok())
        return status.Annotate(Format("node {}", Printable(function_.nodes[i].name)));
    }
    for (const auto& [node, index, text] : open_inputs_) {
      TRY_ASSIGN(const std::vector<OutputRef> from, Resolve(text));
      if (from.size() != 1) return InvalidArgument("a loop is closed by {} values", from.size());
      TRY(body_.graph.SetInput(node, index, from[0]));
    }
    TRY(AddResults(types));
    TRY(CollectEffects(order));
    return std::move(body_);
  }

 private:
  Graph& graph() { return body_.graph; }

  Status AddArgs(const NodeTypes& types) {
    size_t at = 0;
    for (size_t i = 0; i < function_.signature.inputs.size(); ++i) {
      const std::string& name = function_.signature.inputs[i].name;
      std::vector<OutputRef>& refs = args_[name];
      for (int k = 0; k < types.input_counts[i]; ++k, ++at) {
        const bool is_list = !function_.signature.inputs[i].type_list_attr.empty() ||
                             !function_.signature.inputs[i].number_attr.empty();
        TRY_ASSIGN(const NodeId arg,
                   graph().AddNode(
                       {.op = "_Arg",
                        .name = is_list ? name + "_" + std::to_string(k) : name,
                        .exact_name = !is_list,
                        .attrs = {{"T", types.inputs[at]}, {"index", static_cast<int64_t>(at)}}}));
        body_.args.push_back(arg);
        refs.push_back({arg, 0});
      }
    }
    return OkStatus();
  }

  // Each node after its inputs, otherwise as they were written.
  Result<std::vector<int32_t>> Order() {
    const auto n = static_cast<int32_t>(function_.nodes.size());
    for (int32_t i = 0; i < n; ++i) {
      const std::string& name = function_.nodes[i].name;
      if (args_.contains(name) || !index_.emplace(name, i).second)
        return InvalidArgument("the name {} is not unique", Printable(name));
    }
    std::vector<std::vector<int32_t>> readers(static_cast<size_t>(n));
    std::vector<int32_t> waits(static_cast<size_t>(n), 0);
    for (int32_t i = 0; i < n; ++i) {
      for (const std::string& text : function_.nodes[i].inputs) {
        TRY_ASSIGN(const Reference reference, ParseReference(text));
        states_order_ |= reference.is_control;
        const auto from = index_.find(reference.node);
        if (from == index_.end()) continue;
        if (ClosesLoop(function_.nodes[i], function_.nodes[from->second])) continue;
        readers[from->second].push_back(i);
        ++waits[i];
      }
    }
    std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>> ready;
    for (int32_t i = 0; i < n; ++i) {
      if (waits[i] == 0) ready.push(i);
    }
    std::vector<int32_t> order;
    while (!ready.empty()) {
      const int32_t i = ready.top();
      ready.pop();
      order.push_back(i);
      for (const int32_t reader : readers[i]) {
        if (--waits[reader] == 0) ready.push(reader);
      }
    }
    if (order.size() == static_cast<size_t>(n)) return order;
    const auto stuck = std::find_if(waits.begin(), waits.end(), [](int32_t w) { return w > 0; });
    return InvalidArgument("the body has a cycle through node {}",
                           Printable(function_.nodes[stuck - waits.begin()].name));
  }

  // What a data reference stands for: one value, or those of a list.
  Result<std::vector<OutputRef>> Resolve(std::string_view text) {
    TRY_ASSIGN(const Reference reference, ParseReference(text));
    std::vector<OutputRef> all;
    if (const auto arg = args_.find(std::string(reference.node)); arg != args_.end()) {
      all = arg->second;
    } else {
      const NodeId id = graph().FindNode(reference.node);
      if (id == kNoNode || !index_.contains(reference.node))
        return InvalidArgument("there is no node or argument for input \"{}\"", Printable(text));
      TRY_ASSIGN(all, OutputsOf(id, reference, text));
    }
    if (!reference.index) return all;
    if (!InRange(*reference.index, static_cast<int64_t>(all.size())))
      return InvalidArgument("input \"{}\" names one of {} values", Printable(text), all.size());
    return std::vector<OutputRef>{all[*reference.index]};
  }

  Result<std::vector<OutputRef>> OutputsOf(NodeId id, const Reference& reference,
                                           std::string_view text) {
    std::vector<OutputRef> out;
    const Node& node = graph().node(id);
    const auto count = static_cast<int32_t>(node.outputs.size());
    if (reference.arg.empty()) {  // "node" and "node:0" are not canonical, but their sense is plain
      for (int32_t port = 0; port < count; ++port) out.push_back({id, port});
      return out;
    }
    // A call of a function names its outputs as the function does.
    if (const auto called = calls_.find(id); called != calls_.end()) {
      return NamedOutputs(id, called->second->signature, called->second->attrs, reference, text);
    }
    return NamedOutputs(id, node.op->def, node.attrs, reference, text);
  }

  Result<std::vector<OutputRef>> NamedOutputs(NodeId id, const OpDef& def, const AttrMap& attrs,
                                              const Reference& reference, std::string_view text) {
    TRY_ASSIGN(const NodeTypes types, ExpandTypes(def, attrs));
    int32_t port = 0;
    for (size_t i = 0; i < def.outputs.size(); ++i) {
      const int32_t count = types.output_counts[i];
      if (def.outputs[i].name != reference.arg) {
        port += count;
        continue;
      }
      std::vector<OutputRef> out;
      for (int32_t k = 0; k < count; ++k) out.push_back({id, port + k});
      return out;
    }
    return InvalidArgument("input \"{}\": op {} has no output of that name", Printable(text),
                           def.name);
  }

  Status AddNode(int32_t i) {
    const FunctionNode& from = function_.nodes[i];
    NodeSpec spec;
    spec.op = from.op;
    spec.name = from.name;
    spec.exact_name = true;
    spec.device = from.device;
    for (const auto& [name, value] : from.attrs) {
      TRY_ASSIGN(AttrValue substituted, Substitute(value, attrs_));
      spec.attrs.emplace_back(name, std::move(substituted));
    }
    std::vector<std::pair<int, std::string_view>> open;
    for (const std::string& text : from.inputs) {
      TRY_ASSIGN(const Reference reference, ParseReference(text));
      if (reference.is_control) {
        TRY_ASSIGN(const NodeId control, ControlNode(reference.node));
        spec.control_inputs.push_back(control);
        continue;
      }
      const auto source = index_.find(reference.node);
      if (source != index_.end() && ClosesLoop(from, function_.nodes[source->second])) {
        open.emplace_back(static_cast<int>(spec.inputs.size()), text);
        spec.inputs.push_back({kNoNode, 0});
        continue;
      }
      TRY_ASSIGN(const std::vector<OutputRef> refs, Resolve(text));
      spec.inputs.insert(spec.inputs.end(), refs.begin(), refs.end());
    }
    TRY_ASSIGN(const NodeId id, graph().AddNode(std::move(spec)));
    graph().node(id).extra = from.extra;
    if (graph().registry().Find(from.op) == nullptr) NoteCall(id);
    for (const auto& [index, text] : open) open_inputs_.push_back({id, index, std::string(text)});
    return OkStatus();
  }

  // The node's op was a function, and others name its outputs as the function does.
  void NoteCall(NodeId id) {
    const FunctionName* called = CalledFunctions(graph().node(id).attrs)[0];
    const auto& functions = std::as_const(graph()).library().functions;
    calls_.emplace(id, std::make_unique<Call>(
                           Call{functions.find(called->name)->second->signature, called->attrs}));
  }

  Result<NodeId> ControlNode(std::string_view name) {
    if (const auto arg = args_.find(std::string(name)); arg != args_.end() && !arg->second.empty())
      return arg->second[0].node;
    const NodeId id = graph().FindNode(name);
    if (id == kNoNode || !index_.contains(name))
      return InvalidArgument("there is no node for control input \"{}\"", Printable(name));
    return id;
  }

  Status AddResults(const NodeTypes& types) {
    size_t at = 0;
    for (size_t i = 0; i < function_.signature.outputs.size(); ++i) {
      const std::string& name = function_.signature.outputs[i].name;
      const auto found = function_.results.find(name);
      if (found == function_.results.end())
        return InvalidArgument("result {} has no value", Printable(name));
      TRY_ASSIGN(const std::vector<OutputRef> refs, Resolve(found->second));
      if (static_cast<int>(refs.size()) != types.output_counts[i]) {
        return InvalidArgument("result {} stands for {} values, got {}", Printable(name),
                               types.output_counts[i], refs.size());
      }
      for (const OutputRef& ref : refs) {
        const DType wanted = types.outputs[at];
        if (graph().output(ref).dtype != wanted) {
          return InvalidArgument("result {} must be {}, got {} from {}", Printable(name), wanted,
                                 graph().output(ref).dtype, graph().Describe(ref.node));
        }
        TRY_ASSIGN(
            const NodeId retval,
            graph().AddNode({.op = "_Retval",
                             .name = name,
                             .inputs = {ref},
                             .attrs = {{"T", wanted}, {"index", static_cast<int64_t>(at)}}}));
        body_.results.push_back(retval);
        ++at;
      }
    }
    return OkStatus();
  }

  Status CollectEffects(const std::vector<int32_t>& order) {
    std::vector<uint8_t> kept(static_cast<size_t>(graph().num_nodes()), 0);
    NodeId last = kNoNode;
    for (const int32_t i : order) {
      const NodeId id = graph().FindNode(function_.nodes[i].name);
      const OpInfo& op = *graph().node(id).op;
      if (op.traits.pure) continue;
      kept[id] = 1;
      body_.effects.push_back(id);
      // What waits for the outside may wait for what comes after it.
      const bool is_call = !CalledFunctions(graph().node(id).attrs).empty();
      if (states_order_ || !function_.control_results.empty() || (op.traits.async && !is_call))
        continue;
      if (last != kNoNode) graph().AddControlInput(id, last);
      last = id;
    }
    for (const auto& [name, node] : function_.control_results) {
      TRY_ASSIGN(const NodeId id, ControlNode(node));
      if (std::exchange(kept[id], 1) == 0) body_.effects.push_back(id);
    }
    return OkStatus();
  }

  struct OpenInput {
    NodeId node;
    int index;
    std::string text;
  };
  struct Call {
    OpDef signature;
    AttrMap attrs;
  };

  const FunctionDef& function_;
  const AttrMap attrs_;
  FunctionBody body_;
  std::unordered_map<std::string, std::vector<OutputRef>> args_;
  std::unordered_map<std::string_view, int32_t> index_;
  std::unordered_map<NodeId, std::unique_ptr<Call>> calls_;
  std::vector<OpenInput> open_inputs_;
  bool states_order_ = false;  // some node has a control input
};

}  // namespace

std::vector<OutputRef> FunctionBody::Results() const {
  std::vector<OutputRef> refs;
  for (const NodeId id : results) refs.push_back(graph.node(id).inputs[0]);
  return refs;
}

std::vector<OutputRef> FunctionBody::Args() const {
  std::vector<OutputRef> refs;
  for (const NodeId id : args) refs.push_back({id, 0});
  return refs;
}

Result<FunctionBody> Instantiate(const FunctionLibrary& library, const FunctionName& name,
                                 const OpRegistry& registry) {
  TRY_ASSIGN(const FunctionDef* function, FindFunction(library, name.name));
  AttrMap attrs = name.attrs;
  Status status = CompleteFunctionAttrs(function->signature, &attrs);
  if (status.ok()) {
    Result<FunctionBody> body = Builder(library, *function, std::move(attrs), registry).Build();
    if (body.ok()) return body;
    status = body.status();
  }
  return status.Annotate(Format("function {}", Printable(name.name)));
}

}  // namespace penstock
