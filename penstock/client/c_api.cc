#include "penstock/client/c_api.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "penstock/client/c_api_handles.h"
#include "penstock/graph/graph_def.h"

using penstock::AttrValue;
using penstock::DType;
using penstock::InvalidArgument;
using penstock::Result;
using penstock::Shape;
using penstock::Status;
using penstock::Tensor;
using penstock::c_api::Guard;
using penstock::c_api::NotNull;

namespace {

Result<Shape> MakeShape(const int64_t* dims, int rank) {
  if (rank < 0 || rank > Shape::kMaxRank)
    return InvalidArgument("rank must be in [0, {}], got {}", Shape::kMaxRank, rank);
  if (rank > 0) TRY(NotNull(dims, "dims"));
  for (int i = 0; i < rank; ++i) {
    if (dims[i] < 0) return InvalidArgument("a dimension must not be negative, got {}", dims[i]);
  }
  return Shape::Make({dims, static_cast<size_t>(rank)});
}

Result<DType> MakeDType(PS_DType dtype) {
  if (dtype <= 0 || dtype >= penstock::kNumDTypes)
    return InvalidArgument("there is no dtype {}", dtype);
  return static_cast<DType>(dtype);
}

// Keeps the first error of a builder, and exceptions on this side.
template <class F>
void Describe(PS_NodeBuilder* builder, F&& body) {
  if (builder == nullptr || !builder->status.ok()) return;
  PS_Status status;
  if (!Guard(&status, body)) builder->status = status.status;
}

void SetAttr(PS_NodeBuilder* builder, const char* name, AttrValue value) {
  Describe(builder, [&]() -> Status {
    TRY(NotNull(name, "an attribute's name"));
    penstock::SetAttr(builder->spec.attrs, name, std::move(value));
    return penstock::OkStatus();
  });
}

}  // namespace

