#include "penstock/graph/scope.h"

namespace penstock {
namespace {

// "/job:a" refined by "/task:1" is "/job:a/task:1"; a part that the inner name gives replaces the
// outer one.
std::string MergeDevices(std::string_view outer, std::string_view inner) {
  auto part = [](std::string_view device, std::string_view key) -> std::string_view {
    const size_t at = device.find(key);
    if (at == std::string_view::npos) return {};
    const size_t end = device.find('/', at + 1);
    return device.substr(at, end == std::string_view::npos ? end : end - at);
  };
  std::string out;
  for (const std::string_view key : {"/job:", "/replica:", "/task:", "/device:"}) {
    const std::string_view mine = part(inner, key);
    out += mine.empty() ? part(outer, key) : mine;
  }
  // Old spellings ("/cpu:0") are kept as they are.
  return out.empty() ? std::string(inner.empty() ? outer : inner) : out;
}

Expr Binary(std::string_view op, const Expr& a, const Expr& b) {
  if (!a.valid()) return a;
  return a.scope().Add(op, {a, b});
}
Expr Binary(std::string_view op, const Expr& a, double b) {
  return a.valid() ? Binary(op, a, a.scope().Like(a, b)) : a;
}
Expr Binary(std::string_view op, double a, const Expr& b) {
  return b.valid() ? Binary(op, b.scope().Like(b, a), b) : b;
}

template <class T>
Tensor MakeScalar(double value) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) {
    return Tensor::Scalar(T(static_cast<float>(value)));
  } else if constexpr (std::is_same_v<T, complex64>) {
    return Tensor::Scalar(complex64(static_cast<float>(value), 0));
  } else {
    return Tensor::Scalar(static_cast<T>(value));
  }
}

Result<Tensor> ScalarOf(DType dtype, double value) {
  switch (dtype) {
    case DType::kFloat:
      return MakeScalar<float>(value);
    case DType::kDouble:
      return MakeScalar<double>(value);
    case DType::kHalf:
      return MakeScalar<half>(value);
    case DType::kBfloat16:
      return MakeScalar<bfloat16>(value);
    case DType::kComplex64:
      return MakeScalar<complex64>(value);
    case DType::kComplex128:
      return MakeScalar<complex128>(value);
    case DType::kInt8:
      return MakeScalar<int8_t>(value);
    case DType::kInt16:
      return MakeScalar<int16_t>(value);
    case DType::kInt32:
      return MakeScalar<int32_t>(value);
    case DType::kInt64:
      return MakeScalar<int64_t>(value);
    case DType::kUint8:
      return MakeScalar<uint8_t>(value);
    case DType::kUint16:
      return MakeScalar<uint16_t>(value);
    case DType::kUint32:
      return MakeScalar<uint32_t>(value);
    case DType::kUint64:
      return MakeScalar<uint64_t>(value);
    case DType::kBool:
      return Tensor::Scalar(value != 0);
    default:
      return InvalidArgument("no number of dtype {}", dtype);
  }
}

}  // namespace

Scope::Scope(Graph& graph) : graph_(&graph), status_(std::make_shared<Status>()) {}

Scope Scope::Sub(std::string_view name) const {
  Scope scope = *this;
  const std::string path = prefix_ + std::string(name);
  // "name/" opens a scope again, as it does in TensorFlow.
  scope.prefix_ = path.ends_with('/') ? path : graph_->UniqueScope(path) + "/";
  return scope;
}

Scope Scope::After(const std::vector<NodeId>& nodes) const {
  Scope scope = *this;
  scope.control_.insert(scope.control_.end(), nodes.begin(), nodes.end());
  return scope;
}

Scope Scope::OnDevice(std::string_view device) const {
  Scope scope = *this;
  scope.device_ = MergeDevices(device_, device);
  return scope;
}

Scope Scope::With(NodeId node) const {
  Scope scope = *this;
  scope.colocate_.push_back("loc:@" + graph_->node(node).name);
  return scope;
}

Scope Scope::At(CallSite site) const {
  Scope scope = *this;
  scope.site_ = site;
  return scope;
}

Scope Scope::WithoutError() const {
  Scope scope = *this;
  scope.status_ = std::make_shared<Status>();
  return scope;
}

void Scope::Fail(const Status& status) const {
  if (status_->ok()) *status_ = status;
}

