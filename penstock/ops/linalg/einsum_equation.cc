#include "penstock/ops/linalg/einsum_equation.h"

#include <algorithm>

namespace penstock::ops {

Result<EinsumTerm> EinsumTerm::Parse(std::string_view text) {
  std::string subscripts;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != kEllipsis) {
      subscripts += text[i];
      continue;
    }
    if (text.substr(i, 3) != "..." || subscripts.find(kEllipsis) != std::string::npos) {
      return InvalidArgument("subscripts must hold at most one ellipsis of three dots, got '{}'",
                             text);
    }
    subscripts += kEllipsis;
    i += 2;
  }
  return EinsumTerm(std::move(subscripts));
}

int EinsumTerm::AxisOf(char label) const {
  const int at = static_cast<int>(subscripts_.find(label));
  return has_ellipsis() && at > before() ? at - static_cast<int>(subscripts_.size()) : at;
}

EinsumLabels EinsumTerm::Labels(int ellipsis_rank) const {
  EinsumLabels labels;
  for (const char c : subscripts_) {
    if (c != kEllipsis) {
      labels.push_back(static_cast<unsigned char>(c));
      continue;
    }
    for (int i = ellipsis_rank - 1; i >= 0; --i) labels.push_back(kFirstEllipsisLabel + i);
  }
  return labels;
}

std::string EinsumTerm::ToString() const {
  std::string text;
  for (const char c : subscripts_) text += c == kEllipsis ? std::string("...") : std::string(1, c);
  return text;
}

Result<EinsumEquation> EinsumEquation::Parse(const std::string& text) {
  const size_t arrow = text.find("->");
  if (arrow == std::string::npos || text.find("->", arrow + 2) != std::string::npos) {
    return InvalidArgument("Expecting exactly one '->' in einsum equation: {}", text);
  }
  EinsumEquation equation;
  const std::string_view all = text;
  TRY_ASSIGN(equation.output, EinsumTerm::Parse(all.substr(arrow + 2)));
  if (equation.output.Has(',')) {
    return InvalidArgument("Expecting one output in einsum equation: {}", text);
  }
  for (size_t begin = 0; begin <= arrow;) {
    const size_t end = std::min(text.find(',', begin), arrow);
    TRY_ASSIGN(EinsumTerm term, EinsumTerm::Parse(all.substr(begin, end - begin)));
    equation.inputs.push_back(std::move(term));
    begin = end + 1;
  }
  if (equation.inputs.size() > 2) {
    return InvalidArgument("Expecting 1 or 2 input subscripts in equation '{}' but got: {}", text,
                           equation.inputs.size());
  }
  for (const char label : equation.output.subscripts()) {
    if (label != EinsumTerm::kEllipsis &&
        std::none_of(equation.inputs.begin(), equation.inputs.end(),
                     [&](const EinsumTerm& term) { return term.Has(label); })) {
      return InvalidArgument("the output's label '{}' must be one of the inputs', in equation '{}'",
                             label, text);
    }
  }
  return equation;
}

Result<EinsumExtents> EinsumExtents::Make(const EinsumEquation& equation,
                                          std::span<const Shape* const> shapes) {
  if (shapes.size() != equation.inputs.size()) {
    return InvalidArgument("Expected {} inputs for the equation's subscripts but got: {}",
                           equation.inputs.size(), shapes.size());
  }
  EinsumExtents extents;
  bool unknown_ellipsis = false;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const EinsumTerm& term = equation.inputs[i];
    const Shape& shape = *shapes[i];
    if (!shape.has_rank()) {
      unknown_ellipsis |= term.has_ellipsis();
      for (const int label : term.Labels(0)) extents.of.emplace(label, Shape::kUnknownDim);
      continue;
    }
    const int ellipsis_rank = shape.rank() - term.num_letters();
    if (ellipsis_rank < 0 || (!term.has_ellipsis() && ellipsis_rank > 0)) {
      return InvalidArgument("Expected input {} to have rank {}{} but got: {}", i,
                             term.has_ellipsis() ? "at least " : "", term.num_letters(),
                             shape.rank());
    }
    extents.ellipsis_rank = std::max(extents.ellipsis_rank, ellipsis_rank);
    const EinsumLabels labels = term.Labels(ellipsis_rank);
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const int label = labels[static_cast<size_t>(axis)];
      const int64_t extent = shape[axis];
      const auto [place, added] = extents.of.emplace(label, extent);
      int64_t& known = place->second;
      if (added || known == extent) continue;
      if (label >= kFirstEllipsisLabel && (known == 1 || extent == 1)) {
        known = known == 1 ? extent : known;
      } else if (known < 0 || extent < 0) {
        // An unknown extent of an ellipsis may yet turn out to be 1.
        known = std::max(known, extent);
      } else {
        return InvalidArgument(
            "Expected dimension {} at axis {} of the input shaped {} but got dimension {}", known,
            axis, shape, extent);
      }
    }
  }
  if (extents.ellipsis_rank > 0 && !equation.output.has_ellipsis()) {
    return InvalidArgument(
        "Output contains {} broadcasting dimension(s) but no ellipsis (...) was found in the "
        "output subscripts.",
        extents.ellipsis_rank);
  }
  if (unknown_ellipsis) extents.ellipsis_rank = Shape::kUnknownRank;
  return extents;
}

}  // namespace penstock::ops
