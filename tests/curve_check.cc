#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/conformance/curve.h"
#include "tests/conformance/program.h"

// Replays recorded learning curves: see kUsage.

namespace penstock::conformance {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUsage =
    "usage: curve_check DIR [--curve REGEX] [--json] [--verbose] [--strict]\n"
    "\n"
    "Replays every recorded training in DIR: each folder with a curve.json, DIR itself included,\n"
    "down to three levels. A training starts from its checkpoint, is fed the recorded batches\n"
    "step by step, and its losses are compared as far as the file's how_to_compare says. Data is\n"
    "looked for at the path that the file names, from the folder upwards.\n"
    "\n"
    "  --curve REGEX  only folders in whose name REGEX (ECMAScript) is found\n"
    "  --json         print one JSON object in place of the table\n"
    "  --verbose      also print what was compared, and each failure\n"
    "  --strict       fail when a curve is not implemented, too\n"
    "  --help         print this\n"
    "\n"
    "Exit status: 0 when no curve failed, 1 when some failed, 2 when the command line is wrong or\n"
    "there is no curve.\n";

Result<std::vector<fs::path>> FindCurves(const fs::path& directory) {
  constexpr int kDepth = 3;
  std::vector<fs::path> folders;
  if (fs::exists(directory / "curve.json")) folders.push_back(directory);
  std::error_code error;
  fs::recursive_directory_iterator at(directory, error), end;
  if (error) return NotFound("{}: {}", directory.string(), error.message());
  for (; at != end; at.increment(error)) {
    if (error) return NotFound("{}: {}", directory.string(), error.message());
    if (at.depth() >= kDepth) at.disable_recursion_pending();
    if (at->path().filename() == "curve.json" && at.depth() > 0)
      folders.push_back(at->path().parent_path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

Status RunAll(const Options& options, Tally* tally) {
  TRY_ASSIGN(const std::vector<fs::path> folders,
             FindCurves(fs::path(options.directory).lexically_normal()));
  for (const fs::path& folder : folders) {
    // "x/" has no file name of its own.
    const std::string name = fs::absolute(folder / "curve.json").parent_path().filename();
    if (options.only && !std::regex_search(name, *options.only)) continue;
    SetCurrentCase(name);
    const CurveReport report = ReplayCurve(folder);
    tally->Add(name, name, report.outcome);
    if (options.verbose && !report.figures.empty())
      std::fprintf(stderr, "%s: %s\n", name.c_str(), report.figures.c_str());
  }
  return OkStatus();
}

}  // namespace
}  // namespace penstock::conformance

int main(int argc, char** argv) {
  using namespace penstock::conformance;
  return RunProgram({.name = "curve_check",
                     .usage = kUsage,
                     .filter = "--curve",
                     .group = "curve",
                     .run = &RunAll},
                    std::vector<std::string>(argv + 1, argv + argc));
}
