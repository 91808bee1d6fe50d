// Random graphs must give the same bits, or the same kind of error, whatever the compiler does to
// them: with every pass on, every pass off, each one off, on one thread and on two.
//
//   PENSTOCK_RANDOM_GRAPHS=20000 session_test --gtest_filter='RandomGraphs.*'   # more of them
//   PENSTOCK_RANDOM_SEED=17 session_test ...                                    # that one alone

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "penstock/compile/pipeline.h"
#include "penstock/device/device.h"
#include "penstock/graph/graph.h"
#include "penstock/session/session.h"

namespace penstock {
namespace {

// A program: some nodes that set up its variable, and a step.
class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : random_(seed) {
    // Every third graph is large enough for fusion.
    rows_ = seed % 3 == 0 ? 64 : 1 + Pick(6);
    columns_ = seed % 3 == 0 ? 64 + Pick(20) : 1 + Pick(9);
    AddPlaceholders();
    if (Pick(3) == 0) AddVariable();
    const int64_t nodes = 8 + Pick(32);
    for (int64_t i = 0; i < nodes; ++i) AddRandomNode();
    const int64_t num_fetches = 1 + Pick(4);
    for (int64_t i = 0; i < num_fetches; ++i) {
      // Late values more often: they have more behind them.
      const int64_t n = static_cast<int64_t>(values_.size());
      fetches_.push_back(values_[static_cast<size_t>(n - 1 - Pick(1 + Pick(n)))]);
    }
    if (update_ != kNoNode) targets_.push_back(update_);
  }

  const Graph& graph() const { return graph_; }

  // Sets the variable up, then takes two steps. What the steps return, one after the other.
  Result<std::vector<Tensor>> Run(const std::shared_ptr<Device>& device,
                                  const std::vector<std::string>& disabled_passes) const {
    LocalSessionOptions options;
    options.device = device;
    options.disabled_passes = disabled_passes;
    const auto session = MakeLocalSession(graph_, options);
    if (init_ != kNoNode) TRY(session->Run({{}, {}, {init_}}, {}, {}, nullptr));
    std::vector<Tensor> all;
    for (int step = 0; step < 2; ++step) {
      TRY_ASSIGN(const std::vector<Tensor> results,
                 session->Run({feeds_, fetches_, targets_}, feed_values_, {}, nullptr));
      all.insert(all.end(), results.begin(), results.end());
    }
    return all;
  }

 private:
  int64_t Pick(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint32_t>(n)); }
  template <class T>
  T PickFrom(std::initializer_list<T> choices) {
    return choices.begin()[Pick(static_cast<int64_t>(choices.size()))];
  }
  bool Chance(int64_t one_in) { return Pick(one_in) == 0; }

  // ---- values ----

  double RandomNumber() {
    switch (Pick(24)) {
      case 0:
        return 0;
      case 1:
        return -0.0;
      case 2:
        return 1;
      case 3:
        return Chance(4) ? std::nan("") : -1;
      case 4:
        return Chance(4) ? std::numeric_limits<double>::infinity() : 1e-40;
      default:
        return std::normal_distribution<double>(0, 2)(random_);
    }
  }

  template <class T>
  void Fill(Tensor& tensor) {
    for (T& value : tensor.mutable_values<T>()) {
      const double number = RandomNumber();
      if constexpr (std::is_integral_v<T>) {
        value = static_cast<T>(std::isfinite(number) ? static_cast<int64_t>(number) : 3);
      } else {
        value = static_cast<T>(static_cast<float>(number));
      }
    }
  }

  Tensor RandomTensor(DType dtype, const Shape& shape) {
    Tensor tensor(dtype, shape);
    switch (dtype) {
      case DType::kFloat:
        Fill<float>(tensor);
        break;
      case DType::kDouble:
        Fill<double>(tensor);
        break;
      case DType::kHalf:
        Fill<half>(tensor);
        break;
      case DType::kBfloat16:
        Fill<bfloat16>(tensor);
        break;
      case DType::kInt32:
        Fill<int32_t>(tensor);
        break;
      case DType::kInt64:
        Fill<int64_t>(tensor);
        break;
      default:
        Fill<bool>(tensor);
        break;
    }
    return tensor;
  }

  DType RandomType() {
    using enum DType;
    return PickFrom({kFloat, kFloat, kFloat, kFloat, kDouble, kHalf, kBfloat16, kInt32, kInt64});
  }

  Shape RandomShape() {
    switch (Pick(8)) {
      case 0:
        return Shape{};
      case 1:
        return Shape{columns_};
      case 2:
        return Shape{1, columns_};
      case 3:
        return Shape{rows_, 1};
      case 4:
        return Shape{columns_, rows_};
      default:
        return Shape{rows_, columns_};
    }
  }

