#pragma once

#include "penstock/ops/data/dataset.h"
#include "penstock/ops/data/element_spec.h"

// Iterators as the state of a graph: made once, filled with a dataset, asked for one element a
// step.

namespace penstock::ops {

template <FixedString Name>
struct IteratorForm : ElementSpec {
  static constexpr auto kName = Name.view();
  static constexpr bool kStateful = true;
  std::string shared_name;
  std::string container;
  using Sig = Signature<Out<"handle", ResourceHandle>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kElementAttrs, std::tuple{Field{"shared_name", &IteratorForm::shared_name}.Required(),
                                Field{"container", &IteratorForm::container}.Required()});

  Result<Shape> InferShape() const { return Shape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};
using Iterator = IteratorForm<"Iterator">;
using IteratorV2 = IteratorForm<"IteratorV2">;

// An iterator over the dataset that a function returns.
struct OneShotIterator : ElementSpec {
  static constexpr auto kName = "OneShotIterator";
  static constexpr bool kStateful = true;
  static constexpr bool kAsync = true;
  FunctionName dataset_factory;
  std::string container;
  std::string shared_name;
  using Sig = Signature<Out<"handle", ResourceHandle>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kElementAttrs,
      std::tuple{Field{"dataset_factory", &OneShotIterator::dataset_factory}.Required(),
                 Field{"container", &OneShotIterator::container},
                 Field{"shared_name", &OneShotIterator::shared_name}});

  Result<Shape> InferShape() const { return Shape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

// Lets the iterator begin with a dataset.
struct MakeIterator {
  static constexpr auto kName = "MakeIterator";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"dataset", Variant>, In<"iterator", ResourceHandle>>;

  Result<std::vector<Shape>> InferShape(const Shape& dataset, const Shape& iterator) const {
    TRY(DatasetOfScalars(dataset, iterator));
    return std::vector<Shape>();
  }
  Status ComputeCpu(CpuContext& context, const Tensor& dataset, const Tensor& iterator) const;
};

template <FixedString Name>
struct IteratorGetNextForm : ElementSpec {
  static constexpr auto kName = Name.view();
  static constexpr bool kStateful = true;
  static constexpr bool kAsync = true;
  using Sig =
      Signature<In<"iterator", ResourceHandle>, Out<"components", TypeList<"output_types">>>;
  static constexpr std::tuple kAttrs = kElementAttrs;

  Result<std::vector<Shape>> InferShape(const Shape& iterator) const {
    TRY(CheckScalar(iterator, "iterator"));
    return output_shapes;
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};
using IteratorGetNext = IteratorGetNextForm<"IteratorGetNext">;
using IteratorGetNextSync = IteratorGetNextForm<"IteratorGetNextSync">;

struct IteratorToStringHandle {
  static constexpr auto kName = "IteratorToStringHandle";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"resource_handle", ResourceHandle>, Out<"string_handle", std::string>>;

  Result<Shape> InferShape(const Shape& resource_handle) const {
    TRY(CheckScalar(resource_handle, "resource_handle"));
    return Shape();
  }
  Status ComputeCpu(CpuContext& context, const Tensor& resource_handle,
                    Tensor& string_handle) const;
};

template <FixedString Name>
struct IteratorFromStringHandleForm {
  static constexpr auto kName = Name.view();
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  std::vector<DType> output_types;
  std::vector<Shape> output_shapes;
  using Sig = Signature<In<"string_handle", std::string>, Out<"resource_handle", ResourceHandle>>;
  static constexpr std::tuple kAttrs{
      Field{"output_types", &IteratorFromStringHandleForm::output_types}.Min(0),
      Field{"output_shapes", &IteratorFromStringHandleForm::output_shapes}.Min(0)};

  Result<Shape> InferShape(const Shape& string_handle) const {
    TRY(CheckScalar(string_handle, "string_handle"));
    return Shape();
  }
  Status ComputeCpu(CpuContext& context, const Tensor& string_handle) const;
};
using IteratorFromStringHandle = IteratorFromStringHandleForm<"IteratorFromStringHandle">;
using IteratorFromStringHandleV2 = IteratorFromStringHandleForm<"IteratorFromStringHandleV2">;

}  // namespace penstock::ops