Result<NodeId> Scope::AddNode(NodeSpec spec) const {
  if (!status_->ok()) return *status_;
  if (spec.name.empty()) spec.name = spec.op;
  if (!spec.exact_name) spec.name = prefix_ + spec.name;
  if (!device_.empty()) spec.device = MergeDevices(device_, spec.device);
  for (const NodeId node : control_) spec.control_inputs.push_back(node);
  if (!colocate_.empty()) SetAttr(spec.attrs, "_class", colocate_);
  if (!spec.site.known()) spec.site = site_;
  Result<NodeId> node = graph_->AddNode(std::move(spec));
  if (!node.ok()) Fail(node.status());
  return node;
}

Expr Scope::Add(std::string_view op, const std::vector<Expr>& inputs, AttrMap attrs,
                std::string_view name) const {
  NodeSpec spec;
  spec.op = op;
  spec.name = name;
  for (const Expr& input : inputs) {
    if (!input.valid()) {
      Fail(InvalidArgument("op {} was given an invalid input", op));
      return {};
    }
    spec.inputs.push_back(input.ref());
  }
  spec.attrs = std::move(attrs);
  Result<NodeId> node = AddNode(std::move(spec));
  return node.ok() ? Expr(this, {*node, 0}) : Expr();
}

Expr Scope::Add(std::string_view op, std::initializer_list<Expr> inputs, AttrMap attrs,
                std::string_view name) const {
  return Add(op, std::vector<Expr>(inputs), std::move(attrs), name);
}

Expr Scope::Constant(const Tensor& value, std::string_view name) const {
  return Add("Const", std::vector<Expr>(), {{"value", value}, {"dtype", value.dtype()}}, name);
}

Expr Scope::Like(const Expr& like, double value) const {
  Result<Tensor> scalar = ScalarOf(like.dtype(), value);
  if (!scalar.ok()) {
    Fail(scalar.status());
    return {};
  }
  return Constant(*scalar);
}

Expr operator+(const Expr& a, const Expr& b) { return Binary("AddV2", a, b); }
Expr operator-(const Expr& a, const Expr& b) { return Binary("Sub", a, b); }
Expr operator*(const Expr& a, const Expr& b) { return Binary("Mul", a, b); }
Expr operator/(const Expr& a, const Expr& b) { return Binary("RealDiv", a, b); }
Expr operator-(const Expr& a) { return Op("Neg", a); }
Expr operator+(const Expr& a, double b) { return Binary("AddV2", a, b); }
Expr operator-(const Expr& a, double b) { return Binary("Sub", a, b); }
Expr operator*(const Expr& a, double b) { return Binary("Mul", a, b); }
Expr operator/(const Expr& a, double b) { return Binary("RealDiv", a, b); }
Expr operator+(double a, const Expr& b) { return Binary("AddV2", a, b); }
Expr operator-(double a, const Expr& b) { return Binary("Sub", a, b); }
Expr operator*(double a, const Expr& b) { return Binary("Mul", a, b); }
Expr operator/(double a, const Expr& b) { return Binary("RealDiv", a, b); }

Expr Op(std::string_view op, const Expr& a, AttrMap attrs) {
  return a.valid() ? a.scope().Add(op, {a}, std::move(attrs)) : a;
}
Expr Op(std::string_view op, const Expr& a, const Expr& b, AttrMap attrs) {
  return a.valid() ? a.scope().Add(op, {a, b}, std::move(attrs)) : a;
}
Expr Op(std::string_view op, const Expr& a, const Expr& b, const Expr& c, AttrMap attrs) {
  return a.valid() ? a.scope().Add(op, {a, b, c}, std::move(attrs)) : a;
}

Expr Conj(const Expr& a) { return a.valid() && IsComplex(a.dtype()) ? Op("Conj", a) : a; }

Gradients::Gradients(const Scope* scope, const Graph& graph, NodeId node,
                     std::vector<Expr> output_gradients)
    : scope_(scope),
      node_(node),
      inputs_(graph.node(node).inputs),
      output_gradients_(std::move(output_gradients)),
      results_(inputs_.size()),
      rows_(inputs_.size()) {}

Expr Gradients::dy(int i) const {
  return output_gradients_[i].valid() ? output_gradients_[i] : Op("ZerosLike", output(i));
}

void Gradients::SetUnbroadcast(int i, Expr gradient, int j) {
  const Shape& mine = input(i).shape();
  if (mine.IsFullyKnown() && mine == input(j).shape()) return Set(i, gradient);
  const Expr axes = Op("BroadcastGradientArgs", Op("Shape", input(i)), Op("Shape", input(j)));
  const Expr sum = Op("Sum", gradient, axes, {{"keep_dims", false}});
  Set(i, Op("Reshape", sum, Op("Shape", input(i))));
}

}  // namespace penstock
