#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/core/resource.h"
#include "penstock/core/tensor.h"
#include "penstock/device/kernel.h"

// Datasets: sequences of elements, each a few tensors, that are made while they are read. A dataset
// is a value that a graph passes on as a variant; reading it is the iterator's business.

namespace penstock::ops {

using Element = std::vector<Tensor>;

enum class Pulled { kElement, kEnd, kPending };

// Who asks an iterator for an element, and how to tell when it has become possible.
struct Puller {
  const StepResources* step = nullptr;  // until the element was given
  // Goes on with what was pending. From any thread; too often or too late does no harm.
  std::function<void()> wake;
  int depth = 0;  // how many iterators are asking one another
};

// Reads a dataset once, from its beginning.
// Threads: one at a time.
class DatasetIterator {
 public:
  virtual ~DatasetIterator() = default;
  // Writes the next element. kPending: something waits, and no thread for it; `wake` will be
  // called, and then the same is to be asked again. An error stands for one element: asking again
  // gives the one after it. Called by Pull alone.
  virtual Result<Pulled> Next(Puller& puller, Element* element) = 0;
};

// Asks an iterator. Fails when the step was cancelled or iterators are nested too deeply.
Result<Pulled> Pull(DatasetIterator& iterator, Puller& puller, Element* element);

// Threads: immutable.
class Dataset : public Variant::Value {
 public:
  // REQUIRES: the datasets that this one is made of.
  explicit Dataset(std::span<const std::shared_ptr<const Dataset>> inputs = {});
  std::string TypeName() const override { return "tensorflow::DatasetVariantWrapper"; }
  virtual std::unique_ptr<DatasetIterator> MakeIterator() const = 0;
  // How many datasets lie one upon the other.
  int depth() const { return depth_; }

 private:
  const int depth_;
};
using DatasetPtr = std::shared_ptr<const Dataset>;

// The dataset in a variant. InvalidArgument when it holds something else.
Result<DatasetPtr> DatasetIn(const Tensor& tensor);
// Makes a dataset the first output. InvalidArgument when it stands on too many others.
Status SetDataset(KernelContext& context, DatasetPtr dataset);

// The tensors, each kept or copied: what a dataset holds must outlast the step.
Element KeptInputs(std::span<Tensor* const> tensors);

}  // namespace penstock::ops
