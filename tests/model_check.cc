#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "tests/conformance/case_files.h"
#include "tests/conformance/model_case.h"
#include "tests/conformance/program.h"

// Runs recorded cases of whole models: see kUsage.

namespace penstock::conformance {
namespace {

constexpr std::string_view kUsage =
    "usage: model_check DIR [--model REGEX] [--json] [--verbose] [--strict]\n"
    "\n"
    "Runs every recorded case of DIR/models/*.tfrecord: loads its graph, SavedModel or MetaGraph,\n"
    "runs its steps in one session and compares what they fetch. Paths in the cases are relative\n"
    "to DIR, which is the working directory while they run. Prints, for each model and in all, "
    "how\n"
    "many passed, failed, and need what is not implemented.\n"
    "\n"
    "  --model REGEX  only cases in whose id REGEX (ECMAScript) is found, e.g. '^tf1/' or 'lstm'\n"
    "  --json         print one JSON object in place of the table\n"
    "  --verbose      also print each failure: id, what was expected, what came (at most 100); "
    "and\n"
    "                 for each model that is not implemented what is missing\n"
    "  --strict       fail when a case is not implemented, too\n"
    "  --help         print this\n"
    "\n"
    "Exit status: 0 when no case failed, 1 when some failed, 2 when the command line is wrong, "
    "the\n"
    "files cannot be read, or no case was chosen.\n";

Status RunAll(const Options& options, Tally* tally) {
  std::error_code error;
  std::filesystem::current_path(options.directory, error);
  if (error) return NotFound("{}: {}", options.directory, error.message());
  TRY_ASSIGN(const std::vector<std::string> paths, FindRecordFiles("models", {""}));
  if (paths.empty()) return NotFound("{}/models holds no *.tfrecord", options.directory);
  for (const std::string& path : paths) {
    TRY(ForEachCase<golden::ModelCase>(path, [&](const golden::ModelCase& recorded) -> Status {
      if (options.only && !std::regex_search(recorded.id(), *options.only)) return OkStatus();
      SetCurrentCase(recorded.id());
      tally->Add(recorded.id(), recorded.id(), RunModelCase(recorded, "."));
      return OkStatus();
    }));
  }
  return OkStatus();
}

}  // namespace
}  // namespace penstock::conformance

int main(int argc, char** argv) {
  using namespace penstock::conformance;
  return RunProgram({.name = "model_check",
                     .usage = kUsage,
                     .filter = "--model",
                     .group = "model",
                     .run = &RunAll},
                    std::vector<std::string>(argv + 1, argv + argc));
}
