#include "penstock/compile/pass_runner.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "penstock/core/log.h"

namespace penstock {
namespace {

// PENSTOCK_DISABLE_PASSES=fold,fuse. A name that is no pass is reported, not silently obeyed.
std::vector<std::string> DisabledByEnvironment() {
  std::vector<std::string> names;
  const char* text = std::getenv("PENSTOCK_DISABLE_PASSES");
  if (text == nullptr) return names;
  const std::vector<std::string> known = OptionalPasses();
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string name(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    if (name.empty()) continue;
    if (name == "all") return known;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      Log(LogLevel::kWarning, Format("PENSTOCK_DISABLE_PASSES names no pass: {} (there are {})",
                                     Printable(name), AttrValue(known).ToString()));
      continue;
    }
    names.push_back(name);
  }
  return names;
}

// PENSTOCK_PRINT_PASSES=1 prints every graph as text, =dot for Graphviz.
void PrintGraph(std::string_view pass, std::string_view when, const Graph& graph) {
  static const char* const mode = std::getenv("PENSTOCK_PRINT_PASSES");
  if (mode == nullptr || *mode == '\0') return;
  const std::string text = std::string_view(mode) == "dot" ? graph.ToDot() : graph.ToText();
  std::fprintf(stderr, "# %.*s %.*s\n%s", static_cast<int>(when.size()), when.data(),
               static_cast<int>(pass.size()), pass.data(), text.c_str());
}

}  // namespace

PassRunner::PassRunner(Graph* graph, const CompileOptions& options)
    : graph_(graph), options_(options), disabled_(DisabledByEnvironment()) {
  disabled_.insert(disabled_.end(), options.disabled_passes.begin(), options.disabled_passes.end());
}

bool PassRunner::IsDisabled(std::string_view name) const {
  return std::find(disabled_.begin(), disabled_.end(), name) != disabled_.end();
}

Status PassRunner::operator()(std::string_view name, const std::function<Status(Graph&)>& pass) {
  if (IsDisabled(name)) return OkStatus();
  if (options_.observer) options_.observer(name, "before", *graph_);
  PrintGraph(name, "before", *graph_);
  PassReport report;
  report.name = name;
  report.nodes_before = graph_->num_live_nodes();
  const auto start = std::chrono::steady_clock::now();
  TRY(pass(*graph_));
  report.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  report.nodes_after = graph_->num_live_nodes();
  reports_.push_back(report);
  if (options_.observer) options_.observer(name, "after", *graph_);
  PrintGraph(name, "after", *graph_);
  if (Status status = graph_->Verify(); !status.ok())
    return status.Annotate(Format("after pass {}", name));
  return OkStatus();
}

}  // namespace penstock
