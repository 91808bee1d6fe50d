#include "penstock/train/loop/progress.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "penstock/train/loop/training.h"

namespace penstock {
namespace {

double SteadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void WriteToStandardError(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

// With four digits, as far as they say something.
std::string Number(double value) {
  char text[32];
  const double size = std::abs(value);
  const char* format = size != 0 && (size < 1e-3 || size >= 1e5) ? "%.3e"
                       : size < 10                               ? "%.4f"
                       : size < 1000                             ? "%.2f"
                                                                 : "%.0f";
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string Bar(double done) {
  constexpr int kWidth = 20;
  const int filled = static_cast<int>(done * kWidth);
  std::string bar(static_cast<size_t>(filled), '=');
  if (filled < kWidth) bar += '>';
  bar.resize(kWidth, ' ');
  return "[" + bar + "]";
}

class ProgressHook final : public Hook {
 public:
  explicit ProgressHook(const Progress& settings)
      : settings_(settings),
        on_terminal_(settings.terminal == Progress::Terminal::kAsk
                         ? settings.write == nullptr && isatty(STDERR_FILENO) == 1
                         : settings.terminal == Progress::Terminal::kYes) {
    if (settings_.write == nullptr) settings_.write = WriteToStandardError;
    if (settings_.now == nullptr) settings_.now = SteadySeconds;
  }

  void Begin(Training& training) override {
    began_ = shown_ = settings_.now();
    num_examples_ = examples_shown_ = 0;
    if (training.step() > 0) settings_.write(Format("going on after step {}\n", training.step()));
  }

  void AfterStep(Training& training) override {
    num_examples_ += NumExamples(training.feeds());
    losses_ += training.loss();
    ++num_losses_;
    const double now = settings_.now();
    const double between =
        on_terminal_ ? settings_.seconds_between_updates : settings_.seconds_between_lines;
    if (now - shown_ < between) return;
    Show(training, now, num_examples_ - examples_shown_, now - shown_);
    examples_shown_ = num_examples_;
    shown_ = now;
  }

  void End(Training& training) override {
    const double now = settings_.now();
    if (training.step() > training.first_step()) Show(training, now, num_examples_, now - began_);
    if (on_terminal_ && training.step() > training.first_step()) settings_.write("\n");
    const TrainingEnd& end = *training.end();
    settings_.write(Format("{} after step {}: {} ({})\n",
                           end.reason == EndReason::kFailed ? "failed" : "training ended",
                           training.step(), end.message, FormatDuration(now - began_)));
  }

 private:
  void Show(Training& training, double now, int64_t examples, double seconds) {
    std::string line = Format("step {}", training.step());
    const int64_t total = training.expected_steps();
    if (total > 0) {
      const double done = std::min(1.0, static_cast<double>(training.step()) / total);
      line += Format("/{}", total);
      if (on_terminal_) line += " " + Bar(done);
      line += Format(" {}%", static_cast<int64_t>(100 * done));
    } else {
      line += Format(" epoch {}", training.position().epoch + 1);
    }
    if (num_losses_ > 0) shown_loss_ = losses_ / static_cast<double>(num_losses_);
    losses_ = num_losses_ = 0;
    line += "  loss " + Number(shown_loss_);
    for (const auto& [name, value] : training.metrics())
      if (name != "loss") line += Format("  {} {}", name, Number(value));
    if (seconds > 0) line += Format("  {} examples/s", Number(examples / seconds));
    if (total > 0) line += "  ETA " + TimeLeft(training, now);
    // Overwrites what stood there, to the end of the line.
    settings_.write(on_terminal_ ? "\r" + line + "\x1b[K" : line + "\n");
  }

  // From the mean of this run, which a slow step or an evaluation moves little.
  std::string TimeLeft(Training& training, double now) const {
    const int64_t done = training.step() - training.first_step();
    const int64_t left = std::max<int64_t>(0, training.expected_steps() - training.step());
    return FormatDuration((now - began_) / static_cast<double>(std::max<int64_t>(1, done)) * left);
  }

  Progress settings_;
  const bool on_terminal_;
  double began_ = 0;
  double shown_ = 0;  // when
  int64_t num_examples_ = 0;
  int64_t examples_shown_ = 0;
  double losses_ = 0;  // of the steps since then
  int64_t num_losses_ = 0;
  double shown_loss_ = 0;
};

}  // namespace

std::unique_ptr<Hook> MakeHook(const Progress& settings) {
  return std::make_unique<ProgressHook>(settings);
}

std::string FormatDuration(double seconds) {
  const int64_t all = static_cast<int64_t>(std::clamp(seconds, 0.0, 1e12) + 0.5);
  const int64_t days = all / 86400, hours = all / 3600 % 24, minutes = all / 60 % 60;
  char text[64];
  if (days > 0) {
    std::snprintf(text, sizeof text, "%dd %d:%02d:%02d", static_cast<int>(days),
                  static_cast<int>(hours), static_cast<int>(minutes), static_cast<int>(all % 60));
  } else if (hours > 0) {
    std::snprintf(text, sizeof text, "%d:%02d:%02d", static_cast<int>(hours),
                  static_cast<int>(minutes), static_cast<int>(all % 60));
  } else {
    std::snprintf(text, sizeof text, "%d:%02d", static_cast<int>(minutes),
                  static_cast<int>(all % 60));
  }
  return text;
}

}  // namespace penstock
