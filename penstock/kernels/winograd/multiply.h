#pragma once

#include <cstdint>

namespace penstock::kernels::winograd {

// How the left operand lies, in floats. Of row i and depth k:
//   kRowsOfPanels  [panel][row][16], depth along the panels: panel k / 16, at i * 16 + k % 16
//   kColumns       [depth][row], `step` from depth to depth: at k * step + i
enum class Left { kRowsOfPanels, kColumns };

// c [rows, columns] = a * b, or += with `add`, on the calling thread, summed along the depth in
// order. b lies in panels of 16 columns, [panel][depth][16], c in rows.
struct Product {
  int64_t rows = 0, columns = 0, depth = 0;  // columns: a multiple of 16
  Left left = Left::kRowsOfPanels;
  const float* a = nullptr;
  int64_t a_step = 0;  // from panel to panel, or from depth to depth
  const float* b = nullptr;
  int64_t b_panel = 0;
  float* c = nullptr;
  int64_t c_row = 0;
  bool add = false;
};
void Multiply(const Product& product);

}  // namespace penstock::kernels::winograd
