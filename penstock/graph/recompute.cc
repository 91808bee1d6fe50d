#include "penstock/graph/recompute.h"

#include <set>

namespace penstock {
namespace {

// The segment of a node, or null.
const std::string* SegmentOf(const Node& node) {
  const AttrValue* attr = FindAttr(node.attrs, kRecomputeAttr);
  return attr == nullptr ? nullptr : attr->Get<std::string>();
}

// What is the same whenever it is read: constants, and what only names a variable.
bool IsFixed(const Graph& graph, OutputRef value) {
  const OutputInfo& info = graph.output(value);
  return graph.node(value.node).op_name() == "Const" || info.is_ref ||
         info.dtype == DType::kResource;
}

}  // namespace

void MarkSegment(Graph& graph, NodeId first) {
  const std::string name = graph.UniqueScope("recompute");
  for (NodeId id = first; id < graph.num_nodes(); ++id) {
    if (!graph.IsLive(id) || SegmentOf(graph.node(id)) != nullptr) continue;
    SetAttr(graph.node(id).attrs, kRecomputeAttr, name);
  }
}

bool HoldsBack(const Node& node) {
  const AttrValue* attr = FindAttr(node.attrs, kRecomputeAttr);
  return attr != nullptr && attr->Get<bool>() != nullptr;
}

void Recomputation::Note(NodeId node, const std::vector<Expr>& arrived, NodeId first, NodeId end) {
  const std::string* name = SegmentOf(graph_.node(node));
  if (name == nullptr || first == end) return;
  Segment& segment = segments_[*name];
  for (const Expr& dy : arrived) {
    // Nodes are differentiated backwards: what comes to the first depends on none of the others.
    if (segment.arrived.node == kNoNode && dy.valid()) segment.arrived = dy.ref();
  }
  for (NodeId id = first; id < end; ++id) segment.readers.push_back(id);
}

Status Recomputation::Apply() {
  for (auto& [name, segment] : segments_) {
    for (const NodeId reader : segment.readers) {
      if (!graph_.IsLive(reader)) continue;
      for (size_t i = 0; i < graph_.node(reader).inputs.size(); ++i) {
        const OutputRef input = graph_.node(reader).inputs[i];
        if (!IsInside(name, input.node)) continue;
        TRY_ASSIGN(graph_.node(reader).inputs[i], Late(name, segment, input));
      }
    }
  }
  return OkStatus();
}

bool Recomputation::IsInside(const std::string& name, NodeId id) const {
  if (id == kNoNode) return false;
  const Node& node = graph_.node(id);
  const std::string* own = SegmentOf(node);
  return own != nullptr && *own == name && node.op->traits.pure && !node.inputs.empty();
}

// A value of the segment or one that enters it, as its derivative sees it.
Result<OutputRef> Recomputation::Late(const std::string& name, Segment& segment, OutputRef value) {
  if (IsFixed(graph_, value)) return value;
  if (!IsInside(name, value.node)) return HeldBack(segment, value);
  if (!segment.copies.contains(value.node)) TRY(CopyNodes(name, segment, value.node));
  return OutputRef{segment.copies.at(value.node), value.port};
}

Result<OutputRef> Recomputation::HeldBack(Segment& segment, OutputRef value) {
  OutputRef& held = segment.entering[{value.node, value.port}];
  if (held.node != kNoNode) return held;
  const CallSite site = graph_.node(value.node).site;
  if (segment.ready == kNoNode) {
    TRY_ASSIGN(segment.ready,
               graph_.AddNode({.op = "Identity",
                               .name = graph_.node(segment.arrived.node).name + "/arrived",
                               .inputs = {segment.arrived},
                               .site = site}));
  }
  TRY_ASSIGN(const NodeId late, graph_.AddNode({.op = "Identity",
                                                .name = graph_.node(value.node).name + "/late",
                                                .inputs = {value},
                                                .control_inputs = {segment.ready},
                                                .attrs = {{kRecomputeAttr, true}},
                                                .device = graph_.node(value.node).device,
                                                .site = site}));
  held = {late, 0};
  return held;
}

// Copies `last` and what it needs of the segment. Without recursion: segments may be long chains.
Status Recomputation::CopyNodes(const std::string& name, Segment& segment, NodeId last) {
  std::set<NodeId> needed;
  std::vector<NodeId> open = {last};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (segment.copies.contains(id) || !needed.insert(id).second) continue;
    for (const OutputRef& input : graph_.node(id).inputs) {
      if (IsInside(name, input.node)) open.push_back(input.node);
    }
  }
  for (const NodeId id : needed) {
    Node copy = graph_.node(id);
    copy.name = graph_.UniqueName(copy.name + "/again");
    copy.control_inputs.clear();
    std::erase_if(copy.attrs, [](const auto& attr) { return attr.first == kRecomputeAttr; });
    segment.copies[id] = graph_.AddCopy(copy);
  }
  for (const NodeId id : needed) {
    const NodeId copy = segment.copies.at(id);
    for (size_t i = 0; i < graph_.node(copy).inputs.size(); ++i) {
      TRY_ASSIGN(graph_.node(copy).inputs[i], Late(name, segment, graph_.node(copy).inputs[i]));
    }
  }
  return OkStatus();
}

}  // namespace penstock
