#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "penstock/device/device.h"
#include "tests/conformance/bad_input.h"
#include "tests/conformance/case_files.h"
#include "tests/conformance/kernel_case.h"
#include "tests/conformance/model_case.h"
#include "tests/conformance/program.h"

// Runs recorded cases of single ops: see kUsage.

namespace penstock::conformance {
namespace {

constexpr std::string_view kUsage =
    "usage: golden_check DIR [--op REGEX] [--json] [--verbose] [--strict] [--bad-input]\n"
    "\n"
    "Runs every recorded case of DIR/kernels_*.tfrecord, DIR/grads_*.tfrecord and\n"
    "DIR/stateful*.tfrecord and prints, for each op and in all, how many passed, failed, and need\n"
    "what is not implemented. Gradient cases of op X are counted as grad/X, small graphs over an\n"
    "op with state as stateful/X. A kernel or gradient case runs twice: with fed inputs of "
    "unknown\n"
    "shape through all compiler passes, and with constant inputs and no optional pass.\n"
    "\n"
    "  --op REGEX   only ops whose whole name matches REGEX (ECMAScript), e.g. 'MatMul|Conv2D.*'\n"
    "  --json       print one JSON object in place of the table\n"
    "  --verbose    also print each failure: id, what was expected, what came (at most 100); and\n"
    "               for each op with cases that are not implemented what is missing\n"
    "  --strict     fail when a case is not implemented, too\n"
    "  --bad-input  run kernel cases with inputs and attributes changed to what may break their\n"
    "               rules; a case passes when the op takes or refuses all of them, by an error "
    "that\n"
    "               names it, within 64 MB\n"
    "  --help       print this\n"
    "\n"
    "Exit status: 0 when no case failed, 1 when some failed, 2 when the command line is wrong, "
    "the\n"
    "files cannot be read, or no case was chosen.\n";

bool Chosen(const Options& options, const std::string& op) {
  return !options.only || std::regex_match(op, *options.only);
}

// "stateful/ApplyAdam_float32_nesterov0" is of op ApplyAdam, "stateful/stack" of stack.
std::string OpOfStatefulCase(const std::string& id) {
  std::string op = id.substr(id.find('/') + 1);
  for (const std::string_view type : {"_float32", "_float64"}) {
    if (const size_t at = op.find(type); at != std::string::npos) op.resize(at);
  }
  return op;
}

Status RunAll(const Options& options, Tally* tally) {
  TRY_ASSIGN(const std::vector<std::string> paths,
             FindRecordFiles(options.directory, {"kernels_", "grads_"}));
  TRY_ASSIGN(const std::vector<std::string> stateful,
             FindRecordFiles(options.directory, {"stateful"}));
  if (paths.empty() && stateful.empty()) {
    return NotFound(
        "{} holds neither kernels_*.tfrecord nor grads_*.tfrecord nor stateful*.tfrecord",
        options.directory);
  }
  const std::shared_ptr<Device> device = MakeCpuDevice();
  int64_t tried = 0, refused = 0;
  const std::shared_ptr<Device> small = MakeCpuDevice({.threads = 1, .memory_limit = 64 << 20});
  for (const std::string& path : paths) {
    TRY(ForEachCase<golden::KernelCase>(path, [&](const golden::KernelCase& recorded) -> Status {
      const std::string& op = recorded.node_def().op();
      if (!Chosen(options, op)) return OkStatus();
      SetCurrentCase(recorded.id());
      if (options.bad_input) {
        if (IsGradientCase(recorded)) return OkStatus();
        const BadInputCounts counts = TryBadInputs(recorded, small);
        tried += counts.tried;
        refused += counts.refused;
        tally->Add(op, recorded.id(),
                   counts.wrong.empty() ? Outcome{} : Outcome{Verdict::kFailed, counts.wrong});
        return OkStatus();
      }
      tally->Add((IsGradientCase(recorded) ? "grad/" : "") + op, recorded.id(),
                 RunKernelCase(recorded, device));
      return OkStatus();
    }));
  }
  if (options.bad_input) {
    std::fprintf(stderr, "golden_check: %lld bad inputs tried, %lld refused\n",
                 static_cast<long long>(tried), static_cast<long long>(refused));
    return OkStatus();
  }
  const std::string root = std::filesystem::path(options.directory) / "..";
  for (const std::string& path : stateful) {
    TRY(ForEachCase<golden::ModelCase>(path, [&](const golden::ModelCase& recorded) -> Status {
      const std::string op = OpOfStatefulCase(recorded.id());
      if (!Chosen(options, op)) return OkStatus();
      SetCurrentCase(recorded.id());
      tally->Add("stateful/" + op, recorded.id(), RunModelCase(recorded, root));
      return OkStatus();
    }));
  }
  return OkStatus();
}

}  // namespace
}  // namespace penstock::conformance

int main(int argc, char** argv) {
  using namespace penstock::conformance;
  return RunProgram({.name = "golden_check",
                     .usage = kUsage,
                     .filter = "--op",
                     .group = "op",
                     .run = &RunAll,
                     .tries_bad_input = true},
                    std::vector<std::string>(argv + 1, argv + argc));
}
