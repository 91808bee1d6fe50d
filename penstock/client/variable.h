#pragma once

#include <string_view>

#include "penstock/client/constant.h"
#include "penstock/client/op_function.h"

namespace penstock {

namespace client_internal {
NodeId AddVariable(Graph& graph, DType dtype, OutputRef initial, std::string_view name,
                   bool trainable, CallSite site);
OutputRef ReadVariable(Graph& graph, NodeId handle, DType dtype, const Shape& shape, CallSite site);
NodeId UpdateVariable(Graph& graph, std::string_view op, NodeId handle, OutputRef value,
                      CallSite site);
Shape VariableShape(const Graph& graph, NodeId handle, DType dtype, CallSite site);
}  // namespace client_internal

// State that lives between steps, of element type T. Using it where an Output is due reads it.
//
//   Variable<float> w(g, {784, 10}, Constant<float>(g, Shape{784, 10}, 0));
//   session.Run(InitVariables(g));
//   auto step = w.AssignSub(gradient * 0.1f);
template <class T>
class Variable {
 public:
  using Element = T;

  // Initialized by InitVariables(graph) to `initial`.
  Variable(Graph& graph, Output<T> initial, std::string_view name = "Variable",
           CallSite site = CallSite::Here())
      : Variable(graph, initial, name, /*trainable=*/true, site) {}
  Variable(Graph& graph, const Array<T>& initial, std::string_view name = "Variable",
           CallSite site = CallSite::Here())
      : Variable(graph, Constant(graph, initial), name, site) {}
  // The variable that the VarHandleOp `handle` of the graph names. Throws when it is none, or one
  // of another element type.
  static Variable Of(Graph& graph, NodeId handle, CallSite site = CallSite::Here()) {
    return Variable(&graph, client_internal::VariableShape(graph, handle, kDTypeOf<T>, site),
                    handle);
  }
  // The same as the first for state that optimizers leave alone: counters, moving averages, slots.
  static Variable NotTrainable(Graph& graph, Output<T> initial, std::string_view name = "Variable",
                               CallSite site = CallSite::Here()) {
    return Variable(graph, initial, name, /*trainable=*/false, site);
  }

  Graph& graph() const { return *graph_; }
  const Shape& shape() const { return shape_; }
  const std::string& name() const { return graph_->node(handle_).name; }
  NodeId handle() const { return handle_; }

  // The value at the time the step gets there.
  Output<T> Read(CallSite site = CallSite::Here()) const;
  Output<T> AsOutput() const { return Read(CallSite{}); }
  operator Output<T>() const { return AsOutput(); }
  Operation Assign(Output<T> value, CallSite site = CallSite::Here()) const {
    return Update("AssignVariableOp", value, site);
  }
  Operation AssignAdd(Output<T> delta, CallSite site = CallSite::Here()) const {
    return Update("AssignAddVariableOp", delta, site);
  }
  Operation AssignSub(Output<T> delta, CallSite site = CallSite::Here()) const {
    return Update("AssignSubVariableOp", delta, site);
  }

 private:
  Variable(Graph* graph, const Shape& shape, NodeId handle)
      : graph_(graph), shape_(shape), handle_(handle) {}
  Variable(Graph& graph, Output<T> initial, std::string_view name, bool trainable, CallSite site);
  Operation Update(std::string_view op, Output<T> value, CallSite site) const;

  Graph* graph_;
  Shape shape_;
  NodeId handle_;
};

template <class T>
Variable<T>::Variable(Graph& graph, Output<T> initial, std::string_view name, bool trainable,
                      CallSite site)
    : graph_(&graph),
      shape_(initial.shape()),
      handle_(
          client_internal::AddVariable(graph, kDTypeOf<T>, initial.ref(), name, trainable, site)) {}

template <class T>
Output<T> Variable<T>::Read(CallSite site) const {
  return Output<T>(*graph_,
                   client_internal::ReadVariable(*graph_, handle_, kDTypeOf<T>, shape_, site));
}

template <class T>
Operation Variable<T>::Update(std::string_view op, Output<T> value, CallSite site) const {
  return Operation(*graph_,
                   client_internal::UpdateVariable(*graph_, op, handle_, value.ref(), site));
}

// Runs after all of these have run.
Operation Group(const std::vector<Operation>& operations, CallSite site = CallSite::Here());
// Gives every variable made so far its initial value.
Operation InitVariables(Graph& graph, CallSite site = CallSite::Here());

}  // namespace penstock
