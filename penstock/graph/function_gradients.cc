#include "penstock/graph/function_gradients.h"

#include <algorithm>
#include <functional>
#include <set>

#include "penstock/graph/body_derivative.h"
#include "penstock/graph/custom_gradient.h"
#include "penstock/graph/gradients.h"

namespace penstock {
namespace {

template <class T>
AttrValue ListOf(std::vector<T> values) {
  return values.empty() ? AttrValue(AttrValue::EmptyList{}) : AttrValue(std::move(values));
}

std::vector<DType> TypesOf(const Graph& graph, const std::vector<OutputRef>& refs) {
  std::vector<DType> types;
  for (const OutputRef& ref : refs) types.push_back(graph.output(ref).dtype);
  return types;
}

std::vector<OutputInfo> InfosOf(const Graph& graph, const std::vector<OutputRef>& refs) {
  std::vector<OutputInfo> infos;
  for (const OutputRef& ref : refs)
    infos.push_back({graph.output(ref).dtype, false, graph.output(ref).shape});
  return infos;
}

template <class T>
T GetOr(const AttrMap& attrs, std::string_view name) {
  const AttrValue* value = FindAttr(attrs, name);
  const T* held = value == nullptr ? nullptr : value->Get<T>();
  return held == nullptr ? T() : *held;
}

// Zeros like an argument; like the variable, when it is the handle of one.
Expr ZerosFor(const Scope& scope, OutputRef arg, DType dtype) {
  const Expr value(&scope, arg);
  return Op("ZerosLike", value.dtype() == DType::kResource
                             ? Op("ReadVariableOp", value, {{"dtype", dtype}})
                             : value);
}

// Gives a node further outputs, after its attributes were changed to say so.
Status AddOutputs(Graph& graph, NodeId id, const std::vector<OutputInfo>& infos) {
  Node& node = graph.node(id);
  node.outputs.insert(node.outputs.end(), infos.begin(), infos.end());
  TRY_ASSIGN(node.decoded, graph.Redecode(id));
  return OkStatus();
}

// Says of further outputs that nothing is known, where the node says something of each.
void ExtendShapes(AttrMap& attrs, const std::vector<OutputInfo>& infos) {
  std::vector<Shape> shapes = GetOr<std::vector<Shape>>(attrs, "output_shapes");
  if (shapes.empty()) return;
  for (const OutputInfo& info : infos) shapes.push_back(info.shape);
  SetAttr(attrs, "output_shapes", ListOf(std::move(shapes)));
}

// ---- calls and branches ----

// How an op that calls one of several functions is written.
struct ChoiceForm {
  int selectors = 0;  // inputs before the functions' arguments
  std::string_view plain_op, effect_op;
  std::function<std::vector<FunctionName>(const AttrMap&)> read;
  std::function<void(AttrMap&, std::vector<FunctionName>)> write;
};

ChoiceForm CallForm() {
  return {0, "PartitionedCall", "StatefulPartitionedCall",
          [](const AttrMap& attrs) {
            return std::vector<FunctionName>{GetOr<FunctionName>(attrs, "f")};
          },
          [](AttrMap& attrs, std::vector<FunctionName> f) { SetAttr(attrs, "f", f[0]); }};
}
ChoiceForm IfForm() {
  return {1, "StatelessIf", "If",
          [](const AttrMap& attrs) {
            return std::vector<FunctionName>{GetOr<FunctionName>(attrs, "then_branch"),
                                             GetOr<FunctionName>(attrs, "else_branch")};
          },
          [](AttrMap& attrs, std::vector<FunctionName> f) {
            SetAttr(attrs, "then_branch", f[0]);
            SetAttr(attrs, "else_branch", f[1]);
          }};
}
ChoiceForm CaseForm() {
  return {1, "StatelessCase", "Case",
          [](const AttrMap& attrs) { return GetOr<std::vector<FunctionName>>(attrs, "branches"); },
          [](AttrMap& attrs, std::vector<FunctionName> f) {
            SetAttr(attrs, "branches", std::move(f));
          }};
}

class ChoiceGradient {
 public:
  ChoiceGradient(Gradients& g, ChoiceForm form)
      : g_(g), form_(std::move(form)), graph_(g.scope().graph()), id_(g.output(0).ref().node) {
    const std::vector<OutputRef>& inputs = graph_.node(id_).inputs;
    args_.assign(inputs.begin() + form_.selectors, inputs.end());
    for (int i = 0; i < g.num_outputs(); ++i) {
      if (g.has_dy(i)) arriving_.push_back(i);
    }
  }

