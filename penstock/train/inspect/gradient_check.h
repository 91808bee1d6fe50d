#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/client/output.h"
#include "penstock/train/loop/feeds.h"

namespace penstock {

struct GradientCheckOptions {
  double step = 1e-2;        // by which a parameter is moved to each side
  double tolerance = 1e-2;   // relative
  int64_t max_elements = 5;  // of each variable: that of the largest gradient, and others
};

// One element of one variable: d(loss) / d(element) as the graph has it and by differences.
struct GradientCheckRow {
  std::string variable;
  int64_t element = 0;
  double gradient = 0;
  double difference = 0;
  bool passed = false;
};

struct GradientCheckReport {
  std::vector<GradientCheckRow> rows = {};
  std::vector<std::string> unconnected = {};  // variables on which the loss does not depend

  bool passed() const;
  // One line for each row that did not pass.
  std::string ToString() const;
};

// Compares the gradients of the loss with regard to the trainable float variables with differences
// of the loss. Leaves variables and random streams as they were. What is smaller than the rounding
// errors of the loss does not count; a kink (Relu) within `step` of an element can fail it.
GradientCheckReport CheckGradients(Session& session, Output<float> loss, const FeedList& feeds,
                                   const GradientCheckOptions& options = {});

}  // namespace penstock
