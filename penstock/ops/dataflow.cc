#include "penstock/ops/dataflow.h"

#include "penstock/ops/register_all.h"

namespace penstock {
namespace {

class UnfedKernel final : public Kernel {
 public:
  UnfedKernel(std::string node, DType dtype) : node_(std::move(node)), dtype_(dtype) {}
  Status Compute(KernelContext&) override {
    return InvalidArgument("You must feed a value for placeholder tensor '{}' with dtype {}", node_, dtype_);
  }

 private:
  const std::string node_;
  const DType dtype_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> Placeholder::MakeCpuKernel(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(std::make_unique<UnfedKernel>(request.node, request.outputs[0]));
}

void RegisterDataflow(Registrar& registrar) {
  registrar.AddAll<Const, Placeholder, PlaceholderWithDefault, Identity, NoOp, Arg, Retval>();
}

}  // namespace penstock
