#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "penstock/core/shape.h"
#include "penstock/core/status.h"

// The equations of Einsum, such as "bij,bjk->bik" or "...ij->...ji".

namespace penstock::ops {

// One name for each axis. A letter stands for itself; the axes of an ellipsis are counted from the
// right, so that those of two operands match as broadcasting has it.
using EinsumLabels = std::vector<int>;
constexpr int kFirstEllipsisLabel = 256;

// A side of an equation: letters, with '.' for an ellipsis.
class EinsumTerm {
 public:
  static constexpr char kEllipsis = '.';

  EinsumTerm() = default;
  explicit EinsumTerm(std::string subscripts) : subscripts_(std::move(subscripts)) {}
  // Reads "i...j": at most one ellipsis.
  static Result<EinsumTerm> Parse(std::string_view text);

  const std::string& subscripts() const { return subscripts_; }
  bool Has(char label) const { return subscripts_.find(label) != std::string::npos; }
  bool has_ellipsis() const { return Has(kEllipsis); }
  int num_letters() const {
    return static_cast<int>(subscripts_.size()) - (has_ellipsis() ? 1 : 0);
  }
  // How many letters stand before the ellipsis and after it. REQUIRES: has_ellipsis().
  int before() const { return static_cast<int>(subscripts_.find(kEllipsis)); }
  int after() const { return num_letters() - before(); }
  // The axis of a letter's first place: negative, from the end, behind an ellipsis.
  int AxisOf(char label) const;
  // The label of each axis, where the ellipsis stands for `ellipsis_rank` axes.
  EinsumLabels Labels(int ellipsis_rank) const;
  // As in an equation.
  std::string ToString() const;

 private:
  std::string subscripts_;
};

struct EinsumEquation {
  std::vector<EinsumTerm> inputs;  // one or two
  EinsumTerm output;

  static Result<EinsumEquation> Parse(const std::string& text);
};

// The extent of every label, from operands whose shapes may be partial; labels of an ellipsis
// broadcast. Refuses operands of another rank and extents that differ.
struct EinsumExtents {
  std::map<int, int64_t> of;
  int ellipsis_rank = 0;  // of the output; -1 while unknown

  static Result<EinsumExtents> Make(const EinsumEquation& equation,
                                    std::span<const Shape* const> shapes);
};

}  // namespace penstock::ops
