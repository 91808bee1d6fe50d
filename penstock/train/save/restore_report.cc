#include "penstock/train/save/restore_report.h"

#include <algorithm>
#include <array>

#include "penstock/core/format.h"

namespace penstock {
namespace {

constexpr size_t kMaxNamed = 5;
constexpr Match kProblems[] = {Match::kMissing, Match::kOtherShape, Match::kOtherDType};

std::string Described(DType dtype, const Shape& shape) {
  return dtype == DType::kInvalid ? "-" : Format("{} {}", dtype, shape);
}

using Cells = std::array<std::string, 4>;

// Columns as wide as their widest cell.
std::string Aligned(const std::vector<Cells>& rows) {
  std::array<size_t, 4> widths = {};
  for (const Cells& row : rows) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const Cells& row : rows) {
    std::string line = " ";
    for (size_t c = 0; c < row.size(); ++c)
      line += " " + row[c] + std::string(widths[c] - row[c].size() + 1, ' ');
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string_view ToString(Match match) {
  switch (match) {
    case Match::kRestored:
      return "restored";
    case Match::kMissing:
      return "missing";
    case Match::kOtherShape:
      return "other shape";
    case Match::kOtherDType:
      return "other dtype";
  }
  return "unknown";
}

size_t RestoreReport::Count(Match match) const {
  return static_cast<size_t>(std::ranges::count(rows, match, &RestoreRow::match));
}

std::string RestoreReport::Summary() const {
  std::string text = Format("{} of {} variables restored", Count(Match::kRestored), rows.size());
  for (const Match problem : kProblems) {
    const size_t count = Count(problem);
    if (count == 0) continue;
    std::string named;
    size_t left = kMaxNamed;
    for (const RestoreRow& row : rows) {
      if (row.match != problem || left == 0) continue;
      named += (named.empty() ? "" : ", ") + Printable(row.variable);
      if (problem != Match::kMissing) {
        named += Format(": saved {}, wanted {}", Described(row.saved_dtype, row.saved_shape),
                        Described(row.dtype, row.shape));
      }
      --left;
    }
    if (count > kMaxNamed) named += ", ...";
    text += Format("; {} {} ({})", count, penstock::ToString(problem), named);
  }
  return text;
}

std::string RestoreReport::ToString() const {
  std::string text = Format("{}: {} of {} variables restored\n", Printable(checkpoint),
                            Count(Match::kRestored), rows.size());
  std::vector<Cells> cells = {{"variable", "result", "wanted", "saved"}};
  for (const RestoreRow& row : rows) {
    if (row.match == Match::kRestored && row.saved_as == row.variable) continue;
    std::string result(penstock::ToString(row.match));
    if (row.saved_as != row.variable) result += Format(" (as {})", Printable(row.saved_as));
    cells.push_back({Printable(row.variable), result, Described(row.dtype, row.shape),
                     Described(row.saved_dtype, row.saved_shape)});
  }
  if (cells.size() > 1) text += Aligned(cells);
  if (unused.empty()) return text;
  text += Format("  {} tensors of the checkpoint were not asked for:", unused.size());
  for (size_t i = 0; i < std::min(unused.size(), kMaxNamed); ++i)
    text += (i == 0 ? " " : ", ") + Printable(unused[i]);
  return text + (unused.size() > kMaxNamed ? ", ...\n" : "\n");
}

}  // namespace penstock
