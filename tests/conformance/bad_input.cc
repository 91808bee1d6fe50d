#include "tests/conformance/bad_input.h"

#include <chrono>
#include <cstring>
#include <limits>
#include <vector>

#include "penstock/graph/graph.h"
#include "penstock/graph/node_def.h"
#include "penstock/graph/scope.h"
#include "penstock/graph/tensor_proto.h"
#include "penstock/session/session.h"

namespace penstock::conformance {
namespace {

struct Call {
  std::string op;
  AttrMap attrs;
  std::vector<Tensor> inputs;
};

Result<Call> ReadCall(const golden::KernelCase& recorded) {
  Call call;
  call.op = recorded.node_def().op();
  ImportBudget budget{ImportLimits()};
  std::shared_ptr<const std::string> extra;
  TRY(ReadNodeDef(recorded.node_def(), UnknownValues::kError, &budget, &call.attrs, &extra));
  for (const auto& named : recorded.inputs()) {
    TRY_ASSIGN(Tensor tensor, TensorFromProto(named.tensor()));
    call.inputs.push_back(std::move(tensor));
  }
  return call;
}

// A tensor of another shape, whose elements repeat those of `from`.
Tensor Reshaped(const Tensor& from, const Shape& shape) {
  Tensor to(from.dtype(), shape);
  const int64_t have = from.num_elements();
  for (int64_t i = 0; i < to.num_elements(); ++i) {
    if (from.dtype() == DType::kString) {
      to.mutable_data<std::string>()[i] = have == 0 ? "" : from.data<std::string>()[i % have];
    } else if (IsPlain(from.dtype())) {
      const size_t size = SizeOf(from.dtype());
      char* element = static_cast<char*>(to.mutable_raw()) + static_cast<size_t>(i) * size;
      if (have == 0) {
        std::memset(element, 0, size);
      } else {
        std::memcpy(element,
                    static_cast<const char*>(from.raw()) + static_cast<size_t>(i % have) * size,
                    size);
      }
    }
  }
  return to;
}

std::vector<Shape> OtherShapes(const Shape& shape) {
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  std::vector<Shape> others = {Shape(), Shape{0}, Shape{3}};
  auto changed = [&](auto change) {
    std::vector<int64_t> copy = dims;
    change(copy);
    others.push_back(Shape(copy));
  };
  changed([](auto& d) { d.insert(d.begin(), 1); });
  changed([](auto& d) { d.insert(d.begin(), 2); });
  changed([](auto& d) { d.push_back(0); });
  if (!dims.empty()) {
    changed([](auto& d) { d.back() += 1; });
    changed([](auto& d) { d.front() += 1; });
    changed([](auto& d) { d.front() = 0; });
    changed([](auto& d) { d.pop_back(); });
  }
  return others;
}

template <class T>
void AddFilled(const Tensor& like, std::initializer_list<T> values, std::vector<Tensor>* to) {
  for (const T value : values) {
    Tensor tensor(like.dtype(), like.shape());
    for (int64_t i = 0; i < tensor.num_elements(); ++i) tensor.mutable_data<T>()[i] = value;
    to->push_back(std::move(tensor));
  }
}

template <class T>
void AddExtremes(const Tensor& like, std::vector<Tensor>* to) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_integral_v<T>) {
    AddFilled<T>(like, {T(-1), T(0), T(1), Limits::max(), Limits::min(), T(Limits::max() / 2)}, to);
  } else {
    AddFilled<T>(like,
                 {T(-1), T(0), Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(),
                  Limits::max(), Limits::denorm_min()},
                 to);
  }
}

std::vector<Tensor> Others(const Tensor& input) {
  std::vector<Tensor> others;
  for (const Shape& shape : OtherShapes(input.shape())) others.push_back(Reshaped(input, shape));
  switch (input.dtype()) {
    case DType::kFloat:
      AddExtremes<float>(input, &others);
      break;
    case DType::kDouble:
      AddExtremes<double>(input, &others);
      break;
    case DType::kInt32:
      AddExtremes<int32_t>(input, &others);
      break;
    case DType::kInt64:
      AddExtremes<int64_t>(input, &others);
      break;
    case DType::kString:
      for (const std::string& text :
           {std::string(), std::string("\xff\x00\n,\"", 5), std::string(1000, '9')}) {
        Tensor tensor(input.dtype(), input.shape());
        for (int64_t i = 0; i < tensor.num_elements(); ++i)
          tensor.mutable_data<std::string>()[i] = text;
        others.push_back(std::move(tensor));
      }
      break;
    default:
      break;
  }
  return others;
}

