#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/train/parameters.h"
#include "penstock/train/save/restore_report.h"

namespace penstock {

// What a variable is called in a file, by rules as RestoreRequest::names has them: from a name or
// scope of the file to one of the graph.
std::string SavedName(const std::string& variable, const std::map<std::string, std::string>& rules);

// dtype and shape of what a file has under a name, if it has.
using FindSaved = std::function<std::optional<std::pair<DType, Shape>>(const std::string& name)>;

// The row of a report for a variable that the file may have as `saved_as`.
RestoreRow CompareVariable(const Parameter& variable, std::string saved_as, const FindSaved& find);

// Throws NotFound or InvalidArgument when the report is not complete.
void CheckComplete(const RestoreReport& report);

}  // namespace penstock
