#include "penstock/train/loop/reports.h"

#include "penstock/client/error.h"
#include "penstock/core/log.h"
#include "penstock/io/file_tree.h"
#include "penstock/train/loop/training.h"

namespace penstock {
namespace {

class SummaryHook final : public Hook {
 public:
  explicit SummaryHook(const Summaries& settings) : settings_(settings) {
    if (settings.writer == nullptr) throw Error(InvalidArgument("summaries need a writer"));
    if (settings.every_steps <= 0)
      throw Error(
          InvalidArgument("summaries: every_steps must be positive, got {}", settings.every_steps));
  }

  void Begin(Training& training) override {
    if (settings_.graph) settings_.writer->AddGraph(training.graph());
  }

  void BeforeStep(Training& training, StepRequest& request) override {
    due_ = (training.step() + 1) % settings_.every_steps == 0;
    if (due_ && has_summary()) request.fetches.push_back(settings_.summary.ref());
  }

  void AfterStep(Training& training) override {
    if (!due_) return;
    for (const auto& [name, value] : training.metrics())
      settings_.writer->AddScalar(name, value, training.step());
    if (!has_summary()) return;
    const Tensor* summary = training.Fetched(settings_.summary.ref());
    if (summary != nullptr)
      settings_.writer->AddSummary(summary->scalar<std::string>(), training.step());
  }

  // Written out, also when the process will not end as it should.
  void End(Training& training) override {
    if (training.step() > training.first_step() && !due_)
      for (const auto& [name, value] : training.metrics())
        settings_.writer->AddScalar(name, value, training.step());
    settings_.writer->Flush();
  }

 private:
  bool has_summary() const { return settings_.summary.ref().node != kNoNode; }

  const Summaries settings_;
  bool due_ = false;
};

class ProfileHook final : public Hook {
 public:
  explicit ProfileHook(const Profile& settings) : settings_(settings) {
    if (settings.every_steps <= 0)
      throw Error(
          InvalidArgument("profile: every_steps must be positive, got {}", settings.every_steps));
  }

  void Begin(Training&) override { OrThrow(io::MakeFolders(settings_.folder)); }

  void BeforeStep(Training& training, StepRequest& request) override {
    const int64_t since = training.step() + 1 - settings_.first_step;
    if (since < 0 || since % settings_.every_steps != 0) return;
    if (settings_.max_profiles > 0 && num_profiles_ >= settings_.max_profiles) return;
    request.trace = true;
  }

  void AfterStep(Training& training) override {
    if (training.trace() == nullptr) return;
    ++num_profiles_;
    const std::string path = Format("{}/profile_{}.json", settings_.folder, training.step());
    const Status status = io::WriteFileAtomically(path, training.trace()->chrome_trace);
    // A trace is not worth a run.
    if (!status.ok()) Log(LogLevel::kWarning, "profile: " + status.ToString());
    if (settings_.writer != nullptr)
      settings_.writer->AddRunMetadata(Format("step_{}", training.step()), *training.trace(),
                                       training.step());
  }

 private:
  const Profile settings_;
  int64_t num_profiles_ = 0;
};

}  // namespace

std::unique_ptr<Hook> MakeHook(const Summaries& settings) {
  return std::make_unique<SummaryHook>(settings);
}

std::unique_ptr<Hook> MakeHook(const Profile& settings) {
  return std::make_unique<ProfileHook>(settings);
}

}  // namespace penstock
