#pragma once

#include <string_view>
#include <vector>

#include "penstock/client/output.h"
#include "penstock/graph/scope.h"

namespace penstock {

// While it lives, nodes that this thread adds to the graph get its name prefix, device, control
// dependencies or colocation:
//
//   BuildScope layer(g, Named("encoder"));
//   BuildScope after(g, After({step}));
//
// Scopes nest; the inner one refines the outer.
class BuildScope {
 public:
  struct Named {
    std::string_view name;
  };
  struct OnDevice {
    std::string_view device;
  };
  struct After {
    std::vector<Operation> operations;
  };
  struct With {
    Operation operation;
  };

  BuildScope(Graph& graph, Named name);
  BuildScope(Graph& graph, OnDevice device);
  BuildScope(Graph& graph, const After& operations);
  BuildScope(Graph& graph, With operation);
  ~BuildScope();
  BuildScope(const BuildScope&) = delete;
  BuildScope& operator=(const BuildScope&) = delete;

  // The innermost scope of this thread for `graph`, with `site` as the user's line and no error
  // yet.
  static Scope Current(Graph& graph, CallSite site);

 private:
  BuildScope(Graph& graph, Scope scope);
};

inline BuildScope::Named Named(std::string_view name) { return {name}; }
inline BuildScope::OnDevice OnDevice(std::string_view device) { return {device}; }
inline BuildScope::After After(std::vector<Operation> operations) {
  return {std::move(operations)};
}
inline BuildScope::With ColocatedWith(Operation operation) { return {operation}; }

}  // namespace penstock
