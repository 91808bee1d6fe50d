#include "tests/conformance/kernel_case.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "penstock/compile/pipeline.h"
#include "penstock/graph/graph.h"
#include "penstock/graph/node_def.h"
#include "penstock/graph/scope.h"
#include "penstock/graph/tensor_proto.h"
#include "penstock/session/session.h"
#include "tests/conformance/compare.h"

namespace penstock::conformance {
namespace {

constexpr int64_t kElementsShown = 12;

enum class Inputs { kFed, kConstant };

// A case with its messages read.
struct Case {
  std::string op;
  AttrMap attrs;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::vector<Tensor> output_gradients;
};

Outcome Failed(std::string reason) { return {Verdict::kFailed, std::move(reason)}; }
Outcome NotImplemented(std::string reason) { return {Verdict::kNotImplemented, std::move(reason)}; }

bool IsMissing(const Status& status) {
  return status.code() == Code::kNotFound || status.code() == Code::kUnimplemented;
}

template <class Tensors>
Status ReadTensors(const Tensors& from, std::vector<Tensor>* to) {
  for (const auto& named : from) {
    TRY_ASSIGN(Tensor tensor, TensorFromProto(named.tensor()));
    to->push_back(std::move(tensor));
  }
  return OkStatus();
}

Result<Case> ReadCase(const golden::KernelCase& recorded) {
  Case out;
  out.op = recorded.node_def().op();
  ImportBudget budget{ImportLimits()};
  std::shared_ptr<const std::string> extra;
  TRY(ReadNodeDef(recorded.node_def(), UnknownValues::kError, &budget, &out.attrs, &extra));
  TRY(ReadTensors(recorded.inputs(), &out.inputs));
  TRY(ReadTensors(recorded.outputs(), &out.outputs));
  TRY(ReadTensors(recorded.grad_ys(), &out.output_gradients));
  return out;
}

// Why our version of the op cannot be asked at all, or nothing: it may take fewer types than it
// could.
std::string WhyNotOurs(const OpInfo& info, const AttrMap& attrs) {
  for (const ArgDef& arg : info.def.inputs) {
    if (arg.is_ref) return Format("input {} is a reference", arg.name);
  }
  for (const AttrDef& def : info.def.attrs) {
    const AttrValue* value = FindAttr(attrs, def.name);
    const DType* dtype = value == nullptr ? nullptr : value->Get<DType>();
    if (dtype == nullptr || def.allowed_types.empty()) continue;
    const auto& allowed = def.allowed_types;
    if (std::find(allowed.begin(), allowed.end(), *dtype) == allowed.end()) {
      return Format("{} is not among the types of attribute {}", *dtype, def.name);
    }
  }
  return "";
}

// One way to run a case.
class Run {
 public:
  Run(const golden::KernelCase& recorded, const Case& parsed, const OpInfo& info, Inputs inputs,
      const std::shared_ptr<Device>& device)
      : recorded_(recorded),
        case_(parsed),
        info_(info),
        inputs_(inputs),
        device_(device),
        graph_(StandardOps()),
        scope_(graph_) {}

  Outcome Do() {
    Outcome outcome = IsGradientCase(recorded_) ? DoGradient() : DoForward();
    if (!outcome.reason.empty()) {
      outcome.reason =
          (inputs_ == Inputs::kFed ? "fed inputs: " : "constant inputs: ") + outcome.reason;
    }
    return outcome;
  }

 private:
  Outcome DoForward() {
    const Status built = AddNode();
    if (recorded_.expect_error()) {
      if (!built.ok()) return {};
      Outcome outcome;
      return Fetch(Outputs(), &outcome).empty() && outcome.verdict != Verdict::kPassed
                 ? Outcome{}
                 : Failed(Format("expected {} ({}), got no error", recorded_.error_code(),
                                 Printable(recorded_.error_text(), 120)));
    }
    if (!built.ok()) return FromStatus(built);
    if (case_.outputs.size() != graph_.node(node_).outputs.size()) {
      return Failed(Format("expected {} outputs, got {}", case_.outputs.size(),
                           graph_.node(node_).outputs.size()));
    }
    Outcome outcome;
    const std::vector<Tensor> got = Fetch(Outputs(), &outcome);
    if (outcome.verdict != Verdict::kPassed) return outcome;
    return Compare(got);
  }

