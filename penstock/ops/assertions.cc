#include "penstock/ops/assertions.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "penstock/core/log.h"

namespace penstock::ops {
namespace {

// Text for a person: no more elements than anyone reads, whatever the attribute says.
constexpr int64_t kMostElements = 1000;

// "[1 2 3...]": the first `limit` elements, all when it is negative.
std::string Summary(const Tensor& tensor, int64_t limit) {
  const int64_t n = tensor.num_elements();
  const int64_t shown = std::min({n, limit < 0 ? n : limit, kMostElements});
  std::string text = tensor.shape().rank() == 0 ? "" : "[";
  for (int64_t i = 0; i < shown; ++i) {
    if (i > 0) text += ' ';
    text += ElementToString(tensor, i);
  }
  if (shown < n) text += "...";
  if (tensor.shape().rank() > 0) text += ']';
  return text;
}

std::string Summaries(std::span<Tensor* const> tensors, int64_t limit) {
  std::string text;
  for (const Tensor* tensor : tensors) {
    text += '[' + Summary(*tensor, limit) + ']';
    if (text.size() > kMaxMessageBytes) break;
  }
  return text;
}

class PrintKernel final : public Kernel {
 public:
  explicit PrintKernel(const KernelRequest& request)
      : op_(request.op), print_(static_cast<const op_internal::Decoded<Print>*>(op_.get())->op) {}

  Status Compute(KernelContext& context) override {
    context.SetOutput(0, context.input(0));
    // Relaxed: a count, nothing else hangs on it.
    if (print_.first_n >= 0 && times_.fetch_add(1, std::memory_order_relaxed) >= print_.first_n) {
      return OkStatus();
    }
    const auto data = context.inputs(1, context.num_inputs() - 1);
    Log(LogLevel::kInfo, print_.message + Summaries(data, print_.summarize));
    return OkStatus();
  }

 private:
  const std::shared_ptr<const void> op_;
  const Print& print_;
  std::atomic<int64_t> times_{0};
};

}  // namespace

Result<std::vector<Shape>> Assert::InferShape(const Shape& condition,
                                              std::span<const Known>) const {
  TRY(CheckScalar(condition, "condition"));
  return std::vector<Shape>();
}

Status Assert::ComputeCpu(CpuContext&, bool condition, std::span<Tensor* const> data) const {
  if (condition) return OkStatus();
  return InvalidArgument("assertion failed: {}", Summaries(data, summarize));
}

void CheckNumerics::Gradient(Gradients& g) const {
  const std::string text =
      "Not a number (NaN) or infinity (Inf) values detected in gradient. " + message;
  g.Set(0, Op("CheckNumerics", g.dy(), {{"message", text}}));
}

template <class T>
Status CheckNumerics::ComputeCpu(CpuContext& context, const Tensor& tensor) const {
  const T* values = tensor.data<T>();
  std::atomic<bool> has_nan{false}, has_inf{false};  // relaxed: ParallelFor orders them
  context.parallel()(tensor.num_elements(), /*cost=*/1, [&](int64_t begin, int64_t end) {
    bool all_finite = true;
    for (int64_t i = begin; i < end; ++i)
      all_finite &= std::isfinite(static_cast<double>(values[i]));
    if (all_finite) return;
    for (int64_t i = begin; i < end; ++i) {
      const double value = static_cast<double>(values[i]);
      if (std::isnan(value)) has_nan.store(true, std::memory_order_relaxed);
      if (std::isinf(value)) has_inf.store(true, std::memory_order_relaxed);
    }
  });
  if (has_nan || has_inf) {
    const char* what = has_nan && has_inf ? "Inf and NaN" : has_nan ? "NaN" : "Inf";
    return InvalidArgument("{} : Tensor had {} values", message, what);
  }
  context.SetOutput(0, tensor);
  return OkStatus();
}

Result<Shape> Print::InferShape(const Shape& input, std::span<const Known>) const { return input; }

Result<std::unique_ptr<Kernel>> Print::MakeCpuKernel(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(std::make_unique<PrintKernel>(request));
}

void RegisterAssertions(Registrar& registrar) { registrar.AddAll<Assert, CheckNumerics, Print>(); }

}  // namespace penstock::ops
