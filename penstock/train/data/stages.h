#pragma once

#include <functional>
#include <string>
#include <vector>

#include "penstock/graph/call_site.h"
#include "penstock/train/data/stage.h"

// The transformations of Dataset, without types. What they promise stands there (dataset.h);
// arguments are checked when the stage is made.

namespace penstock::data {

// Which element a function is called with.
struct ElementInfo {
  int64_t epoch = 0;
  int64_t index = 0;  // among those that reach the function in this epoch
  Counters* counters = nullptr;
};

// Changes the element; false leaves it out. Called by several threads at once.
using ElementFunction = std::function<Result<bool>(Element*, const ElementInfo&)>;

struct FunctionStage {
  std::string name;  // for messages: "Map at model.cc:12"
  ElementFunction function;
  int threads = 1;
  bool may_drop = false;
};
Result<StagePtr> MakeFunction(StagePtr input, FunctionStage options);

// "Map at model.cc:12"
std::string NameAt(std::string_view name, CallSite site);
// The budget of the process in place of 0.
int NumThreads(int threads);
// A seed for one element.
uint64_t ElementSeed(uint64_t seed, const ElementInfo& info);

// buffer 0: all elements.
Result<StagePtr> MakeShuffle(StagePtr input, uint64_t seed, int64_t buffer);
Result<StagePtr> MakeBatch(StagePtr input, int64_t size, bool drop_remainder);

struct Padding {
  bool drop_remainder = false;
  double fill = 0;
  int64_t multiple = 1;
};
Result<StagePtr> MakePaddedBatch(StagePtr input, int64_t size, Padding padding);

struct Buckets {
  std::function<Result<int64_t>(const Element&)> length;
  std::vector<int64_t> limits;  // bucket i has lengths below limits[i]; a last one has the others
  int64_t size = 0;             // of a batch
  Padding padding;
};
Result<StagePtr> MakeBuckets(StagePtr input, Buckets buckets);

StagePtr MakeMemoryCache(StagePtr input);
Result<StagePtr> MakeFileCache(StagePtr input, std::string path);
Result<StagePtr> MakePrefetch(StagePtr input, int64_t buffer);
// count -1: without end.
Result<StagePtr> MakeRepeat(StagePtr input, int64_t count);
Result<StagePtr> MakeShard(StagePtr input, int64_t num_shards, int64_t index);
Result<StagePtr> MakeTake(StagePtr input, int64_t count);
Result<StagePtr> MakeSkip(StagePtr input, int64_t count);
StagePtr MakeZip(std::vector<StagePtr> inputs);
StagePtr MakeConcatenate(std::vector<StagePtr> inputs);

struct Interleaving {
  std::function<Result<StagePtr>(Element)> open;
  int64_t cycle = 4;  // so many are open at once
  int64_t block = 1;  // so many elements are taken from each in turn
};
Result<StagePtr> MakeInterleave(StagePtr input, Interleaving options);

// Element i is row i of each. Throws Error when they have not as many rows.
StagePtr MemoryOf(std::vector<Tensor> fields);
// Reads all elements now and keeps them stacked, so that they can be had by number.
Result<StagePtr> LoadStage(const StagePtr& input);

}  // namespace penstock::data
