#include "penstock/graph/graph_def.h"

#include <google/protobuf/arena.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "penstock/core/checked.h"
#include "penstock/graph/function.h"
#include "penstock/graph/function_call.h"
#include "penstock/graph/function_def.h"
#include "penstock/graph/node_check.h"
#include "penstock/graph/node_def.h"
#include "penstock/graph/wire.h"
#include "penstock/proto/graph.pb.h"

namespace penstock {
namespace {

// An input as a NodeDef spells it: "x", "x:1" or "^x".
struct InputName {
  std::string_view node;
  int32_t port = 0;
  bool is_control = false;
};

InputName ParseInput(std::string_view text) {
  if (text.starts_with('^')) return {text.substr(1), 0, true};
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {text, 0, false};
  InputName input{text.substr(0, colon), 0, false};
  const std::string_view digits = text.substr(colon + 1);
  const bool all_digits = !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) {
    return c >= '0' && c <= '9';
  });
  if (!all_digits) return {text, 0, false};  // no node can have that name
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), input.port);
  if (error != std::errc()) input.port = std::numeric_limits<int32_t>::max();
  return input;
}

// An edge, at its consumer. Sources lie in the message, or in the graph that is extended.
struct Edge {
  int32_t source = -1;        // index in the message
  NodeId existing = kNoNode;  // or a node that is already there
  int32_t port = 0;
  bool is_control = false;
  bool is_back = false;
};

Status CheckVersions(const tf::VersionDef& versions) {
  if (versions.min_consumer() > kGraphDefVersion) {
    return InvalidArgument(
        "GraphDef min consumer version {} above current version {} for Penstock.  Please upgrade "
        "Penstock.",
        versions.min_consumer(), kGraphDefVersion);
  }
  const auto& bad = versions.bad_consumers();
  if (std::find(bad.begin(), bad.end(), kGraphDefVersion) != bad.end()) {
    return InvalidArgument(
        "GraphDef disallows consumer version {}.  Please upgrade Penstock: this version is likely "
        "buggy.",
        kGraphDefVersion);
  }
  return OkStatus();
}

// A graph of parts written by several programs needs what each of them needs.
void MergeVersions(const tf::VersionDef& from, bool is_first, GraphVersions* to) {
  to->producer = is_first ? from.producer() : std::min(to->producer, from.producer());
  to->min_consumer = std::max(to->min_consumer, from.min_consumer());
  for (const int version : from.bad_consumers()) {
    if (std::find(to->bad_consumers.begin(), to->bad_consumers.end(), version) ==
        to->bad_consumers.end()) {
      to->bad_consumers.push_back(version);
    }
  }
}

// All of a GraphDef but nodes, functions and versions. That versions or a library were there, if
// empty, is kept too.
Result<std::string> RestOf(const tf::GraphDef& proto) {
  tf::GraphDef rest;
  if (proto.has_debug_info()) *rest.mutable_debug_info() = proto.debug_info();
  rest.set_version(proto.version());
  if (proto.has_versions()) CopyUnknownFields(proto.versions(), rest.mutable_versions());
  if (proto.has_library()) rest.mutable_library();
  CopyUnknownFields(proto, &rest);
  return ToWire(rest);
}

// One import of one message into one graph.
class Importer {
 public:
  Importer(const tf::GraphDef& proto, const ImportLimits& limits, Graph* graph)
      : proto_(proto), graph_(*graph), budget_(limits), is_extension_(graph->num_nodes() > 0) {}

  Status Import() {
    TRY(CheckVersions(proto_.versions()));
    // Nothing of the graph is touched before all that can fail without nodes has succeeded.
    FunctionLibrary library = std::as_const(graph_).library();
    TRY(AddToLibrary(proto_.library(), &budget_, &library));
    TRY_ASSIGN(const std::string extra, RestOf(proto_));
    TRY(IndexNames(library));
    TRY(ReadEdges());
    TRY_ASSIGN(const std::vector<int32_t> order, Order());
    // Nodes may call functions that came with them.
    if (proto_.has_library()) std::swap(graph_.library(), library);
    if (Status status = AddNodes(order); !status.ok()) {
      for (const NodeId id : ids_) {
        if (id != kNoNode) graph_.RemoveNode(id);
      }
      if (proto_.has_library()) graph_.library() = std::move(library);
      return status;
    }
    MergeVersions(proto_.versions(), !is_extension_, &graph_.versions());
    graph_.extra += extra;
    return OkStatus();
  }

