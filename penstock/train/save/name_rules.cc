#include "penstock/train/save/name_rules.h"

#include "penstock/client/error.h"

namespace penstock {
namespace {

bool IsScope(const std::string& name) { return name.empty() || name.ends_with('/'); }

}  // namespace

std::string SavedName(const std::string& variable,
                      const std::map<std::string, std::string>& rules) {
  const std::pair<const std::string, std::string>* best = nullptr;
  for (const auto& rule : rules) {
    const std::string& in_graph = rule.second;
    const bool fits = IsScope(in_graph) ? variable.starts_with(in_graph) : variable == in_graph;
    if (fits && (best == nullptr || in_graph.size() > best->second.size())) best = &rule;
  }
  if (best == nullptr) return variable;
  return IsScope(best->second) ? best->first + variable.substr(best->second.size()) : best->first;
}

RestoreRow CompareVariable(const Parameter& variable, std::string saved_as, const FindSaved& find) {
  RestoreRow row{variable.name, std::move(saved_as), Match::kMissing, variable.dtype,
                 variable.shape};
  const std::optional<std::pair<DType, Shape>> saved = find(row.saved_as);
  if (!saved.has_value()) return row;
  std::tie(row.saved_dtype, row.saved_shape) = *saved;
  row.match = row.saved_dtype != row.dtype                   ? Match::kOtherDType
              : !row.shape.IsCompatibleWith(row.saved_shape) ? Match::kOtherShape
                                                             : Match::kRestored;
  return row;
}

void CheckComplete(const RestoreReport& report) {
  if (report.complete()) return;
  const std::string why =
      Format("{} does not fit the graph: {}", Printable(report.checkpoint), report.Summary());
  throw Error(report.Count(Match::kMissing) > 0 ? NotFound("{}", why) : InvalidArgument("{}", why));
}

}  // namespace penstock
