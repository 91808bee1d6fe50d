#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/core/status.h"
#include "penstock/core/tensor.h"
#include "penstock/graph/graph.h"

namespace penstock::conformance {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// What a recorded training was fed.
class CurveData {
 public:
  virtual ~CurveData() = default;
  // What step `i` is fed.
  virtual Result<NamedTensors> Step(int64_t i) const = 0;
  // The first `count` held-out examples. Unimplemented where nothing was held out.
  virtual Result<NamedTensors> HeldOut(int64_t count) const = 0;
};

// Reads the data that a recording's `feeds` describes, in the words of the recordings:
//   "step i: images[64i:64i+64]/255 -> x:0 ...; labels -> y:0"   `path` is a folder of IDX files
//   "N=16 streams ...: ids=text[k*seg+20i : +20], tgt=text[k*seg+20i+1 : +20]"   a text, read as
//   bytes
// Element types, and shapes but for the batch, are those of the fed nodes of `graph`. Unimplemented
// when it is described in other words.
Result<std::unique_ptr<CurveData>> ReadCurveData(const std::string& feeds, const std::string& path,
                                                 const Graph& graph);

}  // namespace penstock::conformance