 private:
  const tf::NodeDef& def(int32_t i) const { return proto_.node(i); }
  std::string Quoted(int32_t i) const { return "'" + Printable(def(i).name()) + "'"; }

  Status IndexNames(const FunctionLibrary& library) {
    const int n = proto_.node_size();
    index_.reserve(static_cast<size_t>(n));
    for (int i = 0; i < n; ++i) {
      const std::string& name = def(i).name();
      if (name.empty())
        return InvalidArgument("a node of op '{}' has no name", Printable(def(i).op()));
      if (is_extension_ && graph_.FindNode(name) != kNoNode) {
        return InvalidArgument(
            "GraphDef argument to Extend includes node {}, which was created by a previous call to "
            "Create or Extend "
            "in this session.",
            Quoted(i));
      }
      if (!index_.emplace(name, i).second)
        return InvalidArgument("Node {} is not unique", Quoted(i));
      if (graph_.registry().Find(def(i).op()) == nullptr &&
          !library.functions.contains(def(i).op())) {
        return NotFound("Op type not registered '{}' (node {})", Printable(def(i).op()), Quoted(i));
      }
    }
    return OkStatus();
  }

  Status ReadEdges() {
    const int n = proto_.node_size();
    first_edge_.reserve(static_cast<size_t>(n) + 1);
    for (int i = 0; i < n; ++i) {
      first_edge_.push_back(edges_.size());
      const bool is_merge = def(i).op().ends_with("Merge");
      bool control_seen = false;
      for (const std::string& text : def(i).input()) {
        const InputName input = ParseInput(text);
        if (control_seen && !input.is_control) {
          return InvalidArgument(
              "Node {}: Control dependencies must come after regular dependencies", Quoted(i));
        }
        control_seen = input.is_control;
        Edge edge;
        edge.port = input.port;
        edge.is_control = input.is_control;
        if (const auto found = index_.find(input.node); found != index_.end()) {
          edge.source = found->second;
          edge.is_back =
              is_merge && !input.is_control && def(edge.source).op().ends_with("NextIteration");
        } else {
          edge.existing = graph_.FindNode(input.node);
          if (edge.existing == kNoNode) {
            return InvalidArgument("Node {}: Unknown input node '{}'", Quoted(i),
                                   Printable(input.node));
          }
        }
        edges_.push_back(edge);
      }
    }
    first_edge_.push_back(edges_.size());
    return OkStatus();
  }

  // Each node after its inputs, and otherwise in the order of the message. Depth first on a stack
  // of our own: a chain of a million nodes is a depth of a million.
  Result<std::vector<int32_t>> Order() const {
    enum State : uint8_t { kNew, kOpen, kDone };
    struct Visit {
      int32_t node;
      size_t next_edge;
    };
    const int n = proto_.node_size();
    std::vector<State> state(static_cast<size_t>(n), kNew);
    std::vector<int32_t> order;
    order.reserve(static_cast<size_t>(n));
    std::vector<Visit> stack;
    auto open = [&](int32_t node) {
      state[node] = kOpen;
      stack.push_back({node, first_edge_[node]});
    };
    for (int root = 0; root < n; ++root) {
      if (state[root] == kNew) open(root);
      while (!stack.empty()) {
        Visit& top = stack.back();
        if (top.next_edge == first_edge_[top.node + 1]) {
          state[top.node] = kDone;
          order.push_back(top.node);
          stack.pop_back();
          continue;
        }
        const Edge& edge = edges_[top.next_edge++];
        if (edge.source < 0 || edge.is_back || state[edge.source] == kDone) continue;
        if (state[edge.source] == kNew) {
          open(edge.source);
          continue;
        }
        std::string cycle = Quoted(edge.source);
        int named = 0;
        for (auto it = stack.rbegin(); it->node != edge.source; ++it) {
          if (++named > 8) {
            cycle += " -> ...";
            break;
          }
          cycle += " -> " + Quoted(it->node);
        }
        return InvalidArgument("the graph has a cycle: {} -> {}", cycle, Quoted(edge.source));
      }
    }
    return order;
  }

