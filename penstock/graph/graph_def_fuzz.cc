// Bytes as a GraphDef over all ops, shape rules included: an error, or a graph that holds together
// and is written and read again as the same. A mutator of our own adds nodes that nearly fit: blind
// bytes seldom get past the first check.

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/check.h"
#include "penstock/graph/graph_def.h"
#include "penstock/graph/node_def.h"
#include "penstock/graph/registry.h"
#include "penstock/proto/graph.pb.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace penstock {
namespace {

ImportLimits Limits() {
  ImportLimits limits;
  limits.max_expanded_bytes = 16 << 20;
  return limits;
}

void Check(std::string_view wire) {
  const Result<Graph> graph = ParseGraphDef(wire, StandardOps(), Limits());
  if (!graph.ok()) return;
  const Status status = graph->Verify();
  CHECK(status.ok()) << status.ToString();
  graph->ToText();
  graph->ToDot();
  const Result<std::string> written = SerializeGraphDef(*graph);
  CHECK(written.ok()) << written.status().ToString();
  ImportLimits generous;
  const Result<Graph> again = ParseGraphDef(*written, StandardOps(), generous);
  CHECK(again.ok()) << again.status().ToString();
  const Result<std::string> rewritten = SerializeGraphDef(*again);
  CHECK(rewritten.ok() && *rewritten == *written) << graph->ToText() << again->ToText();
}

class Mutator {
 public:
  Mutator(tf::GraphDef* graph, uint32_t seed)
      : graph_(*graph), random_(seed), ops_(StandardOps().Names()) {}

  void Mutate() {
    const int n = graph_.node_size();
    switch (n == 0 ? 0 : Below(9)) {
      case 0:
      case 1:
      case 2:
        return AddNode();
      case 3:
        return graph_.mutable_node()->SwapElements(Below(n), Below(n));
      case 4:
        return graph_.mutable_node()->DeleteSubrange(Below(n), 1);
      case 5:
        return ChangeInput(graph_.mutable_node(Below(n)));
      case 6:
        return graph_.mutable_node(Below(n))->set_op(ops_[Below(static_cast<int>(ops_.size()))]);
      default:
        return ChangeAttr(graph_.mutable_node(Below(n)));
    }
  }

