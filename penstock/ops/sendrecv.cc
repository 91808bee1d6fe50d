#include "penstock/ops/sendrecv.h"

#include "penstock/transport/rendezvous.h"

namespace penstock::ops {
namespace {

Status NoRendezvous(const std::string& key) {
  return Internal("the step has no rendezvous for {}", key);
}

class SendKernel final : public Kernel {
 public:
  explicit SendKernel(std::string key) : key_(std::move(key)) {}
  Status Compute(KernelContext& context) override {
    Rendezvous* rendezvous = context.step().rendezvous;
    if (rendezvous == nullptr) return NoRendezvous(key_);
    return rendezvous->Send(key_, context.input(0), false);
  }

 private:
  const std::string key_;
};

class RecvKernel final : public Kernel {
 public:
  RecvKernel(std::string key, DType dtype) : key_(std::move(key)), dtype_(dtype) {}
  Status Compute(KernelContext&) override { return Internal("_Recv is computed asynchronously"); }
  bool IsAsync() const override { return true; }
  void ComputeAsync(KernelContext& context, std::function<void(Status)> done) override {
    Rendezvous* rendezvous = context.step().rendezvous;
    if (rendezvous == nullptr) {
      done(NoRendezvous(key_));
      return;
    }
    rendezvous->RecvAsync(
        key_, context.cancellation(),
        [this, &context, done = std::move(done)](const Status& status, Tensor value, bool dead) {
          done(status.ok() ? Take(context, std::move(value), dead) : status);
        });
  }

 private:
  Status Take(KernelContext& context, Tensor value, bool dead) const {
    if (dead) {
      context.SetDead(0);
      return OkStatus();
    }
    if (value.dtype() != dtype_) {
      return InvalidArgument("{} must be {}, got {}", key_, dtype_, value.dtype());
    }
    context.SetOutput(0, std::move(value));
    return OkStatus();
  }

  const std::string key_;
  const DType dtype_;
};

template <class Op>
std::string KeyOf(const KernelRequest& request) {
  const Op& op = static_cast<const op_internal::Decoded<Op>*>(request.op.get())->op;
  return RendezvousKey(op.send_device, op.send_device_incarnation, op.recv_device, op.tensor_name);
}

}  // namespace

template <FixedString Name>
Result<std::unique_ptr<Kernel>> SendTo<Name>::MakeCpuKernel(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(std::make_unique<SendKernel>(KeyOf<SendTo>(request)));
}

template <FixedString Name>
Result<std::unique_ptr<Kernel>> RecvFrom<Name>::MakeCpuKernel(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(
      std::make_unique<RecvKernel>(KeyOf<RecvFrom>(request), request.outputs[0]));
}

void RegisterSendRecv(Registrar& registrar) { registrar.AddAll<Send, HostSend, Recv, HostRecv>(); }

}  // namespace penstock::ops