  // A value of that dtype, or of any; invalid when there is none.
  OutputRef Value(DType dtype = DType::kInvalid) {
    for (int tries = 0; tries < 20; ++tries) {
      const OutputRef ref =
          values_[static_cast<size_t>(Pick(static_cast<int64_t>(values_.size())))];
      if (dtype == DType::kInvalid || graph_.output(ref).dtype == dtype) return ref;
    }
    return {};
  }
  OutputRef Number() {
    for (;;) {
      const OutputRef ref = Value();
      if (graph_.output(ref).dtype != DType::kBool) return ref;
    }
  }
  // Like `ref` in type, and if possible in shape.
  OutputRef Partner(OutputRef ref) {
    const OutputInfo& info = graph_.output(ref);
    OutputRef other = ref;
    for (int tries = 0; tries < 4; ++tries) {
      const OutputRef found = Value(info.dtype);
      if (found.node == kNoNode) break;
      other = found;
      if (graph_.output(other).shape == info.shape) break;
    }
    return other;
  }

  // ---- nodes ----

  // Adds the node if it is one; its outputs are values from then on.
  NodeId Add(std::string_view op, std::vector<OutputRef> inputs, AttrMap attrs = {}) {
    for (const OutputRef& input : inputs) {
      if (input.node == kNoNode) return kNoNode;
    }
    std::vector<NodeId> controls;
    if (Chance(12)) controls.push_back(Value().node);
    const Result<NodeId> id = graph_.AddNode({.op = std::string(op),
                                              .inputs = std::move(inputs),
                                              .control_inputs = std::move(controls),
                                              .attrs = std::move(attrs)});
    if (!id.ok()) return kNoNode;
    const auto& outputs = graph_.node(*id).outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto count = outputs[i].shape.CheckedNumElements();
      if (!count || *count <= 1 << 15) values_.push_back({*id, static_cast<int32_t>(i)});
    }
    return *id;
  }

  OutputRef AddConst(const Tensor& value) {
    const NodeId id =
        *graph_.AddNode({.op = "Const", .attrs = {{"value", value}, {"dtype", value.dtype()}}});
    return {id, 0};
  }
  OutputRef Ints(std::initializer_list<int64_t> values) {
    Tensor tensor(DType::kInt32, Shape{static_cast<int64_t>(values.size())});
    std::copy(values.begin(), values.end(), tensor.mutable_data<int32_t>());
    return AddConst(tensor);
  }
  OutputRef Int(int64_t value) { return AddConst(Tensor::Scalar(static_cast<int32_t>(value))); }

  void AddPlaceholders() {
    const int64_t n = 2 + Pick(4);
    for (int64_t i = 0; i < n; ++i) {
      const DType dtype = i == 0 ? DType::kFloat : RandomType();
      const Shape shape = i == 0 ? Shape{rows_, columns_} : RandomShape();
      Shape declared = shape;
      if (Chance(4)) declared = Shape::Unknown();
      for (int axis = 0; axis < declared.rank(); ++axis) {
        if (Chance(4)) declared.set_dim(axis, -1);
      }
      const NodeId id =
          *graph_.AddNode({.op = "Placeholder", .attrs = {{"dtype", dtype}, {"shape", declared}}});
      values_.push_back({id, 0});
      feeds_.push_back({id, 0});
      feed_values_.push_back(RandomTensor(dtype, shape));
    }
  }

  // A variable that is read, and after the read updated.
  void AddVariable() {
    const Shape shape{rows_, columns_};
    const Result<NodeId> handle = graph_.AddNode(
        {.op = "VarHandleOp", .attrs = {{"dtype", DType::kFloat}, {"shape", shape}}});
    if (!handle.ok()) return;
    const OutputRef value = AddConst(RandomTensor(DType::kFloat, shape));
    init_ = *graph_.AddNode({.op = "AssignVariableOp", .inputs = {{*handle, 0}, value}});
    const NodeId read = *graph_.AddNode(
        {.op = "ReadVariableOp", .inputs = {{*handle, 0}}, .attrs = {{"dtype", DType::kFloat}}});
    values_.push_back({read, 0});
    const NodeId twice = *graph_.AddNode({.op = "AddV2", .inputs = {{read, 0}, {read, 0}}});
    update_ = *graph_.AddNode(
        {.op = "AssignVariableOp", .inputs = {{*handle, 0}, {twice, 0}}, .control_inputs = {read}});
  }

  void AddRandomNode() {
    switch (Pick(16)) {
      case 0:
      case 1:
      case 2:
        return AddUnary();
      case 3:
      case 4:
      case 5:
      case 6:
        return AddBinary();
      case 7:
        return AddComparison();
      case 8:
        return AddReduction();
      case 9:
        return AddShapeChange();
      case 10:
        return AddPart();
      case 11:
        return AddConstant();
      case 12:
        return AddNothing();
      case 13:
        return AddMatMul();
      case 14:
        return Repeat();
      default:
        return AddShapeReader();
    }
  }

  void AddUnary() {
    const OutputRef x = Number();
    if (IsInteger(graph_.output(x).dtype)) {
      Add(PickFrom({"Neg", "Abs", "Square", "Sign"}), {x});
    } else {
      Add(PickFrom({"Neg", "Exp", "Tanh", "Sqrt", "Abs", "Square", "Sigmoid", "Relu", "Sin", "Log",
                    "Rsqrt", "Floor", "Softplus", "Erf", "Reciprocal"}),
          {x});
    }
  }
  void AddBinary() {
    const OutputRef x = Number();
    const OutputRef y = Partner(x);
    if (IsInteger(graph_.output(x).dtype)) {
      Add(PickFrom({"AddV2", "Sub", "Mul", "Maximum", "Minimum", "FloorDiv"}), {x, y});
    } else {
      Add(PickFrom({"AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "SquaredDifference",
                    "TanhGrad", "ReluGrad", "Pow"}),
          {x, y});
    }
  }
  void AddComparison() {
    const OutputRef x = Number();
    const OutputRef y = Partner(x);
    const NodeId condition = Add(PickFrom({"Less", "Greater", "Equal", "LessEqual"}), {x, y});
    if (condition == kNoNode || Chance(2)) return;
    Add("SelectV2", {{condition, 0}, x, y});
    if (Chance(2)) Add("LogicalNot", {{condition, 0}});
  }
  void AddReduction() {
    const OutputRef x = Number();
    const OutputRef axes = PickFrom({Ints({0}), Ints({1}), Ints({-1}), Ints({0, 1}), Ints({})});
    Add(PickFrom({"Sum", "Mean", "Max", "Min", "Prod"}), {x, axes}, {{"keep_dims", Chance(2)}});
  }
  void AddShapeChange() {
    const OutputRef x = Value();
    switch (Pick(6)) {
      case 0:
        Add("Reshape", {x, Ints({-1})});
        break;
      case 1:
        Add("Reshape", {x, Ints({rows_, columns_})});
        break;
      case 2:
        Add("Transpose", {x, Ints({1, 0})});
        break;
      case 3:
        Add("ExpandDims", {x, Int(0)});
        break;
      case 4:
        Add("Cast", {Number()}, {{"DstT", RandomType()}});
        break;
      default:
        Add("Tile", {x, Ints({1, 2})});
        break;
    }
  }
  void AddPart() {
    const OutputRef x = Value();
    switch (Pick(4)) {
      case 0:
        Add("Slice", {x, Ints({0, 0}), Ints({(rows_ + 1) / 2, -1})});
        break;
      case 1:
        Add("Slice", {x, Ints({rows_ / 2, 0}), Ints({-1, (columns_ + 1) / 2})});
        break;
      case 2:
        Add("Split", {Int(0), x}, {{"num_split", int64_t{2}}});
        break;
      default: {
        const OutputRef y = Partner(x);
        Add("ConcatV2", {x, y, Int(Pick(2))}, {{"N", int64_t{2}}});
      }
    }
  }
  void AddConstant() {
    const OutputRef c = AddConst(RandomTensor(RandomType(), RandomShape()));
    values_.push_back(c);
    if (Chance(2)) values_.push_back(AddConst(*ConstantValue(graph_, c)));
  }
  // What the compiler should see through.
  void AddNothing() {
    const OutputRef x = Number();
    const DType dtype = graph_.output(x).dtype;
    Tensor number(dtype, Shape{});
    switch (Pick(6)) {
      case 0:
        Add("Identity", {x});
        break;
      case 1:
        Add("StopGradient", {x});
        break;
      case 2:
        Add("Cast", {x}, {{"DstT", dtype}});
        break;
      case 3:
        if (const NodeId a = Add("Neg", {x}); a != kNoNode) Add("Neg", {{a, 0}});
        break;
      case 4:
        if (dtype != DType::kFloat) break;
        Add("Mul", {x, AddConst(Tensor::Scalar(1.0f))});
        Add(PickFrom({"Sub", "AddV2"}), {x, AddConst(Tensor::Scalar(PickFrom({0.0f, -0.0f})))});
        break;
      default:
        if (dtype == DType::kInt32) Add(PickFrom({"AddV2", "Sub"}), {x, Int(0)});
    }
  }
  void AddMatMul() {
    const OutputRef x = Value(DType::kFloat);
    Add("MatMul", {x, Value(DType::kFloat)},
        {{"transpose_a", Chance(2)}, {"transpose_b", Chance(2)}});
  }
  // The same node once more.
  void Repeat() {
    const Node& node = graph_.node(Value().node);
    if (!node.op->traits.pure || node.inputs.empty()) return;
    std::vector<OutputRef> inputs = node.inputs;
    if (node.op->def.is_commutative && inputs.size() == 2 && Chance(2)) {
      std::swap(inputs[0], inputs[1]);
    }
    Add(node.op_name(), inputs, node.attrs);
  }
  // The value is fetched too: one of which only the shape is read need not be computed, and then
  // does not fail.
  void AddShapeReader() {
    const OutputRef x = Value();
    fetches_.push_back(x);
    Add(PickFrom({"Shape", "Size", "Rank"}), {x});
  }

  std::mt19937 random_;
  int64_t rows_ = 1;
  int64_t columns_ = 1;
  Graph graph_;
  std::vector<OutputRef> values_;
  std::vector<OutputRef> feeds_;
  std::vector<Tensor> feed_values_;
  std::vector<OutputRef> fetches_;
  std::vector<NodeId> targets_;
  NodeId init_ = kNoNode;
  NodeId update_ = kNoNode;
};

