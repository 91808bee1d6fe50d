#pragma once

#include <memory>
#include <string>
#include <vector>

#include "penstock/device/device.h"
#include "penstock/graph/graph.h"
#include "penstock/graph/scope.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {

// What is known of the inputs while the graph is built.
enum class Knowledge { kFull, kRank, kNothing, kConstant };

// The checks of one row. See rows.h.
class RowCheck {
 public:
  explicit RowCheck(const Row& row);
  void Do();

 private:
  // A graph of the inputs and the op's node.
  struct Program {
    Graph graph{StandardOps()};
    std::vector<OutputRef> feeds;
    NodeId node = kNoNode;
  };

  Status Build(Knowledge knowledge, const std::vector<Tensor>& inputs, Program* program) const;
  // Runs the node. `optional_passes` false: without those that can be left out.
  Result<std::vector<Tensor>> Run(const Program& program, const std::vector<Tensor>& inputs,
                                  const std::shared_ptr<Device>& device,
                                  bool optional_passes) const;
  void CheckGood();
  void CheckFails() const;
  void CheckExpected(const std::vector<Tensor>& got) const;
  void CheckEachElement(const Tensor& got) const;
  void CheckSame(const std::vector<Tensor>& want, const Result<std::vector<Tensor>>& got,
                 const std::string& when) const;
  void CheckInferred(const Program& program, const std::vector<Tensor>& got,
                     const std::string& when) const;
  void CheckRoundTrip(const Program& program, const std::vector<Tensor>& want) const;
  // Returns why it could not be checked, or nothing.
  std::string CheckGradient() const;
  void CompareWithDifferences(const Program& program, const std::vector<Tensor>& inputs,
                              const std::vector<Tensor>& weights, int input,
                              const Tensor& gradient) const;

  const Row& row_;
  std::vector<Tensor> inputs_;
};

}  // namespace penstock::rows
