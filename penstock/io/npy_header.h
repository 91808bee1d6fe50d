#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "penstock/core/status.h"

namespace penstock::io {

// What the dict in the header of a .npy file says; npy.h has the grammar.
struct NpyDict {
  char order = 0;  // '<', '>' or '|'
  char kind = 0;
  uint64_t size = 0;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

Result<NpyDict> ParseNpyDict(std::string_view text);

}  // namespace penstock::io