extern "C" {

const char* PS_Version(void) { return PENSTOCK_VERSION; }

PS_Status* PS_NewStatus(void) { return new (std::nothrow) PS_Status; }
void PS_DeleteStatus(PS_Status* status) { delete status; }
PS_Code PS_GetCode(const PS_Status* status) {
  return status == nullptr ? PS_OK : static_cast<int>(status->status.code());
}
const char* PS_Message(const PS_Status* status) {
  return status == nullptr ? "" : status->status.message().c_str();
}

PS_Tensor* PS_NewTensor(PS_DType dtype, const int64_t* dims, int rank, PS_Status* status) {
  PS_Tensor* out = nullptr;
  Guard(status, [&]() -> Status {
    TRY_ASSIGN(const DType type, MakeDType(dtype));
    TRY_ASSIGN(const Shape shape, MakeShape(dims, rank));
    TRY_ASSIGN(Tensor tensor, Tensor::Make(penstock::HostAllocator(), type, shape));
    if (penstock::IsPlain(type) && tensor.bytes() > 0)
      std::memset(tensor.mutable_raw(), 0, tensor.bytes());
    out = new PS_Tensor{std::move(tensor)};
    return penstock::OkStatus();
  });
  return out;
}

PS_Tensor* PS_NewTensorFromMemory(PS_DType dtype, const int64_t* dims, int rank, void* data,
                                  size_t bytes, void (*release)(void*), void* context,
                                  PS_Status* status) {
  PS_Tensor* out = nullptr;
  Guard(status, [&]() -> Status {
    TRY_ASSIGN(const DType type, MakeDType(dtype));
    TRY_ASSIGN(const Shape shape, MakeShape(dims, rank));
    if (!penstock::IsPlain(type))
      return InvalidArgument("memory of dtype {} cannot be viewed", type);
    const auto needed =
        penstock::CheckedMul(shape.num_elements(), static_cast<int64_t>(penstock::SizeOf(type)));
    if (!needed || static_cast<size_t>(*needed) != bytes) {
      return InvalidArgument("a tensor of {} {} does not take {} bytes", type, shape, bytes);
    }
    if (bytes > 0) TRY(NotNull(data, "data"));
    if (reinterpret_cast<uintptr_t>(data) % alignof(double) != 0 && penstock::SizeOf(type) > 1) {
      return InvalidArgument("data must be aligned to {} bytes", alignof(double));
    }
    auto owner = [release, context] {
      if (release != nullptr) release(context);
    };
    out = new PS_Tensor{Tensor::FromMemory(type, shape, data, owner)};
    return penstock::OkStatus();
  });
  return out;
}

void PS_DeleteTensor(PS_Tensor* tensor) { delete tensor; }
PS_DType PS_TensorDType(const PS_Tensor* tensor) {
  return tensor == nullptr ? 0 : static_cast<int>(tensor->tensor.dtype());
}
int PS_TensorRank(const PS_Tensor* tensor) {
  return tensor == nullptr ? 0 : tensor->tensor.shape().rank();
}
int64_t PS_TensorDim(const PS_Tensor* tensor, int axis) {
  if (tensor == nullptr || axis < 0 || axis >= tensor->tensor.shape().rank()) return 0;
  return tensor->tensor.shape().dim(axis);
}
int64_t PS_TensorSize(const PS_Tensor* tensor) {
  return tensor == nullptr ? 0 : tensor->tensor.num_elements();
}
size_t PS_TensorBytes(const PS_Tensor* tensor) {
  return tensor == nullptr ? 0 : tensor->tensor.bytes();
}
void* PS_TensorData(PS_Tensor* tensor) {
  if (tensor == nullptr || !penstock::IsPlain(tensor->tensor.dtype())) return nullptr;
  return tensor->tensor.mutable_raw();
}

void PS_TensorSetString(PS_Tensor* tensor, int64_t index, const char* bytes, size_t length,
                        PS_Status* status) {
  Guard(status, [&]() -> Status {
    TRY(NotNull(tensor, "tensor"));
    if (length > 0) TRY(NotNull(bytes, "bytes"));
    Tensor& value = tensor->tensor;
    if (value.dtype() != DType::kString)
      return InvalidArgument("the tensor holds {}, not strings", value.dtype());
    if (!penstock::InRange(index, value.num_elements())) {
      return InvalidArgument("index must be in [0, {}), got {}", value.num_elements(), index);
    }
    value.mutable_data<std::string>()[index].assign(length == 0 ? "" : bytes, length);
    return penstock::OkStatus();
  });
}

const char* PS_TensorString(const PS_Tensor* tensor, int64_t index, size_t* length,
                            PS_Status* status) {
  const char* out = nullptr;
  Guard(status, [&]() -> Status {
    TRY(NotNull(tensor, "tensor"));
    const Tensor& value = tensor->tensor;
    if (value.dtype() != DType::kString)
      return InvalidArgument("the tensor holds {}, not strings", value.dtype());
    if (!penstock::InRange(index, value.num_elements())) {
      return InvalidArgument("index must be in [0, {}), got {}", value.num_elements(), index);
    }
    const std::string& text = value.data<std::string>()[index];
    if (length != nullptr) *length = text.size();
    out = text.c_str();
    return penstock::OkStatus();
  });
  return out;
}

PS_Graph* PS_NewGraph(void) {
  PS_Graph* out = nullptr;
  Guard(nullptr, [&]() -> Status {
    out = new PS_Graph;
    return penstock::OkStatus();
  });
  return out;
}
void PS_DeleteGraph(PS_Graph* graph) { delete graph; }
int PS_GraphNumNodes(const PS_Graph* graph) {
  return graph == nullptr ? 0 : graph->graph.num_live_nodes();
}

void PS_GraphImport(PS_Graph* graph, const void* graph_def, size_t bytes, PS_Status* status) {
  Guard(status, [&]() -> Status {
    TRY(NotNull(graph, "graph"));
    TRY(NotNull(graph_def, "graph_def"));
    penstock::Graph copy = graph->graph.Clone();
    TRY(penstock::ExtendGraph(&copy, std::string_view(static_cast<const char*>(graph_def), bytes)));
    graph->graph = std::move(copy);
    return penstock::OkStatus();
  });
}

void* PS_GraphExport(const PS_Graph* graph, size_t* bytes, PS_Status* status) {
  void* out = nullptr;
  Guard(status, [&]() -> Status {
    TRY(NotNull(graph, "graph"));
    TRY(NotNull(bytes, "bytes"));
    TRY_ASSIGN(const std::string wire, penstock::SerializeGraphDef(graph->graph));
    out = std::malloc(std::max<size_t>(wire.size(), 1));
    if (out == nullptr) return penstock::ResourceExhausted("out of memory");
    std::memcpy(out, wire.data(), wire.size());
    *bytes = wire.size();
    return penstock::OkStatus();
  });
  return out;
}
void PS_Free(void* memory) { std::free(memory); }

PS_NodeBuilder* PS_NewNode(PS_Graph* graph, const char* op, const char* name) {
  PS_NodeBuilder* out = nullptr;
  Guard(nullptr, [&]() -> Status {
    out = new PS_NodeBuilder;
    out->status = NotNull(graph, "graph");
    if (out->status.ok()) out->status = NotNull(op, "op");
    if (!out->status.ok()) return penstock::OkStatus();
    out->graph = &graph->graph;
    out->spec.op = op;
    out->spec.name = name == nullptr ? op : name;
    return penstock::OkStatus();
  });
  return out;
}

void PS_NodeInput(PS_NodeBuilder* builder, const char* output) {
  Describe(builder, [&]() -> Status {
    TRY(NotNull(output, "an input"));
    TRY_ASSIGN(const penstock::OutputRef ref, builder->graph->FindOutput(output));
    builder->spec.inputs.push_back(ref);
    return penstock::OkStatus();
  });
}

void PS_NodeControlInput(PS_NodeBuilder* builder, const char* node) {
  Describe(builder, [&]() -> Status {
    TRY(NotNull(node, "a control input"));
    const penstock::NodeId id = builder->graph->FindNode(node);
    if (id == penstock::kNoNode)
      return penstock::NotFound("no node named \"{}\"", penstock::Printable(node));
    builder->spec.control_inputs.push_back(id);
    return penstock::OkStatus();
  });
}

void PS_NodeDevice(PS_NodeBuilder* builder, const char* device) {
  Describe(builder, [&]() -> Status {
    TRY(NotNull(device, "device"));
    builder->spec.device = device;
    return penstock::OkStatus();
  });
}

void PS_NodeAttrType(PS_NodeBuilder* builder, const char* name, PS_DType dtype) {
  const Result<DType> type = MakeDType(dtype);
  if (!type.ok()) {
    if (builder != nullptr && builder->status.ok()) builder->status = type.status();
    return;
  }
  SetAttr(builder, name, *type);
}
void PS_NodeAttrInt(PS_NodeBuilder* builder, const char* name, int64_t value) {
  SetAttr(builder, name, value);
}
void PS_NodeAttrFloat(PS_NodeBuilder* builder, const char* name, float value) {
  SetAttr(builder, name, value);
}
void PS_NodeAttrBool(PS_NodeBuilder* builder, const char* name, int value) {
  SetAttr(builder, name, value != 0);
}
void PS_NodeAttrString(PS_NodeBuilder* builder, const char* name, const char* bytes,
                       size_t length) {
  Describe(builder, [&]() -> Status {
    TRY(NotNull(name, "an attribute's name"));
    if (length > 0) TRY(NotNull(bytes, "bytes"));
    penstock::SetAttr(builder->spec.attrs, name, std::string(length == 0 ? "" : bytes, length));
    return penstock::OkStatus();
  });
}
void PS_NodeAttrShape(PS_NodeBuilder* builder, const char* name, const int64_t* dims, int rank) {
  Describe(builder, [&]() -> Status {
    TRY(NotNull(name, "an attribute's name"));
    Shape shape = Shape::Unknown();
    if (rank >= 0) {
      if (rank > Shape::kMaxRank)
        return InvalidArgument("rank must be at most {}, got {}", Shape::kMaxRank, rank);
      if (rank > 0) TRY(NotNull(dims, "dims"));
      std::vector<int64_t> extents(dims, dims + rank);
      for (int64_t& extent : extents) extent = extent < 0 ? Shape::kUnknownDim : extent;
      TRY_ASSIGN(shape, Shape::Make(extents));
    }
    penstock::SetAttr(builder->spec.attrs, name, shape);
    return penstock::OkStatus();
  });
}
void PS_NodeAttrTensor(PS_NodeBuilder* builder, const char* name, const PS_Tensor* value) {
  Describe(builder, [&]() -> Status {
    TRY(NotNull(name, "an attribute's name"));
    TRY(NotNull(value, "value"));
    penstock::SetAttr(builder->spec.attrs, name, value->tensor);
    return penstock::OkStatus();
  });
}

const char* PS_FinishNode(PS_NodeBuilder* builder, PS_Status* status) {
  const char* out = nullptr;
  Guard(status, [&]() -> Status {
    TRY(NotNull(builder, "builder"));
    TRY(builder->status);
    TRY_ASSIGN(const penstock::NodeId node, builder->graph->AddNode(std::move(builder->spec)));
    out = builder->graph->node(node).name.c_str();
    return penstock::OkStatus();
  });
  delete builder;
  return out;
}

}  // extern "C"
