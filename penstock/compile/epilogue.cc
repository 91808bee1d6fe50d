#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/compile/passes.h"
#include "penstock/compile/rewrite.h"
#include "penstock/graph/node_check.h"

namespace penstock {
namespace {

// An op X takes an epilogue when there is an op _EpilogueX: it has X's inputs and attributes, a
// list of tensors `args`, and an attribute `fused_ops` that names what follows X. Which names and
// in which order, its decoding says.
class EpilogueFuser {
 public:
  explicit EpilogueFuser(Graph& graph) : graph_(graph) {}

  Status Run() {
    TRY_ASSIGN(const std::vector<NodeId> order, graph_.TopologicalOrder());
    CountReaders(order);
    for (const NodeId id : order) {
      if (!graph_.IsLive(id)) continue;
      const OpInfo* fused = graph_.registry().Find("_Epilogue" + graph_.node(id).op_name());
      if (fused == nullptr || !MayMove(graph_.node(id))) continue;
      TRY(Fuse(id, *fused));
    }
    return OkStatus();
  }

 private:
  // Who reads a node's outputs or waits for it: how many times, and the last one found.
  struct Use {
    int reads = 0;
    int waits = 0;
    NodeId reader = kNoNode;
  };
  // What a reader does to the value: the name that stands for it in fused_ops, and its other input.
  struct Step {
    std::string name;
    std::optional<OutputRef> arg = {};
  };
  // The members of a fused node so far, and its attributes.
  struct Chain {
    std::vector<NodeId> members;
    std::vector<std::string> fused_ops;
    std::vector<OutputRef> args;
    AttrMap attrs;
  };

  void CountReaders(const std::vector<NodeId>& order) {
    uses_.assign(static_cast<size_t>(graph_.num_nodes()), {});
    for (const NodeId id : order) {
      for (const OutputRef& input : graph_.node(id).inputs) {
        Use& use = uses_[static_cast<size_t>(input.node)];
        ++use.reads;
        use.reader = id;
      }
      for (const NodeId control : graph_.node(id).control_inputs) {
        ++uses_[static_cast<size_t>(control)].waits;
      }
    }
  }

  bool MayMove(const Node& node) const {
    return node.op->traits.pure && node.outputs.size() == 1 && !ReadsVariable(graph_, node) &&
           !IsControlFlow(node);
  }

  // The only reader of the node's value, when nobody waits for the node.
  NodeId OnlyReader(NodeId id) const {
    const Use& use = uses_[static_cast<size_t>(id)];
    return use.reads == 1 && use.waits == 0 ? use.reader : kNoNode;
  }

  static std::string_view DataFormat(const AttrMap& attrs) {
    const AttrValue* value = FindAttr(attrs, "data_format");
    const std::string* format = value == nullptr ? nullptr : value->Get<std::string>();
    return format == nullptr ? std::string_view("NHWC") : std::string_view(*format);
  }
  static bool IsChannelsFirst(const AttrMap& attrs) {
    return DataFormat(attrs).substr(0, 2) == "NC";
  }

  // What `reader` does to the value of `last`, if it can follow `root`.
  std::optional<Step> StepOf(const Node& root, NodeId last, const Node& reader) const {
    const std::string& op = reader.op_name();
    if (reader.inputs.size() == 1) return Step{op};
    if (reader.inputs.size() != 2) return std::nullopt;
    const bool is_first = reader.inputs[0].node == last;
    const OutputRef other = reader.inputs[is_first ? 1 : 0];
    if (op == "BiasAdd" || op == "BiasAddV1") {
      const bool agrees = IsChannelsFirst(reader.attrs) == IsChannelsFirst(root.attrs);
      return is_first && agrees ? std::optional(Step{"BiasAdd", other}) : std::nullopt;
    }
    if (op != "Add" && op != "AddV2") return std::nullopt;
    const Shape& output = graph_.node(last).outputs[0].shape;
    const Shape& shape = graph_.output(other).shape;
    if (!output.has_rank() || output.rank() < 2 || !shape.IsFullyKnown()) return std::nullopt;
    if (shape == output) return Step{"Add", other};
    const bool is_bias = shape.rank() == 1 && shape.dim(0) == output.dim(output.rank() - 1) &&
                         !IsChannelsFirst(root.attrs);
    return is_bias ? std::optional(Step{"BiasAdd", other}) : std::nullopt;
  }