  Outcome DoGradient() {
    if (!info_.gradient && !info_.no_gradient) return NotImplemented("the op has no gradient");
    if (const Status built = AddNode(); !built.ok()) return FromStatus(built);
    std::vector<Expr> results(case_.inputs.size());
    if (info_.gradient) {
      std::vector<Expr> dys(graph_.node(node_).outputs.size());
      for (size_t i = 0; i < case_.output_gradients.size(); ++i) {
        const Tensor& dy = case_.output_gradients[i];
        const size_t port = PortOf(recorded_.grad_ys(static_cast<int>(i)).name(), i);
        if (port >= dys.size())
          return Failed(Format("the case gives a gradient for output {}", port));
        if (IsFloating(dy.dtype()) || IsComplex(dy.dtype())) dys[port] = scope_.Constant(dy);
      }
      Gradients gradients(&scope_, graph_, node_, dys);
      const Status status = info_.gradient(graph_.node(node_).decoded.get(), gradients);
      if (!status.ok()) return FromStatus(status.Annotate("gradient"));
      results = gradients.results();
    }
    return CompareGradients(results);
  }

  Outcome CompareGradients(const std::vector<Expr>& results) {
    std::vector<OutputRef> fetches;
    for (const int of : recorded_.grad_of()) {
      if (of < 0 || of >= static_cast<int>(results.size()))
        return Failed("grad_of is out of range");
      if (results[static_cast<size_t>(of)].valid()) {
        fetches.push_back(results[static_cast<size_t>(of)].ref());
      }
    }
    Outcome outcome;
    std::vector<Tensor> got;
    if (!fetches.empty()) got = Fetch(fetches, &outcome);
    if (outcome.verdict != Verdict::kPassed) return outcome;
    // No path means zeros.
    std::vector<Tensor> all;
    size_t next = 0;
    for (const int of : recorded_.grad_of()) {
      if (results[static_cast<size_t>(of)].valid()) {
        all.push_back(got[next++]);
        continue;
      }
      const Tensor& input = case_.inputs[static_cast<size_t>(of)];
      Tensor zeros(input.dtype(), input.shape());
      if (zeros.bytes() > 0) std::memset(zeros.mutable_raw(), 0, zeros.bytes());
      all.push_back(std::move(zeros));
    }
    if (all.size() != case_.outputs.size())
      return Failed("the case has other outputs than grad_of");
    return Compare(all);
  }

  Status AddNode() {
    NodeSpec spec;
    spec.op = case_.op;
    spec.name = "node";
    spec.attrs = case_.attrs;
    for (const Tensor& value : case_.inputs) {
      const Expr input = inputs_ == Inputs::kConstant
                             ? scope_.Constant(value)
                             : scope_.Add("Placeholder", std::vector<Expr>(),
                                          {{"dtype", value.dtype()}, {"shape", Shape::Unknown()}});
      TRY(scope_.status());
      spec.inputs.push_back(input.ref());
      if (inputs_ == Inputs::kFed) feeds_.push_back(input.ref());
    }
    TRY_ASSIGN(node_, scope_.AddNode(std::move(spec)));
    return OkStatus();
  }

  std::vector<OutputRef> Outputs() const {
    std::vector<OutputRef> out;
    for (size_t i = 0; i < graph_.node(node_).outputs.size(); ++i) {
      out.push_back({node_, static_cast<int32_t>(i)});
    }
    return out;
  }

