#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "penstock/graph/attr_value.h"
#include "penstock/ops/data/dataset.h"

namespace penstock::ops {

// A function of the library that a dataset applies to elements, with what it captured.
struct ElementFunction {
  FunctionName name;
  Element captured;  // passed after the element
};

// One call of it.
// Threads: one at a time.
class ElementCall {
 public:
  // REQUIRES: none is under way. `parallel`: do not wait on this thread, even where that would do.
  void Start(const ElementFunction& function, Element element, Puller& puller,
             bool parallel = false);
  bool under_way() const { return answer_ != nullptr; }
  // The results, once; nothing while they are not there. REQUIRES: under_way().
  std::optional<Result<Element>> Take();

 private:
  struct Answer;
  std::shared_ptr<Answer> answer_;
};

}  // namespace penstock::ops
