#include "penstock/graph/extract.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "penstock/graph/node_check.h"

namespace penstock {
namespace {

bool IsInside(const TracedPart& part, NodeId id) { return id >= part.first && id < part.end; }

// "node:output_arg:index".
Result<std::string> SpellOutput(const Graph& graph, OutputRef ref, const std::string& name) {
  const Node& node = graph.node(ref.node);
  TRY_ASSIGN(const NodeTypes types, ExpandTypes(node.op->def, node.attrs));
  int32_t port = ref.port;
  for (size_t i = 0; i < node.op->def.outputs.size(); ++i) {
    if (port < types.output_counts[i])
      return name + ":" + node.op->def.outputs[i].name + ":" + std::to_string(port);
    port -= types.output_counts[i];
  }
  return Internal("{} has no output {}", graph.Describe(ref.node), ref.port);
}

// Argument names are identifiers in lower case: others need not read what we wrote.
std::string ArgName(std::string_view prefix, size_t i) {
  return std::string(prefix) + std::to_string(i);
}

class Extractor {
 public:
  Extractor(const Graph& graph, const TracedPart& part, const std::vector<OutputRef>& captures)
      : graph_(graph), part_(part), captures_(captures) {}

  Result<FunctionDef> Extract(const std::string& name) {
    function_.signature.name = name;
    AddArgs();
    NameNodes();
    std::string last;  // the last node with an effect
    for (NodeId id = part_.first; id < part_.end; ++id) {
      if (!graph_.IsLive(id) || is_arg_.contains(id)) continue;
      TRY(AddNode(id, &last));
    }
    for (size_t i = 0; i < part_.results.size(); ++i) {
      const std::string result = ArgName("result_", i);
      ArgDef& def = function_.signature.outputs.emplace_back();
      def.name = result;
      def.dtype = graph_.output(part_.results[i]).dtype;
      TRY_ASSIGN(function_.results[result], Spell(part_.results[i]));
    }
    for (const NodeId id : part_.effects) {
      if (const auto node = names_.find(id); node != names_.end())
        function_.control_results[node->second] = node->second;
    }
    return std::move(function_);
  }

 private:
  void AddArgs() {
    auto add = [&](const std::string& name, DType dtype) {
      ArgDef& def = function_.signature.inputs.emplace_back();
      def.name = name;
      def.dtype = dtype;
    };
    for (size_t i = 0; i < part_.args.size(); ++i) {
      const std::string name = ArgName("arg_", i);
      add(name, graph_.node(part_.args[i]).outputs[0].dtype);
      is_arg_.emplace(part_.args[i], name);
    }
    for (size_t i = 0; i < captures_.size(); ++i)
      add(ArgName("capture_", i), graph_.output(captures_[i]).dtype);
  }

  // Names are shortened to what follows the last '/', where that is unique.
  void NameNodes() {
    std::unordered_set<std::string> taken;
    for (const ArgDef& arg : function_.signature.inputs) taken.insert(arg.name);
    for (NodeId id = part_.first; id < part_.end; ++id) {
      if (!graph_.IsLive(id) || is_arg_.contains(id)) continue;
      std::string name = graph_.node(id).name;
      std::string brief = name.substr(name.rfind('/') + 1);
      if (!taken.insert(brief).second) {
        brief = std::move(name);
        for (int k = 1; !taken.insert(brief).second; ++k)
          brief = graph_.node(id).name + "_" + std::to_string(k);
      }
      names_.emplace(id, std::move(brief));
    }
  }

  Result<std::string> Spell(OutputRef ref) const {
    if (const auto arg = is_arg_.find(ref.node); arg != is_arg_.end()) return arg->second;
    if (const auto node = names_.find(ref.node); node != names_.end())
      return SpellOutput(graph_, ref, node->second);
    const auto capture = std::find(captures_.begin(), captures_.end(), ref);
    if (capture == captures_.end()) return Internal("{} is no capture", graph_.NameOf(ref));
    return ArgName("capture_", static_cast<size_t>(capture - captures_.begin()));
  }

  Status AddNode(NodeId id, std::string* last) {
    const Node& from = graph_.node(id);
    FunctionNode node;
    node.name = names_.at(id);
    node.op = from.op_name();
    node.device = from.device;
    node.attrs = from.attrs;
    std::erase_if(node.attrs, [](const auto& attr) { return attr.first == "_class"; });
    node.extra = from.extra;
    for (const OutputRef& input : from.inputs) {
      TRY_ASSIGN(node.inputs.emplace_back(), Spell(input));
    }
    std::vector<std::string> controls;
    for (const NodeId control : from.control_inputs) {
      if (const auto inside = names_.find(control); inside != names_.end())
        controls.push_back("^" + inside->second);
    }
    if (!from.op->traits.pure) {
      if (!last->empty()) controls.push_back("^" + *last);
      *last = node.name;
      function_.signature.is_stateful = true;
      function_.control_results[node.name] = node.name;
    }
    std::sort(controls.begin(), controls.end());
    controls.erase(std::unique(controls.begin(), controls.end()), controls.end());
    node.inputs.insert(node.inputs.end(), controls.begin(), controls.end());
    function_.nodes.push_back(std::move(node));
    return OkStatus();
  }

  const Graph& graph_;
  const TracedPart& part_;
  const std::vector<OutputRef>& captures_;
  FunctionDef function_;
  std::unordered_map<NodeId, std::string> is_arg_;  // the name of an argument
  std::unordered_map<NodeId, std::string> names_;   // of the other nodes
};

}  // namespace

Result<std::vector<OutputRef>> FindCaptures(const Graph& graph, const TracedPart& part) {
  std::vector<OutputRef> captures;
  auto read = [&](OutputRef ref) -> Status {
    if (!graph.IsLive(ref.node)) {
      return InvalidArgument(
          "a value is used outside of the function that made it: return it instead");
    }
    if (!IsInside(part, ref.node) &&
        std::find(captures.begin(), captures.end(), ref) == captures.end()) {
      captures.push_back(ref);
    }
    return OkStatus();
  };
  for (NodeId id = part.first; id < part.end; ++id) {
    if (!graph.IsLive(id)) continue;
    for (const OutputRef& input : graph.node(id).inputs) TRY(read(input));
  }
  for (const OutputRef& result : part.results) TRY(read(result));
  return captures;
}

Result<FunctionDef> ExtractFunction(const Graph& graph, const TracedPart& part,
                                    const std::vector<OutputRef>& captures,
                                    const std::string& name) {
  return Extractor(graph, part, captures).Extract(name);
}

bool HasEffects(const Graph& graph, const TracedPart& part) {
  for (NodeId id = part.first; id < part.end; ++id) {
    const bool is_arg = std::find(part.args.begin(), part.args.end(), id) != part.args.end();
    if (!is_arg && graph.IsLive(id) && !graph.node(id).op->traits.pure) return true;
  }
  return false;
}

void RemovePart(Graph& graph, const TracedPart& part) {
  for (NodeId id = part.first; id < part.end; ++id) {
    if (graph.IsLive(id)) graph.RemoveNode(id);
  }
}

std::string AddToLibrary(Graph& graph, FunctionDef function) {
  auto& functions = graph.library().functions;
  const std::string base = function.signature.name;
  for (int k = 1; functions.contains(function.signature.name); ++k)
    function.signature.name = base + "_" + std::to_string(k);
  const std::string name = function.signature.name;
  functions.emplace(name, std::make_shared<const FunctionDef>(std::move(function)));
  return name;
}

}  // namespace penstock
