#include "penstock/ops/functions/functional.h"

#include <algorithm>

#include "penstock/ops/functions/called_function.h"
#include "penstock/ops/functions/function_loop.h"

namespace penstock::ops {
namespace {

std::vector<DType> From(std::span<const DType> dtypes, size_t first) {
  return {dtypes.begin() + static_cast<ptrdiff_t>(first), dtypes.end()};
}

Status CheckPromised(const std::vector<Shape>& shapes, const KernelRequest& request) {
  if (shapes.empty() || shapes.size() == request.outputs.size()) return OkStatus();
  return InvalidArgument("attribute output_shapes must have a shape for each of {} outputs, got {}",
                         request.outputs.size(), shapes.size());
}

template <class Op>
const Op& OpOf(const KernelRequest& request) {
  return static_cast<const op_internal::Decoded<Op>*>(request.op.get())->op;
}

// Calls one function: the only one, or the branch that the first input chooses.
class CallKernel : public Kernel {
 public:
  // `first`: the first input that is an argument.
  CallKernel(int first, std::vector<Shape> promised)
      : first_(first), promised_(std::move(promised)) {}

  bool IsAsync() const final { return true; }

  // In a sequence, where nothing waits.
  Status Compute(KernelContext& context) final {
    TRY_ASSIGN(auto* const function, Choose(context));
    if (function->may_wait()) return Internal("function {} would wait", function->name());
    std::vector<Tensor> args = TakeInputs(context, first_);
    Result<std::vector<Tensor>> results = function->Run(context.step(), {.taken = args});
    if (!results.ok()) return results.status();
    return SetOutputs(context, *std::move(results), promised_);
  }

  void ComputeAsync(KernelContext& context, std::function<void(Status)> done) final {
    const Result<RunnableFunction*> function = Choose(context);
    if (!function.ok()) return done(function.status());
    std::vector<Tensor> args = TakeInputs(context, first_);
    (*function)->Start(context.step(), {.taken = args},
                       [this, &context, done = std::move(done)](Result<std::vector<Tensor>> r) {
                         done(r.ok() ? SetOutputs(context, *std::move(r), promised_) : r.status());
                       });
  }

 protected:
  virtual Result<RunnableFunction*> Choose(KernelContext& context) const = 0;

 private:
  const int first_;
  const std::vector<Shape> promised_;
};

class PlainCall final : public CallKernel {
 public:
  PlainCall(const FunctionName& function, const KernelRequest& request)
      : CallKernel(0, {}),
        function_(function, "f", From(request.inputs, 0), From(request.outputs, 0)) {}

 private:
  Result<RunnableFunction*> Choose(KernelContext& context) const override {
    return function_.Get(context.step());
  }
  const CalledFunction function_;
};

class IfCall final : public CallKernel {
 public:
  IfCall(const FunctionName& then_branch, const FunctionName& else_branch,
         const std::vector<Shape>& promised, const KernelRequest& request)
      : CallKernel(1, promised),
        then_(then_branch, "then_branch", From(request.inputs, 1), From(request.outputs, 0)),
        else_(else_branch, "else_branch", From(request.inputs, 1), From(request.outputs, 0)) {}

 private:
  Result<RunnableFunction*> Choose(KernelContext& context) const override {
    TRY_ASSIGN(const bool cond, IsTrue(context.input(0)));
    return (cond ? then_ : else_).Get(context.step());
  }
  const CalledFunction then_;
  const CalledFunction else_;
};

class CaseCall final : public CallKernel {
 public:
  CaseCall(const std::vector<FunctionName>& branches, const std::vector<Shape>& promised,
           const KernelRequest& request)
      : CallKernel(1, promised) {
    for (const FunctionName& branch : branches) {
      branches_.push_back(std::make_unique<CalledFunction>(
          branch, "branches", From(request.inputs, 1), From(request.outputs, 0)));
    }
  }

 private:
  Result<RunnableFunction*> Choose(KernelContext& context) const override {
    if (context.input(0).num_elements() != 1)
      return InvalidArgument("branch_index must be a scalar, got {}", context.input(0).shape());
    const auto index = static_cast<size_t>(context.input(0).scalar<int32_t>());  // negative: huge
    return branches_[std::min(index, branches_.size() - 1)]->Get(context.step());
  }
  std::vector<std::unique_ptr<CalledFunction>> branches_;
};

class LoopKernel : public Kernel {
 public:
  explicit LoopKernel(std::vector<Shape> promised) : promised_(std::move(promised)) {}

  bool IsAsync() const final { return true; }

  Status Compute(KernelContext& context) final {
    TRY_ASSIGN(const std::unique_ptr<FunctionLoop> loop, MakeLoop(context));
    TRY_ASSIGN(std::vector<Tensor> values, loop->Run());
    return SetOutputs(context, std::move(values), promised_);
  }

  void ComputeAsync(KernelContext& context, std::function<void(Status)> done) final {
    Result<std::unique_ptr<FunctionLoop>> loop = MakeLoop(context);
    if (!loop.ok()) return done(loop.status());
    loop->release()->Start(
        [this, &context, done = std::move(done)](Result<std::vector<Tensor>> values) {
          done(values.ok() ? SetOutputs(context, *std::move(values), promised_) : values.status());
        });
  }

