#include "penstock/ops/testing/row_check.h"

#include <algorithm>
#include <cmath>

#include "penstock/compile/pipeline.h"
#include "penstock/graph/graph_def.h"
#include "penstock/session/session.h"
#include "tests/conformance/compare.h"

namespace penstock::rows {
namespace {

using conformance::Difference;

constexpr Knowledge kAll[] = {Knowledge::kFull, Knowledge::kRank, Knowledge::kNothing,
                              Knowledge::kConstant};

std::string NameOf(Knowledge knowledge) {
  switch (knowledge) {
    case Knowledge::kFull:
      return "full shapes";
    case Knowledge::kRank:
      return "partial shapes";
    case Knowledge::kNothing:
      return "unknown shapes";
    case Knowledge::kConstant:
      return "constant inputs";
  }
  return "";
}

// What the graph is told of a value: every other extent for kRank.
Shape KnownShape(const Shape& shape, Knowledge knowledge) {
  if (knowledge == Knowledge::kNothing) return Shape::Unknown();
  Shape out = shape;
  if (knowledge == Knowledge::kRank) {
    for (int axis = 0; axis < out.rank(); axis += 2) out.set_dim(axis, Shape::kUnknownDim);
  }
  return out;
}

const std::shared_ptr<Device>& SharedDevice(int threads) {
  static auto* const one = new std::shared_ptr<Device>(MakeCpuDevice({.threads = 1}));
  static auto* const several = new std::shared_ptr<Device>(MakeCpuDevice({.threads = 4}));
  return threads == 1 ? *one : *several;
}

double NumberAt(const Tensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
    case DType::kFloat:
      return tensor.data<float>()[i];
    case DType::kDouble:
      return tensor.data<double>()[i];
    case DType::kHalf:
      return static_cast<float>(tensor.data<half>()[i]);
    case DType::kBfloat16:
      return static_cast<float>(tensor.data<bfloat16>()[i]);
    case DType::kInt32:
      return tensor.data<int32_t>()[i];
    case DType::kInt64:
      return static_cast<double>(tensor.data<int64_t>()[i]);
    case DType::kBool:
      return tensor.data<bool>()[i] ? 1 : 0;
    default:
      return std::nan("");
  }
}

Tensor ToDouble(const Tensor& tensor) {
  if (tensor.dtype() != DType::kFloat) return tensor.Clone();
  Tensor out(DType::kDouble, tensor.shape());
  for (int64_t i = 0; i < out.num_elements(); ++i) {
    out.mutable_data<double>()[i] = tensor.data<float>()[i];
  }
  return out;
}

Tensor Weights(const Tensor& like, uint64_t seed) { return Uniform<double>(like.shape())(seed); }

double WeightedSum(const std::vector<Tensor>& values, const std::vector<Tensor>& weights) {
  double sum = 0;
  for (size_t k = 0; k < values.size(); ++k) {
    if (!weights[k].initialized()) continue;
    for (int64_t i = 0; i < values[k].num_elements(); ++i) {
      sum += values[k].data<double>()[i] * weights[k].data<double>()[i];
    }
  }
  return sum;
}

bool IsMissing(const Status& status) {
  return status.code() == Code::kNotFound || status.code() == Code::kUnimplemented;
}

}  // namespace

RowCheck::RowCheck(const Row& row) : row_(row) {
  for (size_t i = 0; i < row.inputs_.size(); ++i) inputs_.push_back(row.inputs_[i](i));
}

void RowCheck::Do() {
  if (StandardOps().Find(row_.op_) == nullptr) {
    FAIL() << "op " << row_.op_ << " is not registered";
  }
  if (row_.fails_) {
    CheckFails();
  } else {
    CheckGood();
  }
}

Status RowCheck::Build(Knowledge knowledge, const std::vector<Tensor>& inputs,
                       Program* program) const {
  const Scope scope(program->graph);
  NodeSpec spec;
  spec.op = row_.op_;
  spec.name = "node";
  spec.attrs = row_.attrs_;
  for (const Tensor& value : inputs) {
    const Expr input = knowledge == Knowledge::kConstant
                           ? scope.Constant(value)
                           : scope.Add("Placeholder", std::vector<Expr>(),
                                       {{"dtype", value.dtype()},
                                        {"shape", KnownShape(value.shape(), knowledge)}});
    TRY(scope.status());
    spec.inputs.push_back(input.ref());
    if (knowledge != Knowledge::kConstant) program->feeds.push_back(input.ref());
  }
  TRY_ASSIGN(program->node, scope.AddNode(std::move(spec)));
  return OkStatus();
}