  Status AddNodes(const std::vector<int32_t>& order) {
    ids_.assign(order.size(), kNoNode);
    for (const int32_t i : order) {
      if (Status status = AddNode(i); !status.ok()) return status;
    }
    for (const auto& [i, index, edge] : open_inputs_) {
      TRY(graph_.SetInput(ids_[i], index, {ids_[edge->source], edge->port}));
    }
    return OkStatus();
  }

  Status AddNode(int32_t i) {
    NodeSpec spec;
    spec.op = def(i).op();
    spec.name = def(i).name();
    spec.exact_name = true;
    spec.device = def(i).device();
    for (size_t e = first_edge_[i]; e < first_edge_[i + 1]; ++e) {
      const Edge& edge = edges_[e];
      const NodeId id = edge.source >= 0 ? ids_[edge.source] : edge.existing;
      if (edge.is_control) {
        spec.control_inputs.push_back(id);
        continue;
      }
      if (id == kNoNode) open_inputs_.push_back({i, static_cast<int>(spec.inputs.size()), &edge});
      spec.inputs.push_back({id, edge.port});
    }
    std::shared_ptr<const std::string> extra;
    Status status = ReadNodeDef(def(i), UnknownValues::kError, &budget_, &spec.attrs, &extra);
    if (status.ok()) status = ChargeOutputs(spec);
    if (!status.ok()) return status.Annotate(Format("Node {} = {}", Quoted(i), Printable(spec.op)));
    TRY_ASSIGN(ids_[i], graph_.AddNode(std::move(spec)));
    graph_.node(ids_[i]).extra = std::move(extra);
    return ForgetScalarShape(graph_.node(ids_[i]));
  }

  // Up to this version a Placeholder says [] where it means that nothing is known. The attribute
  // stays as it came, for who writes the graph again.
  Status ForgetScalarShape(Node& node) {
    constexpr int kLastOfThem = 21;
    if (node.op_name() != "Placeholder" || proto_.versions().producer() > kLastOfThem)
      return OkStatus();
    const AttrValue* value = FindAttr(node.attrs, "shape");
    const Shape* shape = value == nullptr ? nullptr : value->Get<Shape>();
    if (shape == nullptr || shape->rank() != 0 || !node.op->decode) return OkStatus();
    AttrMap attrs = node.attrs;
    SetAttr(attrs, "shape", Shape::Unknown());
    TRY_ASSIGN(const NodeTypes types, ExpandTypes(node.op->def, attrs));
    TRY_ASSIGN(node.decoded, node.op->decode(attrs, types));
    node.outputs[0].shape = Shape::Unknown();
    return OkStatus();
  }

  // An attribute of a few bytes can ask for millions of outputs.
  Status ChargeOutputs(const NodeSpec& spec) {
    const OpInfo* op = graph_.registry().Find(spec.op);
    const auto& functions = std::as_const(graph_).library().functions;
    const OpDef& def = op != nullptr ? op->def : functions.find(spec.op)->second->signature;
    for (const ArgDef& arg : def.outputs) {
      const bool is_typed = !arg.type_list_attr.empty();
      const std::string& length = is_typed ? arg.type_list_attr : arg.number_attr;
      const AttrValue* value = FindAttr(spec.attrs, length);
      if (const AttrDef* attr = def.FindAttr(length); value == nullptr && attr != nullptr)
        value = attr->default_value ? &*attr->default_value : nullptr;
      if (value == nullptr) continue;
      if (const auto* count = value->Get<int64_t>()) {
        TRY(budget_.Charge(*count, sizeof(OutputInfo)));
      } else if (const auto* types = value->Get<std::vector<DType>>()) {
        TRY(budget_.Charge(static_cast<int64_t>(types->size()), sizeof(OutputInfo)));
      }
    }
    return OkStatus();
  }

  struct OpenInput {
    int32_t node;
    int index;
    const Edge* edge;
  };

