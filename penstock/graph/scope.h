#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/graph/graph.h"

namespace penstock {

class Expr;

// Where new nodes go: a name prefix, control dependencies, a device and colocation that every node
// made through it gets. Scopes are values; those derived from one share its graph and its first
// error, so that a chain of nodes needs one check at the end. Threads: as its graph.
class Scope {
 public:
  explicit Scope(Graph& graph);

  Graph& graph() const { return *graph_; }
  // A scope whose nodes are named "this/name/...". The name is made unique among the scopes of the
  // graph.
  Scope Sub(std::string_view name) const;
  // Nodes that run only after these have run.
  Scope After(const std::vector<NodeId>& nodes) const;
  // "/job:ps/task:1", "/device:CPU:0"; partial names of inner scopes refine outer ones.
  Scope OnDevice(std::string_view device) const;
  // Nodes that are placed with `node`.
  Scope With(NodeId node) const;
  // Cites `site` as the user's line.
  Scope At(CallSite site) const;

  // The same scope with an error state of its own.
  Scope WithoutError() const;

  // Adds a node and returns its output 0. On error the result is invalid and status() tells; with
  // an earlier error nothing is added.
  Expr Add(std::string_view op, std::initializer_list<Expr> inputs, AttrMap attrs = {},
           std::string_view name = "") const;
  Expr Add(std::string_view op, const std::vector<Expr>& inputs, AttrMap attrs = {},
           std::string_view name = "") const;
  // The same with everything in a spec; names, device, control inputs of the scope are added to it.
  Result<NodeId> AddNode(NodeSpec spec) const;
  // A constant.
  Expr Constant(const Tensor& value, std::string_view name = "Const") const;
  // A constant of the dtype of `like`, for scalars inside gradients.
  Expr Like(const Expr& like, double value) const;

  // The first error of this scope and its relatives.
  const Status& status() const { return *status_; }
  // Keeps the first.
  void Fail(const Status& status) const;

 private:
  Graph* graph_;
  std::shared_ptr<Status> status_;
  std::string prefix_;  // "" or "a/b/"
  std::string device_;
  std::vector<NodeId> control_;
  std::vector<std::string> colocate_;
  CallSite site_ = {};
};

// One output of a node being written down: the language of gradients. Invalid when the scope failed
// or nothing is meant (a missing gradient).
class Expr {
 public:
  Expr() = default;
  Expr(const Scope* scope, OutputRef ref) : scope_(scope), ref_(ref) {}

  bool valid() const { return scope_ != nullptr && ref_.node != kNoNode; }
  OutputRef ref() const { return ref_; }
  const Scope& scope() const { return *scope_; }
  DType dtype() const { return scope_->graph().output(ref_).dtype; }
  const Shape& shape() const { return scope_->graph().output(ref_).shape; }
  // Another output of the same node.
  Expr Output(int port) const { return Expr(scope_, {ref_.node, port}); }

 private:
  const Scope* scope_ = nullptr;
  OutputRef ref_;
};

Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr operator/(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);
Expr operator+(const Expr& a, double b);
Expr operator-(const Expr& a, double b);
Expr operator*(const Expr& a, double b);
Expr operator/(const Expr& a, double b);
Expr operator+(double a, const Expr& b);
Expr operator-(double a, const Expr& b);
Expr operator*(double a, const Expr& b);
Expr operator/(double a, const Expr& b);
// Adds a node of that op to the scope of `a`.
Expr Op(std::string_view op, const Expr& a, AttrMap attrs = {});
Expr Op(std::string_view op, const Expr& a, const Expr& b, AttrMap attrs = {});
Expr Op(std::string_view op, const Expr& a, const Expr& b, const Expr& c, AttrMap attrs = {});
// Conjugates complex values, leaves others alone: derivatives of complex functions need it.
Expr Conj(const Expr& a);

// The rows of a gradient that is zero elsewhere (IndexedSlices).
struct GradientRows {
  Expr values;  // [n, ...]
  Expr
      indices;  // [n], of the first axis; an index may come several times, and then its rows add up

  bool valid() const { return values.valid(); }
};

// What an op's derivative sees: its inputs, outputs and the gradients that arrive at the outputs;
// and where it puts the gradients of its inputs. An input that is left unset gets none (no path).
class Gradients {
 public:
  Gradients(const Scope* scope, const Graph& graph, NodeId node,
            std::vector<Expr> output_gradients);

  const Scope& scope() const { return *scope_; }
  int num_inputs() const { return static_cast<int>(results_.size()); }
  int num_outputs() const { return static_cast<int>(output_gradients_.size()); }
  Expr input(int i) const { return Expr(scope_, inputs_[i]); }
  Expr output(int i) const { return Expr(scope_, {node_, i}); }
  // Zeros of the output's shape when nothing arrives there.
  Expr dy(int i = 0) const;
  // True when something arrives at output i.
  bool has_dy(int i) const { return output_gradients_[i].valid(); }
  void Set(int i, Expr gradient) { results_[i] = gradient; }
  // For an input of which only some rows took part: row k of `values` belongs to row indices[k] of
  // the input, which may come several times. `dense` is the same gradient in the input's shape, for
  // those who need it whole; nodes that nobody reads are pruned.
  void SetRows(int i, Expr values, Expr indices, Expr dense) {
    results_[i] = dense;
    rows_[i] = {values, indices};
  }
  // Sums `gradient` down to the shape of input i, undoing broadcasting between inputs i and j.
  void SetUnbroadcast(int i, Expr gradient, int j);
  const std::vector<Expr>& results() const { return results_; }
  // Of input i: invalid where SetRows was not called.
  const GradientRows& rows(int i) const { return rows_[i]; }

 private:
  const Scope* scope_;
  NodeId node_;
  std::vector<OutputRef> inputs_;
  std::vector<Expr> output_gradients_;
  std::vector<Expr> results_;
  std::vector<GradientRows> rows_;
};

}  // namespace penstock
