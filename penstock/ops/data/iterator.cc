#include "penstock/ops/data/iterator.h"

#include "penstock/ops/data/iterator_state.h"
#include "penstock/ops/functions/called_function.h"
#include "penstock/ops/shared_state.h"

namespace penstock::ops {
namespace {

template <class Op>
const Op& OpOf(const KernelRequest& request) {
  return static_cast<const op_internal::Decoded<Op>*>(request.op.get())->op;
}

SharedState<IteratorState> StateOf(const std::string& container, const std::string& shared_name,
                                   const KernelRequest& request) {
  return SharedState<IteratorState>(container, shared_name.empty() ? request.node : shared_name,
                                    "Iterator", [] { return std::make_shared<IteratorState>(); });
}

class IteratorKernel final : public Kernel {
 public:
  IteratorKernel(const std::string& container, const std::string& shared_name,
                 const KernelRequest& request)
      : state_(StateOf(container, shared_name, request)) {}

  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(Tensor handle, state_.GetHandle(context));
    context.SetOutput(0, std::move(handle));
    return OkStatus();
  }

 private:
  SharedState<IteratorState> state_;
};

class OneShotKernel final : public Kernel {
 public:
  OneShotKernel(const OneShotIterator& op, const KernelRequest& request)
      : state_(StateOf(op.container, op.shared_name, request)),
        factory_(op.dataset_factory, "dataset_factory", {}, std::vector<DType>{DType::kVariant}) {}

  bool IsAsync() const override { return true; }

  // In a sequence, where nothing waits.
  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(const std::shared_ptr<IteratorState> state, state_.Get(context));
    if (!state->initialized()) {
      TRY_ASSIGN(auto* const factory, factory_.Get(context.step()));
      TRY(Begin(*state, factory->Run(context.step(), {})));
    }
    return Hand(context);
  }

  void ComputeAsync(KernelContext& context, std::function<void(Status)> done) override {
    const Result<std::shared_ptr<IteratorState>> state = state_.Get(context);
    if (!state.ok()) return done(state.status());
    if ((*state)->initialized()) return done(Hand(context));
    const Result<RunnableFunction*> factory = factory_.Get(context.step());
    if (!factory.ok()) return done(factory.status());
    (*factory)->Start(
        context.step(), {},
        [this, &context, state = *state, done = std::move(done)](Result<Element> made) {
          const Status status = Begin(*state, made);
          done(status.ok() ? Hand(context) : status);
        });
  }

 private:
  static Status Begin(IteratorState& state, const Result<Element>& made) {
    if (!made.ok()) return made.status();
    TRY_ASSIGN(const DatasetPtr dataset, DatasetIn((*made)[0]));
    state.StartOnce(*dataset);
    return OkStatus();
  }
  Status Hand(KernelContext& context) {
    TRY_ASSIGN(Tensor handle, state_.GetHandle(context));
    context.SetOutput(0, std::move(handle));
    return OkStatus();
  }

  SharedState<IteratorState> state_;
  const CalledFunction factory_;
};

class GetNextKernel final : public Kernel {
 public:
  explicit GetNextKernel(const ElementSpec& spec)
      : dtypes_(spec.output_types), shapes_(spec.output_shapes) {}

  bool IsAsync() const override { return true; }
  Status Compute(KernelContext&) override { return Internal("an iterator may wait"); }

  void ComputeAsync(KernelContext& context, std::function<void(Status)> done) override {
    std::shared_ptr<Resource> keep;
    const Result<IteratorState*> state =
        FindShared<IteratorState>(context, context.input(0), "Iterator", &keep);
    if (!state.ok()) return done(state.status());
    (*state)->GetNext(context.step(), [this, &context, done = std::move(done)](
                                          Result<std::optional<Element>> answer) {
      done(answer.ok() ? Deliver(context, *std::move(answer)) : answer.status());
    });
  }

