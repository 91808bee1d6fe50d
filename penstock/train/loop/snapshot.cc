#include "penstock/train/loop/snapshot.h"

#include "penstock/client/build_scope.h"

namespace penstock {

Snapshot::Snapshot(Graph& graph, const std::vector<Parameter>& variables)
    : variables_(variables), streams_(graph) {
  const Scope scope = BuildScope::Current(graph, CallSite{}).Sub("snapshot");
  for (const Parameter& variable : variables_) {
    const Expr handle(&scope, {variable.handle, 0});
    reads_.push_back(scope.Add("ReadVariableOp", {handle}, {{"dtype", variable.dtype}}).ref());
    const Expr fed =
        scope.Add("Placeholder", {}, {{"dtype", variable.dtype}, {"shape", variable.shape}});
    fed_.push_back(fed.ref());
    OrThrow(scope.status());
    NodeSpec assign{.op = "AssignVariableOp", .inputs = {handle.ref(), fed.ref()}};
    assigns_.push_back(OrThrow(scope.AddNode(std::move(assign))));
  }
  NodeSpec all{.op = "NoOp", .control_inputs = assigns_};
  assign_all_ = OrThrow(scope.AddNode(std::move(all)));
}

void Snapshot::Take(Session& session) {
  const CallableSpec spec{.feeds = {}, .fetches = reads_, .targets = {}};
  values_ = OrThrow(session.backend().Run(spec, {}, session.options(), nullptr));
  stream_state_ = streams_.Take(session);
}

void Snapshot::Put(Session& session, bool with_streams) const {
  const CallableSpec spec{.feeds = fed_, .fetches = {}, .targets = {assign_all_}};
  (void)OrThrow(session.backend().Run(spec, values_, session.options(), nullptr));
  if (with_streams) streams_.Put(session, stream_state_);
}

void Snapshot::Assign(Session& session, size_t index, const Tensor& value) const {
  const CallableSpec spec{.feeds = {fed_[index]}, .fetches = {}, .targets = {assigns_[index]}};
  (void)OrThrow(session.backend().Run(spec, {&value, 1}, session.options(), nullptr));
}

}  // namespace penstock
