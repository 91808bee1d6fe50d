#pragma once

#include <memory>
#include <tuple>
#include <utility>

#include "penstock/ops/data/dataset.h"

namespace penstock::ops {

// A dataset over one other that is read by an iterator of type I, made from it and the arguments.
template <class I, class... Args>
class Over final : public Dataset {
 public:
  Over(DatasetPtr input, Args... args)
      : Dataset({&input, 1}), input_(std::move(input)), args_(std::move(args)...) {}
  std::unique_ptr<DatasetIterator> MakeIterator() const override {
    return std::apply([&](const Args&... args) { return std::make_unique<I>(input_, args...); },
                      args_);
  }

 private:
  const DatasetPtr input_;
  const std::tuple<Args...> args_;
};

template <class I, class... Args>
DatasetPtr MakeOver(DatasetPtr input, Args... args) {
  return std::make_shared<Over<I, Args...>>(std::move(input), std::move(args)...);
}
// Makes such a dataset the first output.
template <class I, class... Args>
Status SetOver(KernelContext& context, const Tensor& input, Args... args) {
  TRY_ASSIGN(DatasetPtr dataset, DatasetIn(input));
  return SetDataset(context, MakeOver<I>(std::move(dataset), std::move(args)...));
}

}  // namespace penstock::ops