Result<std::vector<Tensor>> RowCheck::Run(const Program& program, const std::vector<Tensor>& inputs,
                                          const std::shared_ptr<Device>& device,
                                          bool optional_passes) const {
  LocalSessionOptions options;
  options.device = device;
  if (!optional_passes) options.disabled_passes = OptionalPasses();
  CallableSpec spec{program.feeds, {}, {program.node}};
  for (size_t i = 0; i < program.graph.node(program.node).outputs.size(); ++i) {
    spec.fetches.push_back({program.node, static_cast<int32_t>(i)});
  }
  static const std::vector<Tensor> kNone;
  return MakeLocalSession(program.graph, options)
      ->Run(spec, program.feeds.empty() ? kNone : inputs, {}, nullptr);
}

void RowCheck::CheckGood() {
  Program full;
  const Status built = Build(Knowledge::kFull, inputs_, &full);
  ASSERT_TRUE(built.ok()) << built.ToString();
  const Result<std::vector<Tensor>> got = Run(full, inputs_, SharedDevice(4), true);
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  CheckExpected(*got);
  for (const Knowledge knowledge : kAll) {
    Program program;
    const Status status = Build(knowledge, inputs_, &program);
    ASSERT_TRUE(status.ok()) << NameOf(knowledge) << ": " << status.ToString();
    CheckInferred(program, *got, NameOf(knowledge));
    for (const bool passes : {true, false}) {
      for (const int threads : {1, 4}) {
        CheckSame(*got, Run(program, inputs_, SharedDevice(threads), passes),
                  NameOf(knowledge) + (passes ? "" : ", no optional passes") +
                      (threads == 1 ? ", one thread" : ""));
      }
    }
  }
  CheckRoundTrip(full, *got);
  if (row_.gradient_ == Row::GradientCheck::kNever) return;
  const std::string unchecked = CheckGradient();
  if (row_.gradient_ == Row::GradientCheck::kAlways) {
    EXPECT_EQ(unchecked, "");
  }
}

void RowCheck::CheckFails() const {
  for (const Knowledge knowledge : kAll) {
    Program program;
    Status status = Build(knowledge, inputs_, &program);
    if (status.ok()) status = Run(program, inputs_, SharedDevice(4), true).status();
    EXPECT_EQ(ToString(status.code()), ToString(row_.fails_->first))
        << NameOf(knowledge) << ": " << status.ToString();
    EXPECT_NE(status.message().find(row_.fails_->second), std::string::npos)
        << NameOf(knowledge) << ": expected \"" << row_.fails_->second << "\" in "
        << status.ToString();
  }
}

void RowCheck::CheckExpected(const std::vector<Tensor>& got) const {
  if (row_.each_) {
    ASSERT_FALSE(got.empty());
    CheckEachElement(got[0]);
  }
  if (!row_.expected_) return;
  ASSERT_EQ(row_.expected_->size(), got.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const Tensor want = (*row_.expected_)[i](i);
    EXPECT_EQ(Difference(want, got[i], {row_.tolerance_, row_.tolerance_}), "")
        << "output " << i << ": expected " << want.ToString() << "\ngot " << got[i].ToString();
  }
}

void RowCheck::CheckEachElement(const Tensor& got) const {
  const Tensor& a = inputs_[0];
  const Tensor& b = inputs_.size() > 1 ? inputs_[1] : inputs_[0];
  const int64_t n = got.num_elements();
  ASSERT_TRUE(a.num_elements() == n || a.num_elements() == 1);
  ASSERT_TRUE(b.num_elements() == n || b.num_elements() == 1);
  for (int64_t i = 0; i < n; ++i) {
    const double want = row_.each_(NumberAt(a, a.num_elements() == 1 ? 0 : i),
                                   NumberAt(b, b.num_elements() == 1 ? 0 : i));
    const double value = NumberAt(got, i);
    if (std::isnan(want) && std::isnan(value)) continue;
    if (want == value) continue;
    EXPECT_LE(std::abs(value - want), row_.tolerance_ * (1 + std::abs(want)))
        << "element " << i << ": expected " << want << ", got " << value;
  }
}

void RowCheck::CheckSame(const std::vector<Tensor>& want, const Result<std::vector<Tensor>>& got,
                         const std::string& when) const {
  ASSERT_TRUE(got.ok()) << when << ": " << got.status().ToString();
  ASSERT_EQ(want.size(), got->size()) << when;
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(Difference(want[i], (*got)[i], {}), "") << when << ", output " << i;
  }
}

void RowCheck::CheckInferred(const Program& program, const std::vector<Tensor>& got,
                             const std::string& when) const {
  const std::vector<OutputInfo>& outputs = program.graph.node(program.node).outputs;
  ASSERT_EQ(outputs.size(), got.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(ToString(outputs[i].dtype), ToString(got[i].dtype())) << when << ", output " << i;
    EXPECT_TRUE(outputs[i].shape.IsCompatibleWith(got[i].shape()))
        << when << ", output " << i << ": inferred " << outputs[i].shape.ToString() << ", got "
        << got[i].shape().ToString();
  }
}