  std::vector<Tensor> Fetch(const std::vector<OutputRef>& fetches, Outcome* outcome) {
    LocalSessionOptions options;
    options.device = device_;
    if (inputs_ == Inputs::kConstant) options.disabled_passes = OptionalPasses();
    const std::unique_ptr<SessionBackend> session = MakeLocalSession(graph_, options);
    const Result<CallableHandle> handle = session->MakeCallable({feeds_, fetches, {node_}});
    if (!handle.ok()) {
      *outcome = FromStatus(handle.status());
      return {};
    }
    RunOptions run;
    run.timeout = std::chrono::seconds(60);
    static const std::vector<Tensor> kNone;
    Result<std::vector<Tensor>> got =
        session->RunCallable(*handle, inputs_ == Inputs::kFed ? case_.inputs : kNone, run, nullptr);
    if (!got.ok()) {
      *outcome = Failed(got.status().ToString());
      return {};
    }
    return *std::move(got);
  }

  Outcome Compare(const std::vector<Tensor>& got) const {
    const Tolerance tolerance{recorded_.rtol(), recorded_.atol()};
    if (recorded_.unordered()) {
      const std::string what = UnorderedDifference(case_.outputs, got, tolerance);
      return what.empty() ? Outcome{} : Failed(what);
    }
    for (size_t i = 0; i < got.size(); ++i) {
      const auto& ignored = recorded_.ignore_outputs();
      const bool any_value =
          std::find(ignored.begin(), ignored.end(), static_cast<int>(i)) != ignored.end();
      const std::string what = any_value ? TypeDifference(case_.outputs[i], got[i])
                                         : Difference(case_.outputs[i], got[i], tolerance);
      if (what.empty()) continue;
      std::string reason = Format("output {}: {}", i, what);
      if (got[i].initialized()) {
        reason +=
            Format("\n      expected {}\n      got      {}",
                   case_.outputs[i].ToString(kElementsShown), got[i].ToString(kElementsShown));
      }
      return Failed(reason);
    }
    // What was promised while the graph was built must hold.
    if (IsGradientCase(recorded_)) return {};
    for (size_t i = 0; i < got.size(); ++i) {
      const Shape& inferred = graph_.node(node_).outputs[i].shape;
      if (inferred.IsCompatibleWith(got[i].shape())) continue;
      return Failed(Format("output {}: the shape rule said {}, the kernel made {}", i, inferred,
                           got[i].shape()));
    }
    return {};
  }

  static Outcome FromStatus(const Status& status) {
    return IsMissing(status) ? NotImplemented(status.ToString()) : Failed(status.ToString());
  }
  // "out_2" is output 2.
  static size_t PortOf(const std::string& name, size_t position) {
    if (!name.starts_with("out_")) return position;
    return static_cast<size_t>(std::atoi(name.c_str() + 4));
  }

  const golden::KernelCase& recorded_;
  const Case& case_;
  const OpInfo& info_;
  const Inputs inputs_;
  const std::shared_ptr<Device>& device_;
  Graph graph_;
  Scope scope_;
  NodeId node_ = kNoNode;
  std::vector<OutputRef> feeds_;
};

}  // namespace

bool IsGradientCase(const golden::KernelCase& recorded) {
  return recorded.id().starts_with("grad/");
}

Outcome RunKernelCase(const golden::KernelCase& recorded, const std::shared_ptr<Device>& device) {
  const OpInfo* info = StandardOps().Find(recorded.node_def().op());
  if (info == nullptr) return NotImplemented("the op is not registered");
  const Result<Case> parsed = ReadCase(recorded);
  if (!parsed.ok()) {
    return IsMissing(parsed.status()) ? NotImplemented(parsed.status().ToString())
                                      : Failed(parsed.status().ToString());
  }
  if (!recorded.expect_error()) {
    if (std::string why = WhyNotOurs(*info, parsed->attrs); !why.empty())
      return NotImplemented(why);
  }
  Outcome outcome;
  for (const Inputs inputs : {Inputs::kFed, Inputs::kConstant}) {
    outcome = Run(recorded, *parsed, *info, inputs, device).Do();
    if (outcome.verdict != Verdict::kPassed) break;
  }
  return outcome;
}

}  // namespace penstock::conformance