  Status Run() {
    const std::vector<OutputInfo> infos = InfosOf(graph_, args_);
    const std::vector<FunctionName> functions = form_.read(graph_.node(id_).attrs);
    for (const FunctionName& function : functions) {
      TRY_ASSIGN(BodyDerivative branch, BodyDerivative::Make(graph_, function, infos, arriving_));
      branches_.push_back(std::move(branch));
    }
    Plan();
    TRY(RewriteForward(functions));
    return AddBackward(functions);
  }

 private:
  // A value that one branch leaves for its derivative.
  struct Kept {
    size_t branch;
    OutputRef value;
    OutputInfo info;
  };

  void Plan() {
    dx_types_.assign(args_.size(), DType::kInvalid);
    for (size_t b = 0; b < branches_.size(); ++b) {
      const BodyDerivative& branch = branches_[b];
      for (size_t a = 0; a < args_.size(); ++a) {
        if (const OutputRef dx = branch.dx(a); dx.node != kNoNode)
          dx_types_[a] = branch.body().graph.output(dx).dtype;
      }
      for (const OutputRef& value : branch.captures()) {
        if (const int arg = branch.ArgNumber(value); arg >= 0) {
          passed_.insert(static_cast<size_t>(arg));
        } else {
          const OutputInfo& info = branch.body().graph.output(value);
          // Of several branches, only one makes the value.
          kept_.push_back(
              {b,
               value,
               {info.dtype, false, branches_.size() == 1 ? info.shape : Shape::Unknown()}});
        }
      }
    }
    for (size_t a = 0; a < args_.size(); ++a) {
      if (dx_types_[a] == DType::kInvalid) continue;
      for (const BodyDerivative& branch : branches_) {
        if (branch.dx(a).node == kNoNode) passed_.insert(a);  // its zeros are made of it
      }
    }
  }

  Status RewriteForward(const std::vector<FunctionName>& functions) {
    if (kept_.empty()) return OkStatus();
    std::vector<FunctionName> forward;
    bool has_effects = false;
    for (size_t b = 0; b < branches_.size(); ++b) {
      const FunctionBody& body = branches_[b].body();
      FunctionWriter writer(body.graph);
      for (const NodeId arg : body.args)
        writer.Substitute({arg, 0}, writer.AddArg(body.graph.node(arg).outputs[0]));
      TRY_ASSIGN(std::vector<OutputRef> results,
                 writer.Copy(body.Results(), /*controls=*/true, body.effects));
      const Scope scope(writer.graph());
      for (const Kept& kept : kept_) {
        if (kept.branch == b) {
          TRY_ASSIGN(const std::vector<OutputRef> value, writer.Copy({kept.value}, true));
          results.push_back(value[0]);
        } else {
          results.push_back(
              scope.Add("FakeParam", {}, {{"dtype", kept.info.dtype}, {"shape", Shape{0}}}).ref());
        }
      }
      TRY(scope.status());
      TRY_ASSIGN(FunctionName name,
                 writer.Finish(graph_, functions[b].name + "_forward", results, &has_effects));
      forward.push_back(std::move(name));
    }
    Node& node = graph_.node(id_);
    std::vector<DType> types = GetOr<std::vector<DType>>(node.attrs, "Tout");
    std::vector<OutputInfo> infos;
    for (const Kept& kept : kept_) {
      types.push_back(kept.info.dtype);
      infos.push_back(kept.info);
    }
    first_kept_ = static_cast<int32_t>(node.outputs.size());
    form_.write(node.attrs, std::move(forward));
    SetAttr(node.attrs, "Tout", ListOf(std::move(types)));
    ExtendShapes(node.attrs, infos);
    return AddOutputs(graph_, id_, infos);
  }