std::vector<AttrValue> Others(const AttrValue& value) {
  std::vector<AttrValue> others;
  constexpr int64_t kNumbers[] = {
      -1, 0, 1, 5000, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  if (value.Get<int64_t>() != nullptr) {
    for (const int64_t number : kNumbers) others.emplace_back(number);
  } else if (const auto* list = value.Get<std::vector<int64_t>>()) {
    for (const int64_t number : kNumbers)
      others.emplace_back(std::vector<int64_t>(list->size(), number));
    others.emplace_back(std::vector<int64_t>(list->size() + 1, 1));
    others.emplace_back(AttrValue::EmptyList{});
  } else if (value.Get<std::string>() != nullptr) {
    others.emplace_back(std::string());
    others.emplace_back(std::string("no such thing"));
  } else if (const bool* flag = value.Get<bool>()) {
    others.emplace_back(!*flag);
  } else if (value.Get<Shape>() != nullptr) {
    others.emplace_back(Shape::Unknown());
    others.emplace_back(Shape{0});
  }
  return others;
}

Status RunCall(const Call& call, const std::shared_ptr<Device>& device) {
  Graph graph(StandardOps());
  const Scope scope(graph);
  NodeSpec spec;
  spec.op = call.op;
  spec.name = "node";
  spec.attrs = call.attrs;
  for (const Tensor& value : call.inputs) {
    const Expr input = scope.Add("Placeholder", std::vector<Expr>(),
                                 {{"dtype", value.dtype()}, {"shape", Shape::Unknown()}});
    TRY(scope.status());
    spec.inputs.push_back(input.ref());
  }
  const std::vector<OutputRef> feeds = spec.inputs;
  TRY_ASSIGN(const NodeId node, scope.AddNode(std::move(spec)));
  std::vector<OutputRef> fetches;
  for (size_t i = 0; i < graph.node(node).outputs.size(); ++i)
    fetches.push_back({node, static_cast<int32_t>(i)});
  LocalSessionOptions options;
  options.device = device;
  options.threads = 1;
  const std::unique_ptr<SessionBackend> session = MakeLocalSession(graph, options);
  TRY_ASSIGN(const CallableHandle handle, session->MakeCallable({feeds, fetches, {node}}));
  RunOptions run;
  run.timeout = std::chrono::seconds(20);
  return session->RunCallable(handle, call.inputs, run, nullptr).status();
}

}  // namespace

BadInputCounts TryBadInputs(const golden::KernelCase& recorded,
                            const std::shared_ptr<Device>& device) {
  BadInputCounts counts;
  if (StandardOps().Find(recorded.node_def().op()) == nullptr) return counts;
  const Result<Call> good = ReadCall(recorded);
  if (!good.ok()) return counts;
  auto attempt = [&](const Call& call) {
    ++counts.tried;
    const Status status = RunCall(call, device);
    if (status.ok()) return;
    ++counts.refused;
    const bool names_it = status.message().find(call.op) != std::string::npos;
    if (counts.wrong.empty() && (!names_it || status.code() == Code::kInternal))
      counts.wrong = status.ToString();
  };
  for (size_t i = 0; i < good->inputs.size(); ++i) {
    for (Tensor& other : Others(good->inputs[i])) {
      Call call = *good;
      call.inputs[i] = std::move(other);
      attempt(call);
    }
  }
  for (size_t i = 0; i < good->attrs.size(); ++i) {
    for (AttrValue& other : Others(good->attrs[i].second)) {
      Call call = *good;
      call.attrs[i].second = std::move(other);
      attempt(call);
    }
  }
  return counts;
}

}  // namespace penstock::conformance
