#pragma once

#include <string>
#include <vector>

#include "penstock/core/dtype.h"
#include "penstock/core/shape.h"

namespace penstock {

enum class Match {
  kRestored,
  kMissing,     // the checkpoint has nothing of that name
  kOtherShape,  // it has, of another shape
  kOtherDType,
};
// "restored", "missing", "other shape", "other dtype"
std::string_view ToString(Match match);

// What became of one variable when a checkpoint was restored.
struct RestoreRow {
  std::string variable;
  std::string saved_as;  // its name in the checkpoint
  Match match = Match::kMissing;
  DType dtype = DType::kInvalid;  // of the variable
  Shape shape = Shape::Unknown();
  DType saved_dtype = DType::kInvalid;  // of what the checkpoint has
  Shape saved_shape = Shape::Unknown();
};

// What of a checkpoint fits what of a graph.
struct RestoreReport {
  std::string checkpoint;
  std::vector<RestoreRow> rows;     // one a variable
  std::vector<std::string> unused;  // tensors of the checkpoint that no variable asked for, sorted

  size_t Count(Match match) const;
  // Whether every variable was restored.
  bool complete() const { return Count(Match::kRestored) == rows.size(); }
  // One line: "3 of 5 variables restored; 1 missing (a/bias); 1 of another shape (b: saved float
  // [3], wanted float [4])".
  std::string Summary() const;
  // A table for a person: what fits is counted, what does not has a row.
  std::string ToString() const;
};

}  // namespace penstock
