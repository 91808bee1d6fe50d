#pragma once

#include <cstdint>
#include <string>

// What the training examples take from the command line.

namespace examples {

struct Options {
  int64_t epochs = 1;
  int64_t steps = 0;  // at most; 0: as many as the epochs have
  int64_t batch = 32;
  double rate = 1e-3;
  uint64_t seed = 1;     // of initial values and of the order of the data, where an example says so
  std::string out = {};  // for checkpoints, logs and the model; empty: nothing is written
  std::string data = {};  // a folder; empty: what the example says
};

// Reads --epochs, --steps, --batch, --rate, --seed, --out and --data over `defaults`. Prints
// `about` with the flags and exits for --help, or names the flag and exits with 2 for one that is
// wrong.
Options ParseOptions(int argc, char** argv, const char* about, Options defaults);

// Runs an example's main; what it throws is printed, and becomes exit code 1.
int RunMain(int (*run)(const Options&), const Options& options);

}  // namespace examples