void RowCheck::CheckRoundTrip(const Program& program, const std::vector<Tensor>& want) const {
  const Result<std::string> wire = SerializeGraphDef(program.graph);
  ASSERT_TRUE(wire.ok()) << wire.status().ToString();
  Result<Graph> graph = ParseGraphDef(*wire, program.graph.registry());
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  Program copy;
  copy.graph = *std::move(graph);
  copy.node = copy.graph.FindNode(program.graph.node(program.node).name);
  ASSERT_NE(copy.node, kNoNode);
  for (const OutputRef feed : program.feeds) {
    copy.feeds.push_back({copy.graph.FindNode(program.graph.node(feed.node).name), feed.port});
  }
  const Result<std::string> again = SerializeGraphDef(copy.graph);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_TRUE(*wire == *again) << "a GraphDef is written otherwise after it was read";
  CheckSame(want, Run(copy, inputs_, SharedDevice(4), true), "after a GraphDef round trip");
}

std::string RowCheck::CheckGradient() const {
  const OpInfo& info = *StandardOps().Find(row_.op_);
  if (!info.gradient) return "the op has no gradient";
  std::vector<Tensor> inputs;
  bool any = false;
  for (const Tensor& input : inputs_) {
    inputs.push_back(ToDouble(input));
    any |= inputs.back().dtype() == DType::kDouble;
  }
  if (!any) return "no input is float or double";
  Program program;
  if (const Status status = Build(Knowledge::kFull, inputs, &program); !status.ok()) {
    return status.ToString();
  }
  const Result<std::vector<Tensor>> outputs = Run(program, inputs, SharedDevice(4), true);
  if (!outputs.ok()) return outputs.status().ToString();

  const Scope scope(program.graph);
  std::vector<Tensor> weights(outputs->size());
  std::vector<Expr> dys(outputs->size());
  for (size_t k = 0; k < outputs->size(); ++k) {
    if ((*outputs)[k].dtype() != DType::kDouble) continue;
    weights[k] = Weights((*outputs)[k], 100 + k);
    dys[k] = scope.Constant(weights[k]);
  }
  Gradients gradients(&scope, program.graph, program.node, dys);
  const Status status = info.gradient(program.graph.node(program.node).decoded.get(), gradients);
  if (IsMissing(status)) return status.ToString();
  EXPECT_TRUE(status.ok()) << "gradient: " << status.ToString();
  if (!status.ok()) return "";

  LocalSessionOptions options;
  options.device = SharedDevice(4);
  const std::unique_ptr<SessionBackend> session = MakeLocalSession(program.graph, options);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Expr& gradient = gradients.results()[i];
    if (!gradient.valid() || inputs[i].dtype() != DType::kDouble) continue;
    const CallableSpec spec{program.feeds, {gradient.ref()}, {}};
    const Result<std::vector<Tensor>> got = session->Run(spec, inputs, {}, nullptr);
    if (IsMissing(got.status())) return got.status().ToString();
    EXPECT_TRUE(got.ok()) << "gradient of input " << i << ": " << got.status().ToString();
    if (got.ok()) CompareWithDifferences(program, inputs, weights, static_cast<int>(i), (*got)[0]);
  }
  return "";
}

void RowCheck::CompareWithDifferences(const Program& program, const std::vector<Tensor>& inputs,
                                      const std::vector<Tensor>& weights, int input,
                                      const Tensor& gradient) const {
  ASSERT_EQ(conformance::TypeDifference(inputs[static_cast<size_t>(input)], gradient), "")
      << "gradient of input " << input;
  const int64_t n = gradient.num_elements();
  constexpr int64_t kSampled = 12;
  constexpr double kStep = 1e-5;
  constexpr double kNear = 1e-5;
  for (int64_t s = 0; s < std::min(n, kSampled); ++s) {
    const int64_t i =
        n <= kSampled
            ? s
            : static_cast<int64_t>(UniformAt(7, static_cast<uint64_t>(s)) * static_cast<double>(n));
    double loss[2];
    for (int side = 0; side < 2; ++side) {
      std::vector<Tensor> moved = inputs;
      Tensor& tensor = moved[static_cast<size_t>(input)];
      tensor = tensor.Clone();
      tensor.mutable_data<double>()[i] += side == 0 ? -kStep : kStep;
      const Result<std::vector<Tensor>> got = Run(program, moved, SharedDevice(1), false);
      ASSERT_TRUE(got.ok()) << got.status().ToString();
      loss[side] = WeightedSum(*got, weights);
    }
    const double want = (loss[1] - loss[0]) / (2 * kStep);
    const double value = gradient.data<double>()[i];
    EXPECT_LE(std::abs(value - want), kNear * (1 + std::abs(want)))
        << "gradient of input " << input << ", element " << i << ": differences say " << want
        << ", got " << value;
  }
}

}  // namespace penstock::rows