  Status AddBackward(const std::vector<FunctionName>& functions) {
    NodeSpec spec;
    std::vector<OutputRef> inputs;
    for (const int i : arriving_) inputs.push_back(g_.dy(i).ref());
    for (const size_t arg : passed_) inputs.push_back(args_[arg]);
    for (size_t k = 0; k < kept_.size(); ++k)
      inputs.push_back({id_, first_kept_ + static_cast<int32_t>(k)});
    const std::vector<OutputInfo> infos = InfosOf(graph_, inputs);
    std::vector<FunctionName> backward;
    bool has_effects = false;
    for (size_t b = 0; b < branches_.size(); ++b) {
      TRY_ASSIGN(FunctionName name,
                 WriteBackward(b, infos, functions[b].name + "_grad", &has_effects));
      backward.push_back(std::move(name));
    }
    spec.op = has_effects ? form_.effect_op : form_.plain_op;
    for (int i = 0; i < form_.selectors; ++i) spec.inputs.push_back(graph_.node(id_).inputs[i]);
    spec.inputs.insert(spec.inputs.end(), inputs.begin(), inputs.end());
    std::vector<DType> types;
    for (const DType type : dx_types_) {
      if (type != DType::kInvalid) types.push_back(type);
    }
    spec.attrs = {{"Tin", ListOf(TypesOf(graph_, inputs))}, {"Tout", ListOf(types)}};
    form_.write(spec.attrs, std::move(backward));
    TRY_ASSIGN(const NodeId node, g_.scope().AddNode(std::move(spec)));
    int32_t port = 0;
    for (size_t a = 0; a < args_.size(); ++a) {
      if (dx_types_[a] == DType::kInvalid) continue;
      if (dx_types_[a] == graph_.output(args_[a]).dtype)
        graph_.node(node).outputs[port].shape = graph_.output(args_[a]).shape;
      g_.Set(form_.selectors + static_cast<int>(a), Expr(&g_.scope(), {node, port++}));
    }
    return OkStatus();
  }

  // The derivative of branch b: its arguments are what arrives, passed_ and kept_.
  Result<FunctionName> WriteBackward(size_t b, const std::vector<OutputInfo>& infos,
                                     const std::string& name, bool* has_effects) {
    const BodyDerivative& branch = branches_[b];
    FunctionWriter writer(branch.body().graph);
    std::vector<OutputRef> here;
    for (const OutputInfo& info : infos) here.push_back(writer.AddArg(info));
    size_t next = 0;
    for (size_t i = 0; i < arriving_.size(); ++i) writer.Substitute(branch.dy(i), here[next++]);
    std::vector<OutputRef> arg_here(args_.size());
    for (const size_t arg : passed_) {
      arg_here[arg] = here[next];
      writer.Substitute({branch.body().args[arg], 0}, here[next++]);
    }
    for (const Kept& kept : kept_) {
      if (kept.branch == b) writer.Substitute(kept.value, here[next]);
      ++next;
    }
    const Scope scope(writer.graph());
    std::vector<OutputRef> results;
    for (size_t a = 0; a < args_.size(); ++a) {
      if (dx_types_[a] == DType::kInvalid) continue;
      if (branch.dx(a).node != kNoNode) {
        TRY_ASSIGN(const std::vector<OutputRef> dx, writer.Copy({branch.dx(a)}));
        results.push_back(dx[0]);
      } else {
        results.push_back(ZerosFor(scope, arg_here[a], dx_types_[a]).ref());
      }
    }
    TRY(scope.status());
    return writer.Finish(graph_, name, results, has_effects);
  }

