#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "penstock/compile/pipeline.h"

namespace penstock {

// Runs passes on one graph: times each, shows the graph to the observer, verifies the result, and
// leaves out what is switched off.
class PassRunner {
 public:
  PassRunner(Graph* graph, const CompileOptions& options);

  Status operator()(std::string_view name, const std::function<Status(Graph&)>& pass);
  bool IsDisabled(std::string_view name) const;
  std::vector<PassReport> TakeReports() { return std::move(reports_); }

 private:
  Graph* graph_;
  const CompileOptions& options_;
  std::vector<std::string> disabled_;
  std::vector<PassReport> reports_;
};

}  // namespace penstock
