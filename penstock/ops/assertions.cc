#include "penstock/ops/assertions.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <utility>

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

// Bits for what is not finite.
constexpr uint32_t kNan = 1, kPositiveInfinity = 2, kNegativeInfinity = 4;

template <class T>
uint32_t NotFinite(CpuContext& context, std::span<const T> values) {
  std::atomic<uint32_t> found{0};  // relaxed: ParallelFor orders it
  context.parallel()(
      static_cast<int64_t>(values.size()), /*cost=*/1, [&](int64_t begin, int64_t end) {
        const auto part =
            values.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
        bool all_finite = true;
        for (const T& value : part) all_finite &= std::isfinite(static_cast<double>(value));
        if (all_finite) return;
        uint32_t here = 0;
        for (const T& value : part) {
          const double number = static_cast<double>(value);
          if (std::isnan(number)) here |= kNan;
          if (std::isinf(number)) here |= number > 0 ? kPositiveInfinity : kNegativeInfinity;
        }
        found.fetch_or(here, std::memory_order_relaxed);
      });
  return found;
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

template <FixedString Name, bool kTellsSigns>
void NumericsCheck<Name, kTellsSigns>::Gradient(Gradients& g) const {
  const std::string text =
      "Not a number (NaN) or infinity (Inf) values detected in gradient. " + message;
  g.Set(0, Op(kName, g.dy(), {{"message", text}}));
}

template <FixedString Name, bool kTellsSigns>
template <class T>
Status NumericsCheck<Name, kTellsSigns>::ComputeCpu(CpuContext& context,
                                                    const Tensor& tensor) const {
  const uint32_t found = NotFinite(context, tensor.values<T>());
  if (found != 0) {
    const bool has_inf = (found & (kPositiveInfinity | kNegativeInfinity)) != 0;
    std::string what = (found & kNan) != 0 ? "NaN" : "";
    const auto add = [&](std::string_view kind) {
      what = std::string(kind) + (what.empty() ? "" : " and ") + what;
    };
    if (has_inf && !kTellsSigns) add("Inf");
    if (kTellsSigns && (found & kPositiveInfinity) != 0) add("+Inf");
    if (kTellsSigns && (found & kNegativeInfinity) != 0) add("-Inf");
    return InvalidArgument("{} : Tensor had {} values", message, what);
  }
  context.SetOutput(0, tensor);
  return OkStatus();
}

Result<Shape> Print::InferShape(const Shape& input, std::span<const Known>) const { return input; }

Result<std::unique_ptr<Kernel>> Print::MakeCpuKernel(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(std::make_unique<PrintKernel>(request));
}

namespace {
const std::pair<std::string_view, LogLevel> kLogs[] = {{"log(info)", LogLevel::kInfo},
                                                       {"log(warning)", LogLevel::kWarning},
                                                       {"log(error)", LogLevel::kError}};
}  // namespace

Status PrintV2::CheckAttrs() const {
  if (output_stream == "stdout" || output_stream == "stderr") return OkStatus();
  for (const auto& [name, level] : kLogs)
    if (output_stream == name) return OkStatus();
  return InvalidArgument(
      "output_stream must be stdout, stderr, log(info), log(warning) or log(error), got {}",
      Printable(output_stream));
}

Result<std::vector<Shape>> PrintV2::InferShape(const Shape& input) const {
  TRY(CheckScalar(input, "input"));
  return std::vector<Shape>();
}

Status PrintV2::ComputeCpu(CpuContext&, const Tensor& input) const {
  const std::string& text = input.scalar<std::string>();
  for (const auto& [name, level] : kLogs) {
    if (output_stream != name) continue;
    Log(level, text);
    return OkStatus();
  }
  const std::string line = text + end;
  std::FILE* stream = output_stream == "stdout" ? stdout : stderr;
  std::fwrite(line.data(), 1, line.size(), stream);
  std::fflush(stream);
  return OkStatus();
}

void RegisterAssertions(Registrar& registrar) {
  registrar.AddAll<Assert, CheckNumerics, CheckNumericsV2, Print, PrintV2>();
}

}  // namespace penstock::ops
