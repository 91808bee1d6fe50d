#pragma once

#include <cstdint>
#include <string>

#include "penstock/core/tensor.h"

namespace penstock::ops {

// Appends a tensor as Python shows arrays, in brackets, with new lines between rows: "[1 2 3]". Of
// each axis with more than 2 * `edge` entries only the first and the last `edge` are shown, with
// "..." between them; all when it is negative. Strings stand in quotes, escaped.
void AppendSummary(const Tensor& tensor, int64_t edge, std::string* text);

// A floating value by the fewest digits that read back as the same; "inf" and "nan".
std::string ShortestText(float value);
std::string ShortestText(double value);

}  // namespace penstock::ops
