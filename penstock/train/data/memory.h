#pragma once

#include <string>
#include <vector>

#include "penstock/train/data/stage.h"

namespace penstock::data {

// A field of all elements: row i of `rows` belongs to element i. With a scale, rows of uint8 are
// given as floats, value * scale: a quarter of the memory while they wait.
struct MemoryField {
  Tensor rows;
  float scale = 0;  // 0: as they are
};

// Elements in memory. InvalidArgument when the fields have no rows, or not equally many.
Result<StagePtr> MakeMemory(std::vector<MemoryField> fields, std::string name);

// Reads rows in their order. REQUIRES: they outlive the cursor.
std::unique_ptr<Cursor> ReadRows(const Indexed* rows);

}  // namespace penstock::data