  const tf::GraphDef& proto_;
  Graph& graph_;
  ImportBudget budget_;
  const bool is_extension_;
  std::unordered_map<std::string_view, int32_t> index_;
  std::vector<size_t> first_edge_;  // of each node of the message, and the end
  std::vector<Edge> edges_;
  std::vector<NodeId> ids_;
  std::vector<OpenInput> open_inputs_;  // of Merges whose NextIteration came later
};

Status WriteNode(const Graph& graph, const Node& node, tf::NodeDef* proto) {
  std::string op = node.op_name();
  AttrMap attrs = node.attrs;
  TurnIntoOp(&op, &attrs);
  TRY(WriteNodeDef(attrs, node.extra, proto));
  proto->set_name(node.name);
  proto->set_op(op);
  proto->set_device(node.device);
  for (const OutputRef& input : node.inputs) {
    if (!graph.IsLive(input.node)) return Internal("an input does not exist");
    proto->add_input(input.port == 0 ? graph.node(input.node).name : graph.NameOf(input));
  }
  for (const NodeId control : node.control_inputs) {
    if (!graph.IsLive(control)) return Internal("a control input does not exist");
    proto->add_input("^" + graph.node(control).name);
  }
  return OkStatus();
}

void WriteVersions(const GraphVersions& versions, tf::GraphDef* proto) {
  if (versions.producer == 0 && versions.min_consumer == 0 && versions.bad_consumers.empty())
    return;
  tf::VersionDef* out = proto->mutable_versions();
  out->set_producer(versions.producer);
  out->set_min_consumer(versions.min_consumer);
  out->mutable_bad_consumers()->Assign(versions.bad_consumers.begin(),
                                       versions.bad_consumers.end());
}

// Messages of a million nodes are made and dropped as one.
tf::GraphDef* NewGraphDef(google::protobuf::Arena* arena) {
  return google::protobuf::Arena::CreateMessage<tf::GraphDef>(arena);
}

}  // namespace

Result<Graph> GraphFromProto(const tf::GraphDef& proto, const OpRegistry& registry,
                             const ImportLimits& limits) {
  Graph graph(registry);
  TRY(ExtendGraph(&graph, proto, limits));
  return graph;
}

Result<Graph> ParseGraphDef(std::string_view wire, const OpRegistry& registry,
                            const ImportLimits& limits) {
  Graph graph(registry);
  TRY(ExtendGraph(&graph, wire, limits));
  return graph;
}

Result<Graph> ParseGraphDefText(std::string_view text, const OpRegistry& registry,
                                const ImportLimits& limits) {
  google::protobuf::Arena arena;
  tf::GraphDef* proto = NewGraphDef(&arena);
  TRY(FromText(text, proto));
  return GraphFromProto(*proto, registry, limits);
}

Status ExtendGraph(Graph* graph, const tf::GraphDef& proto, const ImportLimits& limits) {
  return Importer(proto, limits, graph).Import();
}

Status ExtendGraph(Graph* graph, std::string_view wire, const ImportLimits& limits) {
  google::protobuf::Arena arena;
  tf::GraphDef* proto = NewGraphDef(&arena);
  TRY(FromWire(wire, limits.max_wire_bytes, proto));
  return ExtendGraph(graph, *proto, limits);
}

Status GraphToProto(const Graph& graph, tf::GraphDef* proto) {
  proto->Clear();
  TRY(FromWire(graph.extra, std::numeric_limits<int64_t>::max(), proto));
  WriteVersions(graph.versions(), proto);
  const FunctionLibrary& library = graph.library();
  if (!library.functions.empty() || !library.gradients.empty() || !library.extra.empty()) {
    TRY(LibraryToProto(library, proto->mutable_library()));
  }
  proto->mutable_node()->Reserve(graph.num_live_nodes());
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    if (!graph.IsLive(id)) continue;
    Status status = WriteNode(graph, graph.node(id), proto->add_node());
    if (!status.ok()) return status.Annotate(graph.Describe(id));
  }
  return OkStatus();
}

Result<std::string> SerializeGraphDef(const Graph& graph) {
  google::protobuf::Arena arena;
  tf::GraphDef* proto = NewGraphDef(&arena);
  TRY(GraphToProto(graph, proto));
  return ToWire(*proto);
}

}  // namespace penstock
