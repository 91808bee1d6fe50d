#include "penstock/ops/text/regex.h"

#include <optional>
#include <utility>

#include "penstock/core/mutex.h"
#include "penstock/ops/text/regex_engine.h"

namespace penstock::ops {
namespace {

constexpr double kCostOfMatch = 500;

// A node with a regular expression: that of its attribute, or the last one that its input 1 held.
class RegexKernel : public Kernel {
 public:
  explicit RegexKernel(std::optional<std::string> pattern) : pattern_(std::move(pattern)) {}

  Status Compute(KernelContext& context) final {
    TRY_ASSIGN(const std::shared_ptr<const Regex> regex, Get(context));
    return Run(context, *regex);
  }

 protected:
  virtual Status Run(KernelContext& context, const Regex& regex) const = 0;

 private:
  Result<std::shared_ptr<const Regex>> Get(KernelContext& context) {
    if (!pattern_.has_value()) TRY(CheckScalar(context.input(1).shape(), "pattern"));
    const std::string& wanted =
        pattern_.has_value() ? *pattern_ : context.input(1).scalar<std::string>();
    MutexLock lock(mu_);
    if (compiled_ == nullptr || compiled_from_ != wanted) {
      TRY_ASSIGN(compiled_, Regex::Compile(wanted));
      compiled_from_ = wanted;
    }
    return compiled_;
  }

  const std::optional<std::string> pattern_;
  Mutex mu_;
  std::shared_ptr<const Regex> compiled_ GUARDED_BY(mu_);
  std::string compiled_from_ GUARDED_BY(mu_);
};

class ReplaceKernel final : public RegexKernel {
 public:
  ReplaceKernel(std::optional<std::string> pattern, std::optional<std::string> rewrite, bool all)
      : RegexKernel(std::move(pattern)), rewrite_(std::move(rewrite)), all_(all) {}

 private:
  Status Run(KernelContext& context, const Regex& regex) const override {
    if (!rewrite_.has_value()) TRY(CheckScalar(context.input(2).shape(), "rewrite"));
    const std::string& rewrite =
        rewrite_.has_value() ? *rewrite_ : context.input(2).scalar<std::string>();
    const Tensor& input = context.input(0);
    TRY(context.AllocateOutput(0, DType::kString, input.shape()));
    std::string* to = context.output(0).mutable_data<std::string>();
    context.parallel()(input.num_elements(), kCostOfMatch, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        to[i] = input.data<std::string>()[i];
        regex.Replace(rewrite, all_, &to[i]);
      }
    });
    return OkStatus();
  }

  const std::optional<std::string> rewrite_;
  const bool all_;
};

class MatchKernel final : public RegexKernel {
 public:
  using RegexKernel::RegexKernel;

 private:
  Status Run(KernelContext& context, const Regex& regex) const override {
    const Tensor& input = context.input(0);
    TRY(context.AllocateOutput(0, DType::kBool, input.shape()));
    bool* to = context.output(0).mutable_data<bool>();
    context.parallel()(input.num_elements(), kCostOfMatch, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = regex.MatchesAll(input.data<std::string>()[i]);
    });
    return OkStatus();
  }
};

template <class Op>
const Op& OpOf(const KernelRequest& request) {
  return static_cast<const op_internal::Decoded<Op>*>(request.op.get())->op;
}

}  // namespace

Result<Shape> RegexReplace::InferShape(const Shape& input, const Shape& pattern,
                                       const Shape& rewrite) const {
  TRY(CheckScalar(pattern, "pattern"));
  TRY(CheckScalar(rewrite, "rewrite"));
  return input;
}
Result<std::unique_ptr<Kernel>> RegexReplace::MakeCpuKernel(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(std::make_unique<ReplaceKernel>(
      std::nullopt, std::nullopt, OpOf<RegexReplace>(request).replace_global));
}

Result<std::unique_ptr<Kernel>> StaticRegexReplace::MakeCpuKernel(const KernelRequest& request) {
  const auto& op = OpOf<StaticRegexReplace>(request);
  return std::unique_ptr<Kernel>(
      std::make_unique<ReplaceKernel>(op.pattern, op.rewrite, op.replace_global));
}

Result<Shape> RegexFullMatch::InferShape(const Shape& input, const Shape& pattern) const {
  TRY(CheckScalar(pattern, "pattern"));
  return input;
}
Result<std::unique_ptr<Kernel>> RegexFullMatch::MakeCpuKernel(const KernelRequest&) {
  return std::unique_ptr<Kernel>(std::make_unique<MatchKernel>(std::nullopt));
}

Result<std::unique_ptr<Kernel>> StaticRegexFullMatch::MakeCpuKernel(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(
      std::make_unique<MatchKernel>(OpOf<StaticRegexFullMatch>(request).pattern));
}

void RegisterRegex(Registrar& registrar) {
  registrar.AddAll<RegexReplace, StaticRegexReplace, RegexFullMatch, StaticRegexFullMatch>();
}

}  // namespace penstock::ops
