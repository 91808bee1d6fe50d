#include "penstock/graph/graph.h"

#include <algorithm>
#include <charconv>

#include "penstock/core/check.h"
#include "penstock/graph/extents.h"
#include "penstock/graph/function.h"
#include "penstock/graph/function_call.h"
#include "penstock/graph/node_check.h"

namespace penstock {
namespace {

std::string DescribeNode(std::string_view name, std::string_view op, const CallSite& site) {
  std::string out = Format("{{node {}}} = {}", Printable(name), Printable(op));
  if (site.known()) out += " (" + site.ToString() + ")";
  return out;
}

bool IsNameChar(char c, bool first) {
  const bool alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return alnum || c == '.' ||
         (!first && (c == '_' || c == '/' || c == '-' || c == '\\' || c == '>'));
}

// TensorFlow's rule for node names; those that passes make begin with '_'.
Status CheckName(std::string_view name) {
  bool ok = !name.empty() && name.size() < 100'000;
  for (size_t i = 0; ok && i < name.size(); ++i)
    ok = IsNameChar(name[i], i == 0) || (i == 0 && name[i] == '_');
  if (!ok)
    return InvalidArgument("\"{}\" is not a node name: letters, digits and . _ - / are",
                           Printable(name));
  return OkStatus();
}

// Where the back edge of a loop arrives: its source is made after it.
bool IsMerge(const OpInfo& op) { return op.def.name.ends_with("Merge"); }

// The shape that the maker of a resource declares for the value behind it: a source of state with
// an attribute "shape". That of a Placeholder is the shape of the handle itself.
const Shape* HandleShape(const Graph& graph, OutputRef ref) {
  for (int depth = 0; depth < 16; ++depth) {
    const Node& node = graph.node(ref.node);
    if (node.inputs.empty()) {
      if (!node.op->def.is_stateful) return nullptr;
      const AttrValue* shape = FindAttr(node.attrs, "shape");
      return shape == nullptr ? nullptr : shape->Get<Shape>();
    }
    if (node.op_name() != "Identity" || node.inputs[0].node == kNoNode) return nullptr;
    ref = node.inputs[0];
  }
  return nullptr;
}

}  // namespace

Graph::Graph() : Graph(StandardOps()) {}
Graph::Graph(const OpRegistry& registry)
    : registry_(&registry), library_(std::make_shared<FunctionLibrary>()) {}
Graph::~Graph() = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;

Graph Graph::Clone() const {
  Graph copy(*registry_);
  copy.nodes_ = nodes_;
  for (NodeId id = 0; id < copy.num_nodes(); ++id) {
    if (copy.IsLive(id)) copy.names_.emplace(copy.nodes_[id].name, id);
  }
  copy.versions_ = versions_;
  copy.scopes_ = scopes_;
  copy.library_ = library_;
  copy.extra = extra;
  copy.collections = collections;
  return copy;
}

FunctionLibrary& Graph::library() {
  if (library_.use_count() > 1) library_ = std::make_shared<FunctionLibrary>(*library_);
  return *library_;
}
const FunctionLibrary& Graph::library() const { return *library_; }

Status Graph::CheckInputs(const NodeSpec& spec, const OpInfo& op, const NodeTypes& types) const {
  if (spec.inputs.size() != types.inputs.size()) {
    return InvalidArgument("op {} takes {} inputs, got {}", op.def.name, types.inputs.size(),
                           spec.inputs.size());
  }
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    if (spec.inputs[i].node == kNoNode) continue;  // checked when the loop is closed
    const OutputInfo& from = output(spec.inputs[i]);
    if (from.dtype != types.inputs[i]) {
      return InvalidArgument("input {} must be {}, got {} from {}", i, types.inputs[i], from.dtype,
                             Describe(spec.inputs[i].node));
    }
    if (types.input_is_ref[i] && !from.is_ref) {
      return InvalidArgument("input {} must be a reference to a variable, got a value from {}", i,
                             Describe(spec.inputs[i].node));
    }
  }
  return OkStatus();
}

