#pragma once

#include <string>

#include "penstock/train/data/text.h"

namespace penstock {

// A million characters of Shakespeare, cut nine to one into a part to train on and a part to
// validate with.
struct TinyShakespeare {
  // Reads input.txt, or input.txt.gz, of the folder. Throws Error.
  explicit TinyShakespeare(const std::string& folder);

  std::string text;
  Vocabulary vocabulary;  // of its characters
  std::vector<int32_t> train, valid;
};

}  // namespace penstock
