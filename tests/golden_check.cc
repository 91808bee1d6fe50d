#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "penstock/device/device.h"
#include "tests/conformance/case_files.h"
#include "tests/conformance/kernel_case.h"
#include "tests/conformance/tally.h"

// Runs recorded kernel and gradient cases: see kUsage.

namespace penstock::conformance {
namespace {

constexpr std::string_view kUsage =
    "usage: golden_check DIR [--op REGEX] [--json] [--verbose]\n"
    "\n"
    "Runs every recorded case of DIR/kernels_*.tfrecord and DIR/grads_*.tfrecord and prints, for\n"
    "each op and in all, how many passed, failed, and need what is not implemented. Gradient "
    "cases\n"
    "of op X are counted as grad/X. Each case runs twice: with fed inputs of unknown shape "
    "through\n"
    "all compiler passes, and with constant inputs and no optional pass.\n"
    "\n"
    "  --op REGEX   only ops whose whole name matches REGEX (ECMAScript), e.g. 'MatMul|Conv2D.*'\n"
    "  --json       print one JSON object in place of the table\n"
    "  --verbose    also print each failure: id, what was expected, what came (at most 100); and\n"
    "               for each op with cases that are not implemented what is missing\n"
    "  --help       print this\n"
    "\n"
    "Exit status: 0 when no case failed, 1 when some failed, 2 when the command line is wrong, "
    "the\n"
    "files cannot be read, or no case was chosen.\n";

constexpr size_t kFailuresShown = 100;

struct Options {
  std::string directory;
  std::optional<std::regex> op;
  bool json = false;
  bool verbose = false;
  bool help = false;
};

Result<Options> ParseArguments(const std::vector<std::string>& args) {
  Options options;
  for (size_t i = 0; i < args.size(); ++i) {
    std::string arg = args[i];
    std::optional<std::string> value;
    if (const size_t at = arg.find('='); arg.starts_with("--") && at != std::string::npos) {
      value = arg.substr(at + 1);
      arg.resize(at);
    }
    if (arg == "--op") {
      if (!value && ++i < args.size()) value = args[i];
      if (!value) return InvalidArgument("--op needs a regular expression");
      try {
        options.op.emplace(*value);
      } catch (const std::regex_error& error) {
        return InvalidArgument("--op {}: {}", *value, error.what());
      }
    } else if (value) {
      return InvalidArgument("unknown option {}", args[i]);
    } else if (arg == "--json") {
      options.json = true;
    } else if (arg == "--verbose") {
      options.verbose = true;
    } else if (arg == "--help" || arg == "-h") {
      options.help = true;
    } else if (arg.starts_with("-") && arg != "-") {
      return InvalidArgument("unknown option {}", arg);
    } else if (!options.directory.empty()) {
      return InvalidArgument("one directory is expected, got {} and {}", options.directory, arg);
    } else {
      options.directory = arg;
    }
  }
  if (options.directory.empty() && !options.help) return InvalidArgument("no directory was given");
  return options;
}

// The case that runs now: a crash should say which.
char g_current[256] = "";

void SayCaseAndDie(int signal) {
  for (const char* text :
       {"\ngolden_check: crashed in case ", static_cast<const char*>(g_current), "\n"}) {
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

Status RunAll(const Options& options, Tally* tally) {
  TRY_ASSIGN(const std::vector<std::string> paths,
             FindRecordFiles(options.directory, {"kernels_", "grads_"}));
  if (paths.empty()) {
    return NotFound("{} holds neither kernels_*.tfrecord nor grads_*.tfrecord", options.directory);
  }
  const std::shared_ptr<Device> device = MakeCpuDevice();
  for (const std::string& path : paths) {
    TRY(ForEachCase<golden::KernelCase>(path, [&](const golden::KernelCase& recorded) -> Status {
      const std::string& op = recorded.node_def().op();
      if (options.op && !std::regex_match(op, *options.op)) return OkStatus();
      std::snprintf(g_current, sizeof g_current, "%s", recorded.id().c_str());
      tally->Add((IsGradientCase(recorded) ? "grad/" : "") + op, recorded.id(),
                 RunKernelCase(recorded, device));
      return OkStatus();
    }));
  }
  if (tally->cases() == 0) return NotFound("no recorded case is of an op that --op matches");
  return OkStatus();
}

int Main(const std::vector<std::string>& args) {
  const Result<Options> options = ParseArguments(args);
  if (!options.ok()) {
    std::fprintf(stderr, "golden_check: %s\n%s", options.status().message().c_str(), kUsage.data());
    return 2;
  }
  if (options->help) {
    std::fputs(kUsage.data(), stdout);
    return 0;
  }
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL})
    std::signal(signal, SayCaseAndDie);
  Tally tally;
  if (const Status status = RunAll(*options, &tally); !status.ok()) {
    std::fprintf(stderr, "golden_check: %s\n", status.message().c_str());
    return 2;
  }
  if (options->verbose) {
    const std::string text = tally.Missing() + tally.Failures(kFailuresShown);
    std::fputs(text.c_str(), options->json ? stderr : stdout);
  }
  std::fputs((options->json ? tally.ToJson("ops") : tally.ToTable("op")).c_str(), stdout);
  return tally.failed() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace penstock::conformance

int main(int argc, char** argv) {
  return penstock::conformance::Main(std::vector<std::string>(argv + 1, argv + argc));
}