 private:
  Status Deliver(KernelContext& context, std::optional<Element> element) const {
    if (!element) return OutOfRange("End of sequence");
    if (element->size() != dtypes_.size()) {
      return InvalidArgument("Number of components does not match: expected {} but got {}.",
                             dtypes_.size(), element->size());
    }
    for (size_t i = 0; i < dtypes_.size(); ++i) {
      Tensor& tensor = (*element)[i];
      if (tensor.dtype() != dtypes_[i] || !shapes_[i].IsCompatibleWith(tensor.shape())) {
        return InvalidArgument("component {} must be {} {}, got {} {}", i, dtypes_[i], shapes_[i],
                               tensor.dtype(), tensor.shape());
      }
      context.SetOutput(static_cast<int>(i), std::move(tensor));
    }
    return OkStatus();
  }

  const std::vector<DType> dtypes_;
  const std::vector<Shape> shapes_;
};

}  // namespace

template <FixedString Name>
Result<std::unique_ptr<Kernel>> IteratorForm<Name>::MakeCpuKernel(const KernelRequest& request) {
  const IteratorForm& op = OpOf<IteratorForm>(request);
  return std::unique_ptr<Kernel>(
      std::make_unique<IteratorKernel>(op.container, op.shared_name, request));
}

Result<std::unique_ptr<Kernel>> OneShotIterator::MakeCpuKernel(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(
      std::make_unique<OneShotKernel>(OpOf<OneShotIterator>(request), request));
}

template <FixedString Name>
Result<std::unique_ptr<Kernel>> IteratorGetNextForm<Name>::MakeCpuKernel(
    const KernelRequest& request) {
  return std::unique_ptr<Kernel>(
      std::make_unique<GetNextKernel>(OpOf<IteratorGetNextForm>(request)));
}

Status MakeIterator::ComputeCpu(CpuContext& context, const Tensor& dataset,
                                const Tensor& iterator) const {
  std::shared_ptr<Resource> keep;
  TRY_ASSIGN(IteratorState * state,
             FindShared<IteratorState>(context, iterator, "Iterator", &keep));
  TRY_ASSIGN(const DatasetPtr made_of, DatasetIn(dataset));
  state->Restart(*made_of);
  return OkStatus();
}

// A handle as text: the container's name, a 0, and the iterator's.

Status IteratorToStringHandle::ComputeCpu(CpuContext& context, const Tensor& resource_handle,
                                          Tensor& string_handle) const {
  std::shared_ptr<Resource> keep;
  TRY(FindShared<IteratorState>(context, resource_handle, "Iterator", &keep));
  const ResourceHandle& handle = resource_handle.scalar<ResourceHandle>();
  *string_handle.mutable_data<std::string>() = handle.container + '\0' + handle.name;
  return OkStatus();
}

template <FixedString Name>
Status IteratorFromStringHandleForm<Name>::ComputeCpu(CpuContext& context,
                                                      const Tensor& string_handle) const {
  const std::string& text = string_handle.scalar<std::string>();
  const size_t end = text.find('\0');
  if (end == std::string::npos)
    return InvalidArgument("'{}' is no handle of an iterator", Printable(text));
  TRY_ASSIGN(Tensor tensor, context.Allocate(DType::kResource, Shape()));
  ResourceHandle& handle = *tensor.mutable_data<ResourceHandle>();
  handle.container = text.substr(0, end);
  handle.name = text.substr(end + 1);
  handle.type_name = "Iterator";
  handle.resource = context.state().Find(handle.container, handle.name);
  std::shared_ptr<Resource> keep;
  TRY(FindShared<IteratorState>(context, tensor, "Iterator", &keep));
  context.SetOutput(0, std::move(tensor));
  return OkStatus();
}

void RegisterIterators(Registrar& registrar) {
  registrar.AddAll<Iterator, IteratorV2, OneShotIterator, MakeIterator, IteratorGetNext,
                   IteratorGetNextSync, IteratorToStringHandle, IteratorFromStringHandle,
                   IteratorFromStringHandleV2>();
}

}  // namespace penstock::ops