  Gradients& g_;
  const ChoiceForm form_;
  Graph& graph_;
  const NodeId id_;
  std::vector<OutputRef> args_;
  std::vector<int> arriving_;  // outputs at which a gradient arrives
  std::vector<BodyDerivative> branches_;
  std::vector<DType> dx_types_;  // of each argument; kInvalid: no gradient
  std::set<size_t> passed_;      // arguments that a derivative reads
  std::vector<Kept> kept_;
  int32_t first_kept_ = 0;  // the output that the first of kept_ is
};

// ---- loops ----

class WhileGradient {
 public:
  explicit WhileGradient(Gradients& g)
      : g_(g), graph_(g.scope().graph()), id_(g.output(0).ref().node) {
    const Node& node = graph_.node(id_);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      // What goes round keeps to what is known of the output.
      values_.push_back({node.outputs[i].dtype, false, node.outputs[i].shape});
      if (IsDifferentiable(values_[i].dtype)) moving_.push_back(static_cast<int>(i));
    }
  }

  Status Run() {
    const FunctionName body = GetOr<FunctionName>(graph_.node(id_).attrs, "body");
    TRY_ASSIGN(const BodyDerivative derivative,
               BodyDerivative::Make(graph_, body, values_, moving_));
    Plan(derivative);
    TRY(RewriteForward(derivative, body.name));
    return AddBackward(derivative, body.name);
  }

 private:
  void Plan(const BodyDerivative& derivative) {
    for (const OutputRef& value : derivative.captures()) {
      const int arg = derivative.ArgNumber(value);
      if (arg >= 0 && derivative.PassedOn(static_cast<size_t>(arg)) == arg) {
        constant_.push_back(arg);
      } else {
        kept_.push_back(value);
      }
    }
  }

  // The shape of a kept value, as an op that makes or reads a list is told.
  static Expr ElementShape(const Scope& scope, const Shape& shape) {
    std::vector<int32_t> dims;
    if (!shape.has_rank()) return scope.Constant(Tensor::Scalar<int32_t>(-1), "element_shape");
    for (int i = 0; i < shape.rank(); ++i) dims.push_back(static_cast<int32_t>(shape.dim(i)));
    return scope.Constant(Tensor::FromValues<int32_t>(Shape{shape.rank()}, dims), "element_shape");
  }

  Status RewriteForward(const BodyDerivative& derivative, const std::string& name) {
    const FunctionBody& body = derivative.body();
    bool has_effects = false;
    FunctionWriter writer(body.graph);
    for (const NodeId arg : body.args)
      writer.Substitute({arg, 0}, writer.AddArg(body.graph.node(arg).outputs[0]));
    const OutputRef round = writer.AddArg({DType::kInt32, false, Shape()});
    std::vector<OutputRef> lists;
    for (size_t k = 0; k < kept_.size(); ++k)
      lists.push_back(writer.AddArg({DType::kVariant, false, Shape()}));
    TRY_ASSIGN(std::vector<OutputRef> results,
               writer.Copy(body.Results(), /*controls=*/true, body.effects));
    TRY_ASSIGN(const std::vector<OutputRef> values, writer.Copy(kept_, true));
    const Scope scope(writer.graph());
    results.push_back((Expr(&scope, round) + 1.0).ref());
    for (size_t k = 0; k < kept_.size(); ++k) {
      results.push_back(
          Op("TensorListPushBack", Expr(&scope, lists[k]), Expr(&scope, values[k])).ref());
    }
    TRY(scope.status());
    TRY_ASSIGN(const FunctionName forward,
               writer.Finish(graph_, name + "_forward", results, &has_effects));
    TRY_ASSIGN(const FunctionName cond, ExtendCond());

    std::vector<OutputRef> inputs = {g_.scope().Constant(Tensor::Scalar<int32_t>(0)).ref()};
    std::vector<OutputInfo> infos = {{DType::kInt32, false, Shape()}};
    for (const OutputRef& value : kept_) {
      const OutputInfo& info = body.graph.output(value);
      const Expr list =
          g_.scope().Add("EmptyTensorList",
                         {ElementShape(g_.scope(), info.shape),
                          g_.scope().Constant(Tensor::Scalar<int32_t>(-1), "max_num_elements")},
                         {{"element_dtype", info.dtype}});
      if (!list.valid()) return g_.scope().status();
      inputs.push_back(list.ref());
      infos.push_back({DType::kVariant, false, Shape()});
    }
    Node& node = graph_.node(id_);
    first_kept_ = static_cast<int32_t>(node.outputs.size());
    node.inputs.insert(node.inputs.end(), inputs.begin(), inputs.end());
    SetAttr(node.attrs, "cond", cond);
    SetAttr(node.attrs, "body", forward);
    SetAttr(node.attrs, "T", ListOf(TypesOf(graph_, node.inputs)));
    ExtendShapes(node.attrs, infos);
    return AddOutputs(graph_, id_, infos);
  }