 private:
  int Below(int n) { return n <= 0 ? 0 : static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  template <class V>
  V OneOf(std::initializer_list<V> values) {
    return values.begin()[Below(static_cast<int>(values.size()))];
  }
  int64_t Number() {
    return OneOf<int64_t>({0, 1, 2, 3, 4, 5, 8, -1, -2, 254, 255, INT32_MAX, INT32_MIN,
                           int64_t{1} << 32, int64_t{1} << 62, INT64_MAX, INT64_MIN, Below(100)});
  }
  std::string NewName() { return "n" + std::to_string(random_() % 100000); }

  void FillShape(tf::TensorShapeProto* shape, bool partial) {
    if (partial && Below(8) == 0) return shape->set_unknown_rank(true);
    for (int i = Below(5); i > 0; --i) {
      shape->add_dim()->set_size(Below(16) == 0 ? Number() : Below(5) - (partial ? 1 : 0));
    }
  }

  // Values that kernels take for axes, sizes and indices.
  void FillTensor(DType dtype, tf::TensorProto* tensor) {
    tensor->set_dtype(static_cast<tf::DataType>(dtype));
    FillShape(tensor->mutable_tensor_shape(), false);
    for (int i = Below(5); i > 0; --i) {
      switch (dtype) {
        case DType::kInt64:
          tensor->add_int64_val(Number());
          break;
        case DType::kFloat:
          tensor->add_float_val(static_cast<float>(Number()));
          break;
        case DType::kDouble:
          tensor->add_double_val(static_cast<double>(Number()));
          break;
        case DType::kString:
          tensor->add_string_val("s");
          break;
        case DType::kBool:
          tensor->add_bool_val(Below(2));
          break;
        default:
          tensor->add_int_val(static_cast<int32_t>(Number()));
          break;
      }
    }
  }

  // A node whose first output is of that dtype: one that is there, or a new constant or
  // placeholder.
  std::string Source(DType dtype) {
    if (Below(2) == 0) {
      const int start = Below(graph_.node_size());
      for (int i = 0; i < graph_.node_size(); ++i) {
        const tf::NodeDef& node = graph_.node((start + i) % graph_.node_size());
        for (const char* name : {"dtype", "T"}) {
          const auto it = node.attr().find(name);
          if (it != node.attr().end() && it->second.type() == static_cast<int>(dtype))
            return node.name();
        }
      }
    }
    tf::NodeDef* node = graph_.add_node();
    node->set_name(NewName());
    auto& attrs = *node->mutable_attr();
    attrs["dtype"].set_type(static_cast<tf::DataType>(dtype));
    if (Below(2) == 0) {
      node->set_op("Placeholder");
      FillShape(attrs["shape"].mutable_shape(), true);
    } else {
      node->set_op("Const");
      FillTensor(dtype, attrs["value"].mutable_tensor());
    }
    return node->name();
  }

  tf::DataType AnyType(const AttrDef* def) {
    if (def == nullptr || def->allowed_types.empty() || Below(20) == 0)
      return static_cast<tf::DataType>(Below(26));
    return static_cast<tf::DataType>(
        def->allowed_types[Below(static_cast<int>(def->allowed_types.size()))]);
  }

  void FillAttr(const AttrDef& def, tf::AttrValue* value) {
    const bool is_list = def.kind.starts_with("list(");
    const std::string kind = is_list ? def.kind.substr(5, def.kind.size() - 6) : def.kind;
    auto* list = is_list ? value->mutable_list() : nullptr;
    const auto text = [&] {
      return def.allowed_strings.empty()
                 ? std::string("s")
                 : def.allowed_strings[Below(static_cast<int>(def.allowed_strings.size()))];
    };
    for (int i = is_list ? Below(6) : 1; i > 0; --i) {
      if (kind == "int") is_list ? list->add_i(Number()) : value->set_i(Number());
      if (kind == "float") is_list ? list->add_f(1) : value->set_f(static_cast<float>(Number()));
      if (kind == "bool") is_list ? list->add_b(Below(2)) : value->set_b(Below(2));
      if (kind == "string") is_list ? list->add_s(text()) : value->set_s(text());
      if (kind == "type") is_list ? list->add_type(AnyType(&def)) : value->set_type(AnyType(&def));
      if (kind == "shape") FillShape(is_list ? list->add_shape() : value->mutable_shape(), true);
      if (kind == "tensor")
        FillTensor(static_cast<DType>(Below(24)),
                   is_list ? list->add_tensor() : value->mutable_tensor());
      if (kind == "func") (is_list ? list->add_func() : value->mutable_func())->set_name("f");
    }
  }

  void AddNode() {
    const std::string op = ops_[Below(static_cast<int>(ops_.size()))];
    const OpDef& def = StandardOps().Find(op)->def;
    tf::NodeDef node;
    node.set_name(NewName());
    node.set_op(op);
    auto& attrs = *node.mutable_attr();
    for (const AttrDef& attr : def.attrs) {
      if (!attr.default_value || Below(3) == 0) FillAttr(attr, &attrs[attr.name]);
    }
    for (const ArgDef& arg : def.inputs) {
      int count = 1;
      if (!arg.number_attr.empty()) {
        auto& number = attrs[arg.number_attr];
        if (number.i() < 1 || number.i() > 4) number.set_i(1 + Below(3));
        count = static_cast<int>(number.i());
      }
      if (!arg.type_list_attr.empty()) {
        for (const int type : attrs[arg.type_list_attr].list().type())
          node.add_input(Source(static_cast<DType>(type)));
        continue;
      }
      const DType dtype =
          arg.type_attr.empty() ? arg.dtype : static_cast<DType>(attrs[arg.type_attr].type());
      for (int i = 0; i < count; ++i) node.add_input(Source(dtype));
    }
    *graph_.add_node() = node;
  }

  void ChangeInput(tf::NodeDef* node) {
    std::string to = graph_.node(Below(graph_.node_size())).name();
    if (Below(3) == 0) to += ":" + std::to_string(Below(3));
    if (Below(5) == 0) to = "^" + to;
    if (node->input_size() == 0 || Below(4) == 0) {
      node->add_input(to);
    } else {
      node->set_input(Below(node->input_size()), to);
    }
  }

  void ChangeAttr(tf::NodeDef* node) {
    const OpInfo* op = StandardOps().Find(node->op());
    if (op == nullptr || op->def.attrs.empty()) return;
    const AttrDef& def = op->def.attrs[Below(static_cast<int>(op->def.attrs.size()))];
    tf::AttrValue& value = (*node->mutable_attr())[def.name];
    value.Clear();
    FillAttr(def, &value);
  }

  tf::GraphDef& graph_;
  std::mt19937 random_;
  const std::vector<std::string> ops_;
};

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  penstock::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  penstock::tf::GraphDef graph;
  if (seed % 4 != 0 && graph.ParseFromArray(data, static_cast<int>(size))) {
    penstock::Mutator mutator(&graph, seed);
    for (unsigned int i = 0; i <= seed / 4 % 3; ++i) mutator.Mutate();
    const std::string wire = graph.SerializeAsString();
    if (wire.size() <= max_size) {
      std::copy(wire.begin(), wire.end(), data);
      return wire.size();
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}
