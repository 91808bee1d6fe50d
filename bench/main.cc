// penstock_bench: prints one JSON line a case, with the names and units of the peers' scripts.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <set>
#include <string>

#include "bench/bench.h"
#include "penstock/core/format.h"

namespace penstock::bench {

double MedianMs(const std::function<void()>& call, int steps, int warm) {
  for (int i = 0; i < warm; ++i) call();
  std::vector<double> times;
  for (int i = 0; i < steps; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  }
  std::nth_element(times.begin(), times.begin() + steps / 2, times.end());
  return times[steps / 2];
}

namespace {

void PrintUsage(const std::vector<Case>& cases) {
  std::printf(
      "usage: penstock_bench [--only NAME[,NAME...]] [--threads N] [--device cpu] [--batch B]\n"
      "                      [--trace FILE]\n\n"
      "Measures and prints one JSON line a case. Without --only all cases are run.\n\n"
      "  --only NAMES   cases to run, separated by commas\n"
      "  --threads N    threads that compute, the caller's included (default 2)\n"
      "  --device D     cpu; cuda once it exists\n"
      "  --batch B      batch size of the cases that have one (default 16)\n"
      "  --trace FILE   write what a training step does, for chrome://tracing or Perfetto\n"
      "  --help         this text\n\ncases:\n");
  for (const Case& c : cases) std::printf("  %-18s %s\n", c.name.c_str(), c.what.c_str());
}

int Usage(const std::string& problem) {
  std::fprintf(stderr, "penstock_bench: %s (see --help)\n", problem.c_str());
  return 2;
}

bool ParseNumber(const char* text, int* out) {
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, *out);
  return error == std::errc() && stop == end && *out > 0;
}

int Main(int argc, char** argv) {
  std::vector<Case> cases;
  AddExecutorCases(cases);
  AddKernelCases(cases);
  AddCompileCases(cases);
  AddFlowCases(cases);
  AddQueueCases(cases);
  AddInputCases(cases);
  AddStateCases(cases);
  AddArrayCases(cases);
  AddFunctionCases(cases);
  AddRandomCases(cases);
  AddConvCases(cases);
  AddNnCases(cases);
  AddCheckpointCases(cases);
  AddTrainCases(cases);
  AddTrainLstmCases(cases);
  Options options;
  std::set<std::string> only;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--help") {
      PrintUsage(cases);
      return 0;
    }
    if (flag != "--only" && flag != "--threads" && flag != "--batch" && flag != "--device" &&
        flag != "--trace") {
      return Usage("unknown option " + Printable(flag));
    }
    if (i + 1 == argc) return Usage(flag + " needs a value");
    const char* value = argv[++i];
    if (flag == "--only") {
      for (const char* at = value; *at != '\0';) {
        const char* comma = std::strchr(at, ',');
        only.emplace(at, comma == nullptr ? at + std::strlen(at) : comma);
        if (comma == nullptr) break;
        at = comma + 1;
      }
    } else if (flag == "--device") {
      options.device = value;
    } else if (flag == "--trace") {
      options.trace = value;
    } else if (!ParseNumber(value, flag == "--threads" ? &options.threads : &options.batch)) {
      return Usage(flag + " needs a positive number, got " + Printable(value));
    }
  }
  if (options.device != "cpu")
    return Usage("this build has no device " + Printable(options.device));
  only.erase("");
  for (const std::string& name : only) {
    // A case that only the peers have is theirs to run: comparisons name cases of both.
    if (std::none_of(cases.begin(), cases.end(), [&](const Case& c) { return c.name == name; })) {
      std::fprintf(stderr, "penstock_bench: no case %s\n", Printable(name).c_str());
    }
  }
  for (const Case& c : cases) {
    if (!only.empty() && !only.contains(c.name)) continue;
    const Figure figure = c.run(options);
    std::printf(
        "{\"peer\": \"penstock\", \"name\": \"%s\", \"value\": %.4f, \"unit\": \"%s\", "
        "\"threads\": %d}\n",
        c.name.c_str(), figure.value, figure.unit.c_str(), options.threads);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace penstock::bench

int main(int argc, char** argv) {
  try {
    return penstock::bench::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "penstock_bench: %s\n", error.what());
    return 1;
  }
}