  // The condition, which does not look at what was added.
  Result<FunctionName> ExtendCond() {
    const FunctionName cond = GetOr<FunctionName>(graph_.node(id_).attrs, "cond");
    TRY_ASSIGN(const FunctionBody body, Instantiate(graph_.library(), cond, graph_.registry()));
    FunctionWriter writer(body.graph);
    for (const NodeId arg : body.args)
      writer.Substitute({arg, 0}, writer.AddArg(body.graph.node(arg).outputs[0]));
    writer.AddArg({DType::kInt32, false, Shape()});
    for (size_t k = 0; k < kept_.size(); ++k) writer.AddArg({DType::kVariant, false, Shape()});
    TRY_ASSIGN(const std::vector<OutputRef> results,
               writer.Copy(body.Results(), /*controls=*/true, body.effects));
    bool has_effects = false;
    return writer.Finish(graph_, cond.name + "_forward", results, &has_effects);
  }

  // A loop over the rounds left, what arrives at each value that moves, the lists, and the values
  // that stayed the same.
  Status AddBackward(const BodyDerivative& derivative, const std::string& name) {
    std::vector<OutputRef> inputs = {{id_, first_kept_}};
    for (const int i : moving_) {
      const Expr dy = values_[i].dtype == DType::kResource && !g_.has_dy(i)
                          ? ZerosFor(g_.scope(), g_.input(i).ref(), DyType(derivative, i))
                          : g_.dy(i);
      if (!dy.valid()) return g_.scope().status();
      inputs.push_back(dy.ref());
    }
    for (size_t k = 0; k < kept_.size(); ++k)
      inputs.push_back({id_, first_kept_ + 1 + static_cast<int32_t>(k)});
    for (const int i : constant_) inputs.push_back(g_.input(i).ref());
    std::vector<OutputInfo> infos = InfosOf(graph_, inputs);
    for (size_t m = 0; m < moving_.size(); ++m) infos[1 + m].shape = values_[moving_[m]].shape;

    bool has_effects = false;
    TRY_ASSIGN(const FunctionName cond, WriteBackwardCond(infos, name, &has_effects));
    TRY_ASSIGN(const FunctionName body, WriteBackwardBody(derivative, infos, name, &has_effects));
    NodeSpec spec;
    spec.op = has_effects ? "While" : "StatelessWhile";
    spec.inputs = inputs;
    spec.attrs = {{"T", ListOf(TypesOf(graph_, inputs))}, {"cond", cond}, {"body", body}};
    TRY_ASSIGN(const NodeId node, g_.scope().AddNode(std::move(spec)));
    for (size_t m = 0; m < moving_.size(); ++m) {
      const int32_t port = 1 + static_cast<int32_t>(m);
      graph_.node(node).outputs[port].shape = infos[1 + m].shape;
      g_.Set(moving_[m], Expr(&g_.scope(), {node, port}));
    }
    return OkStatus();
  }

  DType DyType(const BodyDerivative& derivative, int value) const {
    const auto at = std::find(moving_.begin(), moving_.end(), value) - moving_.begin();
    return derivative.body().graph.output(derivative.dy(static_cast<size_t>(at))).dtype;
  }

