#include "examples/shared/options.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace examples {
namespace {

[[noreturn]] void Refuse(const std::string& flag, const char* expected) {
  std::fprintf(stderr, "%s: expected %s (see --help)\n", flag.c_str(), expected);
  std::exit(2);
}

int64_t ParseCount(const std::string& flag, const char* text, int64_t least) {
  int64_t value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc() || stop != end || value < least)
    Refuse(flag, least == 0 ? "a number" : "a positive number");
  return value;
}

double ParseRate(const std::string& flag, const char* text) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != 0 || !(value > 0) || value > 100) Refuse(flag, "a positive number");
  return value;
}

void PrintHelp(const char* program, const char* about, const Options& defaults) {
  std::printf(
      "%s\n\nusage: %s [flags]\n\n"
      "  --epochs N   passes over the data (default %lld)\n"
      "  --steps N    at most this many steps; 0: as many as the epochs have (default %lld)\n"
      "  --batch N    examples a step (default %lld)\n"
      "  --rate R     learning rate (default %g)\n"
      "  --seed N     of what is random, where an example has a choice (default %llu)\n"
      "  --out DIR    keeps checkpoints, TensorBoard logs and the model there, and goes on where "
      "the\n"
      "               last run there ended%s%s\n"
      "  --data DIR   where the data lie%s%s\n"
      "  --help       this text\n",
      about, program, static_cast<long long>(defaults.epochs),
      static_cast<long long>(defaults.steps), static_cast<long long>(defaults.batch), defaults.rate,
      static_cast<unsigned long long>(defaults.seed), defaults.out.empty() ? "" : "; default ",
      defaults.out.c_str(), defaults.data.empty() ? "" : "; default ", defaults.data.c_str());
}

}  // namespace

Options ParseOptions(int argc, char** argv, const char* about, Options defaults) {
  Options options = defaults;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--help" || flag == "-h") {
      PrintHelp(argv[0], about, defaults);
      std::exit(0);
    }
    if (i + 1 == argc) Refuse(flag, "a known flag, and a value after it");
    const char* value = argv[++i];
    if (flag == "--epochs") {
      options.epochs = ParseCount(flag, value, 1);
    } else if (flag == "--steps") {
      options.steps = ParseCount(flag, value, 0);
    } else if (flag == "--batch") {
      options.batch = ParseCount(flag, value, 1);
    } else if (flag == "--rate") {
      options.rate = ParseRate(flag, value);
    } else if (flag == "--seed") {
      options.seed = static_cast<uint64_t>(ParseCount(flag, value, 0));
    } else if (flag == "--out") {
      options.out = value;
    } else if (flag == "--data") {
      options.data = value;
    } else {
      Refuse(flag, "a known flag");
    }
  }
  return options;
}

int RunMain(int (*run)(const Options&), const Options& options) {
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace examples
