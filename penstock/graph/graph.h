#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "penstock/core/status.h"
#include "penstock/graph/attr_value.h"
#include "penstock/graph/call_site.h"
#include "penstock/graph/registry.h"

namespace penstock {

using NodeId = int32_t;
inline constexpr NodeId kNoNode = -1;

// One output of one node: the source of an edge.
struct OutputRef {
  NodeId node = kNoNode;
  int32_t port = 0;
  bool operator==(const OutputRef&) const = default;
};

// What an edge carries.
struct OutputInfo {
  DType dtype = DType::kInvalid;
  bool is_ref = false;
  Shape shape = Shape::Unknown();
};

struct Node {
  std::string name;
  const OpInfo* op = nullptr;  // null: the node was removed
  std::string device;          // as the user asked, possibly partial
  std::vector<OutputRef> inputs;
  std::vector<NodeId> control_inputs;
  AttrMap attrs;
  std::vector<OutputInfo> outputs;
  DecodedOp decoded;
  CallSite site;
  std::shared_ptr<const std::string>
      extra;  // fields of a NodeDef that we do not understand, as they came

  const std::string& op_name() const { return op->def.name; }
};

// What AddNode is asked to make. Names are made unique from `name` (or the op's name) unless
// `exact_name`.
struct NodeSpec {
  std::string op = {};
  std::string name = {};
  bool exact_name = false;
  std::vector<OutputRef> inputs = {};
  std::vector<NodeId> control_inputs = {};
  AttrMap attrs = {};
  std::string device = {};
  CallSite site = {};
};

// TensorFlow's GRAPH_DEF_VERSION that we read and write.
inline constexpr int kGraphDefVersion = 2474;

// Versions of the program that wrote a graph, as in a GraphDef.
struct GraphVersions {
  int producer = kGraphDefVersion;
  int min_consumer = 0;
  std::vector<int> bad_consumers;
};

struct FunctionLibrary;  // graph/function.h

// A program as data: nodes are ids into a vector, edges are stored at their consumers.
// Every node was checked when it was added: op known, attributes complete and of the right kind,
// arity and dtypes right, shapes inferred. Passes may then rewire and remove; Verify tells whether
// the result is still a program. Threads: const methods may be called concurrently; a writer needs
// the graph for itself.
class Graph {
 public:
  // A graph over the ops of this library.
  Graph();
  explicit Graph(const OpRegistry& registry);
  ~Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;
  // Copies are made on purpose.
  Graph Clone() const;

  // Checks and adds a node. The error names node, op, the user's line, expected and actual. An
  // input of a Merge may be kNoNode until SetInput closes the loop.
  Result<NodeId> AddNode(NodeSpec spec);
  // Copies `node` of another graph over the same registry as it is; its edges are set by the
  // caller. Unchecked: for passes.
  NodeId AddCopy(const Node& node);

  int num_nodes() const { return static_cast<int>(nodes_.size()); }  // removed ones included
  int num_live_nodes() const;
  const Node& node(NodeId id) const { return nodes_[id]; }
  Node& node(NodeId id) { return nodes_[id]; }
  bool IsLive(NodeId id) const { return id >= 0 && id < num_nodes() && nodes_[id].op != nullptr; }
  const OutputInfo& output(OutputRef ref) const { return nodes_[ref.node].outputs[ref.port]; }

  // kNoNode when there is none.
  NodeId FindNode(std::string_view name) const;
  // "name:port" or "name" (port 0). NotFound names what was asked.
  Result<OutputRef> FindOutput(std::string_view name) const;
  std::string NameOf(OutputRef ref) const;
  // "{{node x}} = Add (file.cc:12)", for messages.
  std::string Describe(NodeId id) const;

  // For passes. Consumers are not told: see ReplaceUses.
  void RemoveNode(NodeId id);
  // Makes every consumer of `from` read `to`.
  void ReplaceUses(OutputRef from, OutputRef to);
  // Runs the shape rule again, from the present shapes and constants of the inputs; shapes only get
  // more specific.
  Status InferNode(NodeId id);
  // Reads the node's attributes into its op's struct again, after they were changed.
  Result<DecodedOp> Redecode(NodeId id) const;
  // Sets one input of a node that exists: closes a loop (then dtype and shape are checked),
  // rewires.
  Status SetInput(NodeId id, int index, OutputRef ref);
  void AddControlInput(NodeId id, NodeId from);

  // Live nodes, each after its inputs. The back edges of loops (NextIteration to Merge) do not
  // count. InvalidArgument names a node of a cycle.
  Result<std::vector<NodeId>> TopologicalOrder() const;
  // Checks all that AddNode promised and that passes could have broken.
  Status Verify() const;
  // A name not taken yet: `base`, or base_1, base_2, ...
  std::string UniqueName(std::string_view base) const;
  // The same for the prefix of a scope. The name counts as taken from then on.
  std::string UniqueScope(std::string_view base);
  // One line a node: "z = Add(x, y:1, ^init) {T: float} [2,3]".
  std::string ToText() const;
  // The same for Graphviz.
  std::string ToDot() const;

  const OpRegistry& registry() const { return *registry_; }
  GraphVersions& versions() { return versions_; }
  const GraphVersions& versions() const { return versions_; }
  FunctionLibrary& library();
  const FunctionLibrary& library() const;
  // Bytes of nodes, edges, attributes and names; constants' buffers not counted.
  size_t MemoryBytes() const;
  // Nodes by role, such as "initializers" and "trainable_variables"; kept in the order they were
  // added.
  std::map<std::string, std::vector<NodeId>> collections;
  // Fields of a GraphDef that we do not understand.
  std::string extra;

 private:
  Status CheckInputs(const NodeSpec& spec, const OpInfo& op, const NodeTypes& types) const;

  const OpRegistry* registry_;
  std::deque<Node> nodes_;  // stable addresses: names_ points into them
  std::unordered_map<std::string_view, NodeId> names_;
  std::unordered_map<std::string, int> scopes_;
  mutable std::unordered_map<std::string, int> next_suffix_;  // where UniqueName goes on
  GraphVersions versions_;
  std::shared_ptr<FunctionLibrary> library_;
};

// The value of an edge when it is a constant, or null. Looks through Identity.
const Tensor* ConstantValue(const Graph& graph, OutputRef ref);

}  // namespace penstock
