#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "penstock/core/status.h"
#include "penstock/graph/infer.h"
#include "penstock/graph/op_def.h"

namespace penstock {

class Gradients;  // graph/expr.h

// The flat types of a node, and how many inputs and outputs each argument of its OpDef stands for.
struct NodeTypes {
  std::vector<DType> inputs;
  std::vector<DType> outputs;
  std::vector<bool> input_is_ref;
  std::vector<bool> output_is_ref;
  std::vector<int> input_counts;   // per ArgDef
  std::vector<int> output_counts;  // per ArgDef
};

// An op's struct with the values of one node, type-erased: what `decode` made is read back by the
// functions that stand beside it in the OpInfo, and by the kernels registered for the same struct.
using DecodedOp = std::shared_ptr<const void>;

// How an op takes part in optimisation. Deduced from its struct; passes read it, they know no op by
// name where a trait says it.
struct OpTraits {
  // Output element i depends on element i (after broadcasting) of each input alone.
  bool elementwise = false;
  // Output 0 may share input 0's buffer (Identity, Reshape).
  bool aliases_input = false;
  // Keeps a reference to an input after the step (Assign): its buffer cannot lie in the step's
  // arena.
  bool keeps_inputs = false;
  // Output 0 may be written over an input of equal type and size.
  bool in_place = false;
  // Neither state nor outside world: may be folded, merged and dropped. Deduced from is_stateful
  // and reference arguments.
  bool pure = true;
  // Costs about this many cycles an output element.
  double cost = 1;
  // Orders other nodes and computes nothing: there is no kernel to call (NoOp).
  bool no_op = false;
  // Runs in well under a microsecond whatever the sizes: never worth another thread.
  bool cheap = false;
  // May wait (queues, Recv): gets a continuation and holds no thread.
  bool async = false;
  // Its kernel writes into memory that was allocated for it by shape, so the plan may choose the
  // place.
  bool placeable = false;
  // Per ArgDef: the shape rule reads the input's value, not only its shape.
  std::vector<bool> reads_value;
};

// All that the graph's rooms know of an op.
struct OpInfo {
  OpDef def;
  OpTraits traits;
  // Reads the node's attributes into the op's struct. REQUIRES: attributes already checked against
  // `def`.
  std::function<Result<DecodedOp>(const AttrMap&, const NodeTypes&)> decode;
  // Writes the outputs' shapes. Null: nothing is known of them.
  std::function<Status(const void* op, std::span<const Known> inputs, std::span<Shape> outputs)>
      infer;
  // Adds the nodes of the derivative. Null when the op has none; then `no_gradient` says that this
  // is meant.
  std::function<Status(const void* op, Gradients& gradients)> gradient;
  bool no_gradient = false;

  // Defined in registry.cc: hundreds of ops are made and moved.
  OpInfo();
  OpInfo(OpInfo&&) noexcept;
  OpInfo(const OpInfo&);
  OpInfo& operator=(const OpInfo&);
  ~OpInfo();
};

// The ops that graphs may use. Filled once at start, by explicit calls, then read only.
// Threads: Find may be called concurrently once filling has ended.
class OpRegistry {
 public:
  OpRegistry() = default;
  OpRegistry(const OpRegistry&) = delete;
  OpRegistry& operator=(const OpRegistry&) = delete;

  // AlreadyExists when the name is taken.
  Status Add(OpInfo info);
  // Null when unknown. The pointer lives as long as the registry.
  const OpInfo* Find(std::string_view name) const;
  // All names, sorted.
  std::vector<std::string> Names() const;

 private:
  std::unordered_map<std::string, std::unique_ptr<OpInfo>> ops_;
};

// The ops of this library. Defined in ops/register_all.cc, above this room: the graph room itself
// knows no op.
const OpRegistry& StandardOps();

}  // namespace penstock
