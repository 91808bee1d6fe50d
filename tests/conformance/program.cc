#include "tests/conformance/program.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

namespace penstock::conformance {
namespace {

constexpr size_t kFailuresShown = 100;

Result<Options> ParseArguments(const Program& program, const std::vector<std::string>& args) {
  Options options;
  for (size_t i = 0; i < args.size(); ++i) {
    std::string arg = args[i];
    std::optional<std::string> value;
    if (const size_t at = arg.find('='); arg.starts_with("--") && at != std::string::npos) {
      value = arg.substr(at + 1);
      arg.resize(at);
    }
    if (arg == program.filter) {
      if (!value && ++i < args.size()) value = args[i];
      if (!value) return InvalidArgument("{} needs a regular expression", arg);
      try {
        options.only.emplace(*value);
      } catch (const std::regex_error& error) {
        return InvalidArgument("{} {}: {}", arg, *value, error.what());
      }
    } else if (value) {
      return InvalidArgument("unknown option {}", args[i]);
    } else if (arg == "--json") {
      options.json = true;
    } else if (arg == "--verbose") {
      options.verbose = true;
    } else if (arg == "--strict") {
      options.strict = true;
    } else if (arg == "--bad-input" && program.tries_bad_input) {
      options.bad_input = true;
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

char g_current[256] = "";

void SayCaseAndDie(int signal) {
  for (const char* text : {"\ncrashed in case ", static_cast<const char*>(g_current), "\n"}) {
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void SetCurrentCase(const std::string& id) {
  std::snprintf(g_current, sizeof g_current, "%s", id.c_str());
}

int RunProgram(const Program& program, const std::vector<std::string>& args) {
  const std::string name(program.name);
  const Result<Options> options = ParseArguments(program, args);
  if (!options.ok()) {
    std::fprintf(stderr, "%s: %s\n%s", name.c_str(), options.status().message().c_str(),
                 program.usage.data());
    return 2;
  }
  if (options->help) {
    std::fputs(program.usage.data(), stdout);
    return 0;
  }
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL})
    std::signal(signal, SayCaseAndDie);
  Tally tally;
  Status status = program.run(*options, &tally);
  if (status.ok() && tally.cases() == 0)
    status = NotFound("{} matches no recorded case", program.filter);
  if (!status.ok()) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), status.message().c_str());
    return 2;
  }
  if (options->verbose) {
    const std::string text = tally.Missing() + tally.Failures(kFailuresShown);
    std::fputs(text.c_str(), options->json ? stderr : stdout);
  }
  const std::string group(program.group);
  std::fputs((options->json ? tally.ToJson(group + "s") : tally.ToTable(group)).c_str(), stdout);
  const int64_t bad = tally.failed() + (options->strict ? tally.not_implemented() : 0);
  return bad == 0 ? 0 : 1;
}

}  // namespace penstock::conformance