Result<NodeId> Graph::AddNode(NodeSpec spec) {
  const OpInfo* op = registry_->Find(spec.op);
  const std::string wanted = spec.name.empty() ? spec.op : spec.name;
  auto fail = [&](const Status& status) {
    return status.Annotate(DescribeNode(wanted, spec.op, spec.site));
  };
  if (op == nullptr) {
    std::vector<DType> given;
    for (const OutputRef& input : spec.inputs) {
      const bool exists =
          IsLive(input.node) &&
          InRange(input.port, static_cast<int64_t>(nodes_[input.node].outputs.size()));
      given.push_back(exists ? output(input).dtype : DType::kInvalid);
    }
    const Result<bool> is_call = TurnIntoCall(*library_, given, &spec);
    if (!is_call.ok()) return fail(is_call.status());
    if (*is_call) op = registry_->Find(spec.op);
  }
  if (op == nullptr) return fail(NotFound("op type {} is not registered", Printable(spec.op)));
  if (Status status = CheckName(wanted); !status.ok()) return fail(status);
  if (spec.exact_name && names_.contains(wanted))
    return fail(InvalidArgument("the name is taken by {}", Describe(FindNode(wanted))));

  std::vector<DType> input_types;
  for (const OutputRef& input : spec.inputs) {
    if (input.node == kNoNode && IsMerge(*op)) {
      input_types.push_back(DType::kInvalid);
      continue;
    }
    if (!IsLive(input.node))
      return fail(InvalidArgument("input node {} does not exist", input.node));
    if (!InRange(input.port, static_cast<int64_t>(nodes_[input.node].outputs.size()))) {
      return fail(InvalidArgument("{} has {} outputs, no output {}", Describe(input.node),
                                  nodes_[input.node].outputs.size(), input.port));
    }
    input_types.push_back(output(input).dtype);
  }
  for (const NodeId id : spec.control_inputs) {
    if (!IsLive(id)) return fail(InvalidArgument("control input node {} does not exist", id));
  }
  if (Status status = CompleteAttrs(op->def, input_types, &spec.attrs); !status.ok())
    return fail(status);
  Result<NodeTypes> types = ExpandTypes(op->def, spec.attrs);
  if (!types.ok()) return fail(types.status());
  if (Status status = CheckInputs(spec, *op, *types); !status.ok()) return fail(status);

  Node node;
  node.op = op;
  node.device = std::move(spec.device);
  node.inputs = std::move(spec.inputs);
  node.control_inputs = std::move(spec.control_inputs);
  node.attrs = std::move(spec.attrs);
  node.site = spec.site;
  node.outputs.resize(types->outputs.size());
  for (size_t i = 0; i < types->outputs.size(); ++i) {
    node.outputs[i].dtype = types->outputs[i];
    node.outputs[i].is_ref = types->output_is_ref[i];
  }
  if (op->decode) {
    Result<DecodedOp> decoded = op->decode(node.attrs, *types);
    if (!decoded.ok()) return fail(decoded.status());
    node.decoded = *std::move(decoded);
  }
  node.name = spec.exact_name ? wanted : UniqueName(wanted);
  const NodeId id = num_nodes();
  nodes_.push_back(std::move(node));
  names_.emplace(nodes_.back().name, id);
  if (Status status = InferNode(id); !status.ok()) {
    RemoveNode(id);
    nodes_.pop_back();
    return status;
  }
  return id;
}

NodeId Graph::AddCopy(const Node& node) {
  const NodeId id = num_nodes();
  nodes_.push_back(node);
  names_.emplace(nodes_.back().name, id);
  return id;
}

Status Graph::InferNode(NodeId id) {
  Node& target = nodes_[id];
  if (!target.op->infer || target.outputs.empty()) return OkStatus();
  constexpr size_t kSmall = 8;
  Known small_known[kSmall];
  std::vector<Known> large_known;
  std::span<Known> known(small_known, target.inputs.size());
  if (target.inputs.size() > kSmall) {
    large_known.resize(target.inputs.size());
    known = large_known;
  }
  std::deque<Shape> extents;
  for (size_t i = 0; i < target.inputs.size(); ++i) {
    const OutputRef input = target.inputs[i];
    if (input.node == kNoNode) return OkStatus();  // a loop that is not closed yet
    const OutputInfo& info = output(input);
    known[i] = {&info.shape, info.dtype, ConstantValue(*this, input), nullptr};
    if (info.dtype == DType::kResource) known[i].handle_shape = HandleShape(*this, input);
    if (known[i].value == nullptr && (info.dtype == DType::kInt32 || info.dtype == DType::kInt64)) {
      if (auto partial = KnownExtents(*this, input))
        known[i].extents = &extents.emplace_back(*std::move(partial));
    }
  }
  std::vector<Shape> shapes(target.outputs.size(), Shape::Unknown());
  Status status = target.op->infer(target.decoded.get(), known, shapes);
  for (size_t i = 0; status.ok() && i < shapes.size(); ++i) {
    Result<Shape> merged = MergeShapes(target.outputs[i].shape, shapes[i]);
    if (merged.ok()) {
      target.outputs[i].shape = *std::move(merged);
    } else {
      status = merged.status();
    }
  }
  if (status.ok()) return status;
  std::string sources;
  for (const OutputRef& input : target.inputs) {
    sources += Format("{}{} {} {}", sources.empty() ? "; inputs: " : ", ", Describe(input.node),
                      output(input).dtype, output(input).shape);
  }
  return Status(status.code(), Describe(id) + ": " + status.message() + sources);
}

