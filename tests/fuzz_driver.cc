// Runs a fuzz target without libFuzzer: the files of its corpus as they are, then changed at random
// from a fixed seed. For compilers without a fuzzer, and for the short run in ./check, which so
// needs no build of its own. Takes libFuzzer's -max_total_time=N and -artifact_prefix=P and leaves
// its other flags alone.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
// A target may know a better way to change its input, made of the plain one below.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) __attribute__((weak));
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace {

using Bytes = std::string;

constexpr unsigned kSecondsForOneInput = 10;
constexpr size_t kMaxBytes = 1 << 16;

std::string artifact_prefix;
const Bytes* current = nullptr;

// Keeps the input that ended the process.
void KeepInput() {
  if (current == nullptr) return;
  const std::string path = artifact_prefix + "crash";
  std::ofstream(path, std::ios::binary).write(current->data(), static_cast<long>(current->size()));
  std::fprintf(stderr, "the input is in %s\n", path.c_str());
}

void OnAlarm(int) {
  std::fprintf(stderr, "an input took more than %u s\n", kSecondsForOneInput);
  KeepInput();
  _exit(1);
}

void OnAbort(int) {
  KeepInput();
  _exit(1);
}

void RunInput(const Bytes& input) {
  current = &input;
  alarm(kSecondsForOneInput);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  alarm(0);
  current = nullptr;
}

size_t Below(std::mt19937_64& random, size_t bound) { return bound == 0 ? 0 : random() % bound; }

// One to eight changes: a bit, a byte, a piece cut, doubled, or taken from another input.
Bytes Mutate(Bytes input, const std::vector<Bytes>& corpus, std::mt19937_64& random) {
  for (size_t left = 1 + Below(random, 8); left > 0; --left) {
    const size_t at = Below(random, input.size());
    const size_t length = 1 + Below(random, 16);
    switch (random() % 6) {
      case 0:
        if (!input.empty()) input[at] = static_cast<char>(input[at] ^ 1 << random() % 8);
        break;
      case 1:
        if (!input.empty()) input[at] = static_cast<char>(random());
        break;
      case 2:
        input.insert(at, length, static_cast<char>(random()));
        break;
      case 3:
        input.erase(at, length);
        break;
      case 4:
        input.insert(at, input.substr(Below(random, input.size()), length));
        break;
      default: {
        const Bytes& other = corpus[Below(random, corpus.size())];
        input.insert(at, other.substr(Below(random, other.size()), length * 8));
      }
    }
  }
  if (input.size() > kMaxBytes) input.resize(kMaxBytes);
  return input;
}

// An input from the corpus, changed.
Bytes NextInput(const std::vector<Bytes>& corpus, std::mt19937_64& random) {
  const Bytes& base = corpus[Below(random, corpus.size())];
  if (LLVMFuzzerCustomMutator == nullptr || random() % 4 == 0) return Mutate(base, corpus, random);
  Bytes input = base.substr(0, kMaxBytes);
  const size_t size = input.size();
  input.resize(kMaxBytes);
  input.resize(LLVMFuzzerCustomMutator(reinterpret_cast<uint8_t*>(input.data()), size, kMaxBytes,
                                       static_cast<unsigned>(random())));
  return input;
}

std::vector<Bytes> ReadCorpus(const std::vector<std::string>& folders) {
  std::vector<Bytes> corpus{Bytes()};
  for (const std::string& folder : folders) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      std::ifstream file(entry.path(), std::ios::binary);
      corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
  }
  return corpus;
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size) {
  static std::mt19937_64 random(1);
  const std::vector<Bytes> corpus{Bytes(reinterpret_cast<const char*>(data), size)};
  const Bytes changed = Mutate(corpus[0], corpus, random).substr(0, max_size);
  std::copy(changed.begin(), changed.end(), data);
  return changed.size();
}

int main(int argc, char** argv) {
  constexpr std::string_view kTime = "-max_total_time=";
  constexpr std::string_view kPrefix = "-artifact_prefix=";
  int seconds = 0;
  std::vector<std::string> folders;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg.starts_with(kTime)) {
      seconds = std::atoi(arg.substr(kTime.size()).data());
    } else if (arg.starts_with(kPrefix)) {
      artifact_prefix = arg.substr(kPrefix.size());
    } else if (!arg.starts_with("-")) {
      folders.emplace_back(arg);
    }
  }
  std::signal(SIGALRM, OnAlarm);
  std::signal(SIGABRT, OnAbort);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(KeepInput);

  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const std::vector<Bytes> corpus = ReadCorpus(folders);
  for (const Bytes& input : corpus) RunInput(input);
  std::mt19937_64 random(20151109);
  size_t runs = corpus.size();
  for (; Clock::now() - start < std::chrono::seconds(seconds); ++runs)
    RunInput(NextInput(corpus, random));
  std::printf("Done %zu runs in %d second(s), %zu of them the corpus\n", runs, seconds,
              corpus.size());
}