// Of two NaNs the compiler of a loop decides which comes out of a sum.
bool IsNan(const Tensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
    case DType::kFloat:
      return std::isnan(tensor.data<float>()[i]);
    case DType::kDouble:
      return std::isnan(tensor.data<double>()[i]);
    case DType::kHalf:
      return std::isnan(static_cast<float>(tensor.data<half>()[i]));
    case DType::kBfloat16:
      return std::isnan(static_cast<float>(tensor.data<bfloat16>()[i]));
    default:
      return false;
  }
}

// Dtype, shape and every bit but those of NaNs, or the error's code.
std::string Difference(const Result<std::vector<Tensor>>& a, const Result<std::vector<Tensor>>& b) {
  if (!a.ok() || !b.ok()) {
    if (a.status().code() == b.status().code()) return "";
    return "one says " + a.status().ToString() + ", the other " + b.status().ToString();
  }
  for (size_t i = 0; i < a->size(); ++i) {
    const Tensor& x = (*a)[i];
    const Tensor& y = (*b)[i];
    if (x.dtype() != y.dtype() || !(x.shape() == y.shape())) {
      return Format("result {}: {} {} and {} {}", i, x.dtype(), x.shape(), y.dtype(), y.shape());
    }
    if (std::memcmp(x.raw(), y.raw(), x.bytes()) == 0) continue;
    for (int64_t k = 0; k < x.num_elements(); ++k) {
      const size_t size = SizeOf(x.dtype());
      const size_t at = static_cast<size_t>(k) * size;
      if (std::memcmp(static_cast<const char*>(x.raw()) + at,
                      static_cast<const char*>(y.raw()) + at, size) == 0) {
        continue;
      }
      if (IsNan(x, k) && IsNan(y, k)) continue;
      return Format("result {}, element {}: {} and {}", i, k, ElementToString(x, k),
                    ElementToString(y, k));
    }
  }
  return "";
}