Result<DecodedOp> Graph::Redecode(NodeId id) const {
  const Node& target = nodes_[id];
  TRY_ASSIGN(const NodeTypes types, ExpandTypes(target.op->def, target.attrs));
  return target.op->decode(target.attrs, types);
}

Status Graph::SetInput(NodeId id, int index, OutputRef ref) {
  if (!IsLive(ref.node) ||
      !InRange(ref.port, static_cast<int64_t>(nodes_[ref.node].outputs.size()))) {
    return InvalidArgument("{}: input {} does not exist", Describe(id), index);
  }
  Node& target = nodes_[id];
  const bool closes_loop = target.inputs[index].node == kNoNode;
  if (closes_loop) {
    TRY_ASSIGN(const NodeTypes types, ExpandTypes(target.op->def, target.attrs));
    if (output(ref).dtype != types.inputs[index]) {
      return InvalidArgument("{}: input {} must be {}, got {} from {}", Describe(id), index,
                             types.inputs[index], output(ref).dtype, Describe(ref.node));
    }
    if (types.input_is_ref[index] && !output(ref).is_ref) {
      return InvalidArgument("{}: input {} must be a reference to a variable, got a value from {}",
                             Describe(id), index, Describe(ref.node));
    }
  }
  target.inputs[index] = ref;
  return closes_loop ? InferNode(id) : OkStatus();
}

void Graph::AddControlInput(NodeId id, NodeId from) {
  std::vector<NodeId>& controls = nodes_[id].control_inputs;
  if (std::find(controls.begin(), controls.end(), from) == controls.end()) controls.push_back(from);
}

int Graph::num_live_nodes() const {
  return static_cast<int>(
      std::count_if(nodes_.begin(), nodes_.end(), [](const Node& n) { return n.op != nullptr; }));
}

NodeId Graph::FindNode(std::string_view name) const {
  const auto it = names_.find(name);
  return it == names_.end() ? kNoNode : it->second;
}

Result<OutputRef> Graph::FindOutput(std::string_view name) const {
  OutputRef ref;
  std::string_view node_name = name;
  if (const size_t colon = name.rfind(':'); colon != std::string_view::npos) {
    const std::string_view digits = name.substr(colon + 1);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), ref.port);
    if (error != std::errc() || end != digits.data() + digits.size() || ref.port < 0) {
      return InvalidArgument("\"{}\" is not of the form node:output", Printable(name));
    }
    node_name = name.substr(0, colon);
  }
  ref.node = FindNode(node_name);
  if (ref.node == kNoNode)
    return NotFound("no node named \"{}\" (asked for output \"{}\")", Printable(node_name),
                    Printable(name));
  if (!InRange(ref.port, static_cast<int64_t>(nodes_[ref.node].outputs.size()))) {
    return InvalidArgument("{} has {} outputs, no output {}", Describe(ref.node),
                           nodes_[ref.node].outputs.size(), ref.port);
  }
  return ref;
}

std::string Graph::NameOf(OutputRef ref) const {
  return nodes_[ref.node].name + ":" + std::to_string(ref.port);
}

std::string Graph::Describe(NodeId id) const {
  if (!IsLive(id)) return Format("node {}", id);
  return DescribeNode(nodes_[id].name, nodes_[id].op_name(), nodes_[id].site);
}

void Graph::RemoveNode(NodeId id) {
  names_.erase(nodes_[id].name);
  nodes_[id] = Node();
}

void Graph::ReplaceUses(OutputRef from, OutputRef to) {
  for (Node& node : nodes_) {
    for (OutputRef& input : node.inputs) {
      if (input == from) input = to;
    }
  }
}

Result<std::vector<NodeId>> Graph::TopologicalOrder() const {
  const int n = num_nodes();
  std::vector<int32_t> waiting(n, 0);
  std::vector<int32_t> first(n + 1, 0);
  auto for_each_source = [&](NodeId id, auto&& f) {
    const bool closes_loop = IsMerge(*nodes_[id].op);
    for (const OutputRef& input : nodes_[id].inputs) {
      if (input.node == kNoNode) continue;
      if (closes_loop && nodes_[input.node].op_name().ends_with("NextIteration")) continue;
      f(input.node);
    }
    for (const NodeId control : nodes_[id].control_inputs) f(control);
  };
  size_t live = 0;
  for (NodeId id = 0; id < n; ++id) {
    if (!IsLive(id)) continue;
    ++live;
    for_each_source(id, [&](NodeId from) {
      ++waiting[id];
      ++first[from + 1];
    });
  }
  for (NodeId id = 0; id < n; ++id) first[id + 1] += first[id];
  std::vector<NodeId> consumers(first[n]);
  std::vector<int32_t> fill(first.begin(), first.end() - 1);
  for (NodeId id = 0; id < n; ++id) {
    if (IsLive(id)) for_each_source(id, [&](NodeId from) { consumers[fill[from]++] = id; });
  }
  std::vector<NodeId> order;
  order.reserve(live);
  for (NodeId id = 0; id < n; ++id) {
    if (IsLive(id) && waiting[id] == 0) order.push_back(id);
  }
  for (size_t at = 0; at < order.size(); ++at) {
    const NodeId id = order[at];
    for (int32_t i = first[id]; i < first[id + 1]; ++i) {
      if (--waiting[consumers[i]] == 0) order.push_back(consumers[i]);
    }
  }
  if (order.size() == live) return order;
  for (NodeId id = 0; id < n; ++id) {
    if (IsLive(id) && waiting[id] > 0)
      return InvalidArgument("the graph has a cycle through {}", Describe(id));
  }
  return Internal("topological order lost a node");
}

