#pragma once

#include <string>

#include "penstock/core/tensor.h"

namespace penstock::io {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

}  // namespace penstock::io