int64_t FromEnvironment(const char* name, int64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::atoll(text);
}

#ifdef PENSTOCK_SANITIZED
constexpr int64_t kGraphs = 200;
#else
constexpr int64_t kGraphs = 2000;
#endif

TEST(RandomGraphs, GiveTheSameBitsWhateverThePasses) {
  const std::shared_ptr<Device> devices[] = {MakeCpuDevice({.threads = 1}),
                                             MakeCpuDevice({.threads = 2})};
  const std::vector<std::string> passes = OptionalPasses();
  std::vector<std::vector<std::string>> without{{}};
  for (const std::string& pass : passes) without.push_back({pass});

  const int64_t only = FromEnvironment("PENSTOCK_RANDOM_SEED", -1);
  const int64_t first = only < 0 ? 0 : only;
  const int64_t last = only < 0 ? FromEnvironment("PENSTOCK_RANDOM_GRAPHS", kGraphs) : only + 1;
  int64_t succeeded = 0;
  for (int64_t seed = first; seed < last; ++seed) {
    const RandomGraph program(static_cast<uint32_t>(seed));
    const auto expected = program.Run(devices[0], passes);
    succeeded += expected.ok();
    for (const auto& device : devices) {
      for (const std::vector<std::string>& disabled : without) {
        const auto actual = program.Run(device, disabled);
        const std::string difference = Difference(expected, actual);
        ASSERT_EQ(difference, "") << "seed " << seed << ", without \""
                                  << (disabled.empty() ? "" : disabled[0]) << "\" on "
                                  << device->pool()->threads() << " threads\n"
                                  << program.graph().ToText();
      }
    }
  }
  EXPECT_GT(succeeded * 10, (last - first) * 5) << "too few of the graphs run";
}

}  // namespace
}  // namespace penstock