 protected:
  virtual Result<std::unique_ptr<FunctionLoop>> MakeLoop(KernelContext& context) const = 0;

 private:
  const std::vector<Shape> promised_;
};

class WhileLoop final : public LoopKernel {
 public:
  WhileLoop(const FunctionName& cond, const FunctionName& body, const std::vector<Shape>& promised,
            const KernelRequest& request)
      : LoopKernel(promised),
        args_(From(request.inputs, 0)),
        cond_(cond, "cond", args_, std::nullopt),
        body_(body, "body", args_, args_) {}

 private:
  Result<std::unique_ptr<FunctionLoop>> MakeLoop(KernelContext& context) const override {
    TRY_ASSIGN(auto* const cond, cond_.Get(context.step()));
    TRY_ASSIGN(auto* const body, body_.Get(context.step()));
    return std::make_unique<FunctionLoop>(context.step(), cond, body, TakeInputs(context, 0));
  }
  const std::vector<DType> args_;
  const CalledFunction cond_;
  const CalledFunction body_;
};

class ForLoop final : public LoopKernel {
 public:
  ForLoop(const FunctionName& body, const KernelRequest& request)
      : LoopKernel({}), body_(body, "body", BodyArgs(request), From(request.inputs, 3)) {}

 private:
  static std::vector<DType> BodyArgs(const KernelRequest& request) {
    std::vector<DType> args = From(request.inputs, 2);
    args[0] = DType::kInt32;
    return args;
  }

  Result<std::unique_ptr<FunctionLoop>> MakeLoop(KernelContext& context) const override {
    int32_t range[3];
    for (int i = 0; i < 3; ++i) {
      if (context.input(i).num_elements() != 1)
        return InvalidArgument("start, limit and delta must be scalars, got {}",
                               context.input(i).shape());
      range[i] = context.input(i).scalar<int32_t>();
    }
    const auto [start, limit, delta] = range;
    const bool ends =
        (delta > 0 && start <= limit) || (delta < 0 && start >= limit) || (start == limit);
    if (!ends) {
      return InvalidArgument("Invalid start/limit/delta: {} {} {}", start, limit, delta);
    }
    TRY_ASSIGN(auto* const body, body_.Get(context.step()));
    return std::make_unique<FunctionLoop>(context.step(), start, limit, delta, body,
                                          TakeInputs(context, 3));
  }
  const CalledFunction body_;
};

}  // namespace

template <bool kHasEffects>
Result<std::unique_ptr<Kernel>> PartitionedCallForm<kHasEffects>::MakeCpuKernel(
    const KernelRequest& request) {
  return std::unique_ptr<Kernel>(
      std::make_unique<PlainCall>(OpOf<PartitionedCallForm>(request).f, request));
}
template <bool kHasEffects>
Result<std::unique_ptr<Kernel>> IfForm<kHasEffects>::MakeCpuKernel(const KernelRequest& request) {
  const IfForm& op = OpOf<IfForm>(request);
  TRY(CheckPromised(op.output_shapes, request));
  return std::unique_ptr<Kernel>(
      std::make_unique<IfCall>(op.then_branch, op.else_branch, op.output_shapes, request));
}
template <bool kHasEffects>
Result<std::unique_ptr<Kernel>> CaseForm<kHasEffects>::MakeCpuKernel(const KernelRequest& request) {
  const CaseForm& op = OpOf<CaseForm>(request);
  TRY(CheckPromised(op.output_shapes, request));
  if (op.branches.empty()) return InvalidArgument("a Case needs at least one branch");
  return std::unique_ptr<Kernel>(
      std::make_unique<CaseCall>(op.branches, op.output_shapes, request));
}
template <bool kHasEffects>
Result<std::unique_ptr<Kernel>> WhileForm<kHasEffects>::MakeCpuKernel(
    const KernelRequest& request) {
  const WhileForm& op = OpOf<WhileForm>(request);
  TRY(CheckPromised(op.output_shapes, request));
  return std::unique_ptr<Kernel>(
      std::make_unique<WhileLoop>(op.cond, op.body, op.output_shapes, request));
}
Result<std::unique_ptr<Kernel>> For::MakeCpuKernel(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(std::make_unique<ForLoop>(OpOf<For>(request).body, request));
}

Status FakeParam::ComputeCpu(CpuContext& context) const {
  std::vector<int64_t> dims;
  for (int i = 0; shape.has_rank() && i < shape.rank(); ++i)
    dims.push_back(std::max<int64_t>(shape.dim(i), 0));
  TRY_ASSIGN(Tensor value, context.Allocate(dtype, Shape(dims)));
  context.SetOutput(0, std::move(value));
  return OkStatus();
}

void RegisterFunctional(Registrar& registrar) {
  registrar.AddAll<PartitionedCall, StatefulPartitionedCall, If, StatelessIf, Case, StatelessCase,
                   While, StatelessWhile, For, FakeParam>();
}

}  // namespace penstock::ops