Status Graph::Verify() const {
  // A name that two nodes share stands in names_ once.
  if (names_.size() != static_cast<size_t>(num_live_nodes())) {
    for (NodeId id = 0; id < num_nodes(); ++id) {
      if (IsLive(id) && FindNode(nodes_[id].name) != id)
        return Internal("{}: the name is not unique", Describe(id));
    }
  }
  for (NodeId id = 0; id < num_nodes(); ++id) {
    if (!IsLive(id)) continue;
    const Node& node = nodes_[id];
    TRY_ASSIGN(const NodeTypes types, ExpandTypes(node.op->def, node.attrs));
    if (node.inputs.size() != types.inputs.size() || node.outputs.size() != types.outputs.size()) {
      return Internal("{}: expected {} inputs and {} outputs, found {} and {}", Describe(id),
                      types.inputs.size(), types.outputs.size(), node.inputs.size(),
                      node.outputs.size());
    }
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const OutputRef input = node.inputs[i];
      if (!IsLive(input.node) ||
          !InRange(input.port, static_cast<int64_t>(nodes_[input.node].outputs.size()))) {
        return Internal("{}: input {} does not exist", Describe(id), i);
      }
      if (output(input).dtype != types.inputs[i]) {
        return Internal("{}: input {} must be {}, found {}", Describe(id), i, types.inputs[i],
                        output(input).dtype);
      }
    }
    for (const NodeId control : node.control_inputs) {
      if (!IsLive(control))
        return Internal("{}: control input {} does not exist", Describe(id), control);
    }
  }
  TRY(TopologicalOrder());
  return OkStatus();
}

std::string Graph::UniqueName(std::string_view base) const {
  if (!names_.contains(base)) return std::string(base);
  int& suffix = next_suffix_[std::string(base)];
  for (;;) {
    std::string name = std::string(base) + "_" + std::to_string(++suffix);
    if (!names_.contains(name)) return name;
  }
}

std::string Graph::UniqueScope(std::string_view base) {
  const std::string wanted(base);
  for (;;) {
    const int taken = scopes_[wanted]++;
    if (taken == 0) return wanted;
    // "dense_1" may have been asked for by that name before.
    std::string name = wanted + "_" + std::to_string(taken);
    if (scopes_.emplace(name, 1).second) return name;
  }
}

size_t Graph::MemoryBytes() const {
  size_t bytes = sizeof *this;
  auto heap = [](const std::string& s) { return s.capacity() > 15 ? s.capacity() + 1 : 0; };
  for (const Node& node : nodes_) {
    bytes += sizeof node + heap(node.name) + heap(node.device);
    bytes += node.inputs.capacity() * sizeof(OutputRef) +
             node.control_inputs.capacity() * sizeof(NodeId);
    bytes += node.outputs.capacity() * sizeof(OutputInfo) +
             node.attrs.capacity() * sizeof(AttrMap::value_type);
    for (const auto& [name, value] : node.attrs) bytes += heap(name);
  }
  // A hash table entry: the pair, a next pointer and a cached hash, and its share of the buckets.
  return bytes + names_.size() * (sizeof(std::pair<std::string_view, NodeId>) + 3 * sizeof(void*));
}

const Tensor* ConstantValue(const Graph& graph, OutputRef ref) {
  for (int depth = 0; depth < 16; ++depth) {
    const Node& node = graph.node(ref.node);
    if (node.op_name() == "Const") {
      const AttrValue* value = FindAttr(node.attrs, "value");
      return value == nullptr ? nullptr : value->Get<Tensor>();
    }
    if (node.op_name() != "Identity" || node.inputs.empty() || node.inputs[0].node == kNoNode)
      return nullptr;
    ref = node.inputs[0];
  }
  return nullptr;
}

}  // namespace penstock