  // The chain's attributes with its list of ops, if the fused op takes them.
  std::optional<DecodedOp> Decode(const OpInfo& fused, Chain& chain) const {
    SetAttr(chain.attrs, "fused_ops", chain.fused_ops);
    SetAttr(chain.attrs, "num_args", static_cast<int64_t>(chain.args.size()));
    std::vector<DType> inputs;
    for (const OutputRef& input : graph_.node(chain.members.front()).inputs) {
      inputs.push_back(graph_.output(input).dtype);
    }
    for (const OutputRef& arg : chain.args) inputs.push_back(graph_.output(arg).dtype);
    if (!CompleteAttrs(fused.def, inputs, &chain.attrs).ok()) return std::nullopt;
    const Result<NodeTypes> types = ExpandTypes(fused.def, chain.attrs);
    if (!types.ok()) return std::nullopt;
    Result<DecodedOp> decoded = fused.decode(chain.attrs, *types);
    return decoded.ok() ? std::optional(*std::move(decoded)) : std::nullopt;
  }

  // Adds the reader of the chain's value to it; false when it is none that can follow.
  bool Extend(const OpInfo& fused, Chain& chain) const {
    const Node& root = graph_.node(chain.members.front());
    const NodeId last = chain.members.back(), next = OnlyReader(last);
    if (next == kNoNode) return false;
    const Node& reader = graph_.node(next);
    if (!MayMove(reader) || reader.device != root.device) return false;
    const std::optional<Step> step = StepOf(root, last, reader);
    if (!step) return false;
    Chain longer = chain;
    longer.members.push_back(next);
    longer.fused_ops.push_back(step->name);
    if (step->arg) longer.args.push_back(*step->arg);
    if (const AttrValue* alpha = FindAttr(reader.attrs, "alpha")) {
      SetAttr(longer.attrs, "leakyrelu_alpha", *alpha);
    }
    if (!Decode(fused, longer)) return false;
    chain = std::move(longer);
    return true;
  }

  Status Fuse(NodeId root, const OpInfo& fused) {
    Chain chain{.members = {root}, .fused_ops = {}, .args = {}, .attrs = {}};
    for (const AttrDef& def : fused.def.attrs) {
      if (const AttrValue* value = FindAttr(graph_.node(root).attrs, def.name)) {
        SetAttr(chain.attrs, def.name, *value);
      }
    }
    while (Extend(fused, chain)) {
    }
    // A filter that does not change is worth a node of its own: that converts it once.
    const bool has_filter = fused.def.FindAttr("constant_filter") != nullptr;
    const bool is_constant =
        has_filter && IsFreeConstant(graph_.node(graph_.node(root).inputs[1].node));
    if (is_constant) SetAttr(chain.attrs, "constant_filter", true);
    if (chain.fused_ops.empty() && !is_constant) return OkStatus();
    const std::optional<DecodedOp> decoded = Decode(fused, chain);
    if (decoded) Become(fused, std::move(chain), *decoded);
    return OkStatus();
  }

  // The last member becomes the fused node: its readers need not know.
  void Become(const OpInfo& fused, Chain chain, DecodedOp decoded) {
    std::vector<OutputRef> inputs = graph_.node(chain.members.front()).inputs;
    inputs.insert(inputs.end(), chain.args.begin(), chain.args.end());
    std::vector<NodeId> controls;
    for (const NodeId id : chain.members) {
      for (const NodeId control : graph_.node(id).control_inputs) {
        if (std::find(controls.begin(), controls.end(), control) == controls.end()) {
          controls.push_back(control);
        }
      }
      if (id != chain.members.back()) graph_.RemoveNode(id);
    }
    Node& node = graph_.node(chain.members.back());
    node.op = &fused;
    node.inputs = std::move(inputs);
    node.control_inputs = std::move(controls);
    node.attrs = std::move(chain.attrs);
    node.decoded = std::move(decoded);
    node.extra = nullptr;
  }

  Graph& graph_;
  std::vector<Use> uses_;  // by node
};

}  // namespace

Status FuseEpilogues(Graph& graph) { return EpilogueFuser(graph).Run(); }

}  // namespace penstock