  Result<FunctionName> WriteBackwardCond(const std::vector<OutputInfo>& infos,
                                         const std::string& name, bool* has_effects) {
    FunctionWriter writer(graph_);
    const OutputRef left = writer.AddArg(infos[0]);
    for (size_t i = 1; i < infos.size(); ++i) writer.AddArg(infos[i]);
    const Scope scope(writer.graph());
    const Expr go_on =
        Op("Greater", Expr(&scope, left), scope.Constant(Tensor::Scalar<int32_t>(0)));
    TRY(scope.status());
    return writer.Finish(graph_, name + "_grad_cond", {go_on.ref()}, has_effects);
  }

  Result<FunctionName> WriteBackwardBody(const BodyDerivative& derivative,
                                         const std::vector<OutputInfo>& infos,
                                         const std::string& name, bool* has_effects) {
    const Graph& source = derivative.body().graph;
    FunctionWriter writer(source);
    std::vector<OutputRef> args;
    for (const OutputInfo& info : infos) args.push_back(writer.AddArg(info));
    const Scope scope(writer.graph());
    size_t next = 1;
    for (size_t m = 0; m < moving_.size(); ++m) writer.Substitute(derivative.dy(m), args[next++]);
    std::vector<OutputRef> lists;
    for (const OutputRef& value : kept_) {
      const OutputInfo& info = source.output(value);
      const Expr popped = scope.Add("TensorListPopBack",
                                    {Expr(&scope, args[next++]), ElementShape(scope, info.shape)},
                                    {{"element_dtype", info.dtype}});
      if (!popped.valid()) return scope.status();
      lists.push_back(popped.ref());
      writer.Substitute(value, popped.Output(1).ref());
    }
    std::vector<OutputRef> constants;
    for (const int i : constant_) {
      constants.push_back(args[next]);
      writer.Substitute({derivative.body().args[i], 0}, args[next++]);
    }
    std::vector<OutputRef> results = {(Expr(&scope, args[0]) - 1.0).ref()};
    for (size_t m = 0; m < moving_.size(); ++m) {
      const OutputRef dx = derivative.dx(static_cast<size_t>(moving_[m]));
      if (dx.node != kNoNode) {
        TRY_ASSIGN(const std::vector<OutputRef> copied, writer.Copy({dx}));
        results.push_back(copied[0]);
      } else {
        results.push_back(Op("ZerosLike", Expr(&scope, args[1 + m])).ref());
      }
    }
    results.insert(results.end(), lists.begin(), lists.end());
    results.insert(results.end(), constants.begin(), constants.end());
    TRY(scope.status());
    return writer.Finish(graph_, name + "_grad", results, has_effects);
  }

  Gradients& g_;
  Graph& graph_;
  const NodeId id_;
  std::vector<OutputInfo> values_;  // what goes round
  std::vector<int> moving_;         // those that have a gradient
  std::vector<int> constant_;       // those that stay as they are and that the derivative reads
  std::vector<OutputRef> kept_;     // values of a round that go into lists
  int32_t first_kept_ = 0;          // the output that counts the rounds; the lists follow
};

void Report(Gradients& g, const Status& status) {
  if (!status.ok()) g.scope().Fail(status);
}

}  // namespace

void DifferentiateCall(Gradients& g) {
  const Graph& graph = g.scope().graph();
  const FunctionName f = GetOr<FunctionName>(graph.node(g.output(0).ref().node).attrs, "f");
  const auto& named = graph.library().gradients;
  if (const auto own = named.find(f.name); own != named.end()) {
    Report(g, CallGradientFunction(g, {own->second, f.attrs}));
  } else {
    Report(g, ChoiceGradient(g, CallForm()).Run());
  }
}

void DifferentiateBranches(Gradients& g) {
  const std::string& op = g.scope().graph().node(g.output(0).ref().node).op_name();
  Report(g, ChoiceGradient(g, op.ends_with("If") ? IfForm() : CaseForm()).Run());
}

void DifferentiateWhile(Gradients& g) { Report(g, WhileGradient(g).Run()); }

}  // namespace penstock
