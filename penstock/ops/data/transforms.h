#pragma once

#include <span>

#include "penstock/ops/data/dataset.h"
#include "penstock/ops/data/element_spec.h"

// Datasets that take elements of others as they are: some of them, again, or one after the other.

namespace penstock::ops {

// An op over a dataset and a number.
struct CountedDataset : NotedElementSpec {
  using Sig = Signature<In<"input_dataset", Variant>, In<"count", int64_t>, Out<"handle", Variant>>;
};

// The first `count` elements; all when it is negative.
struct TakeDataset : CountedDataset {
  static constexpr auto kName = "TakeDataset";
  Result<Shape> InferShape(const Shape& input_dataset, const Shape& count) const {
    return DatasetOfScalars(input_dataset, count);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset, int64_t count) const;
};

// Those after the first `count`; none when it is negative.
struct SkipDataset : CountedDataset {
  static constexpr auto kName = "SkipDataset";
  Result<Shape> InferShape(const Shape& input_dataset, const Shape& count) const {
    return DatasetOfScalars(input_dataset, count);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset, int64_t count) const;
};

// All elements `count` times; without end when it is negative.
struct RepeatDataset : CountedDataset {
  static constexpr auto kName = "RepeatDataset";
  Result<Shape> InferShape(const Shape& input_dataset, const Shape& count) const {
    return DatasetOfScalars(input_dataset, count);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset, int64_t count) const;
};

// What RepeatDataset makes.
DatasetPtr Repeated(DatasetPtr dataset, int64_t count);

// Every num_shards-th element, from `index` on.
struct ShardDataset : NotedElementSpec {
  static constexpr auto kName = "ShardDataset";
  bool require_non_empty = false;
  using Sig = Signature<In<"input_dataset", Variant>, In<"num_shards", int64_t>,
                        In<"index", int64_t>, Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kNotedAttrs, std::tuple{Field{"require_non_empty", &ShardDataset::require_non_empty}});
  Result<Shape> InferShape(const Shape& input_dataset, const Shape& num_shards,
                           const Shape& index) const {
    return DatasetOfScalars(input_dataset, num_shards, index);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset, int64_t num_shards,
                    int64_t index) const;
};

struct ConcatenateDataset : NotedElementSpec {
  static constexpr auto kName = "ConcatenateDataset";
  using Sig = Signature<In<"input_dataset", Variant>, In<"another_dataset", Variant>,
                        Out<"handle", Variant>>;
  Result<Shape> InferShape(const Shape& input_dataset, const Shape& another_dataset) const {
    return DatasetOfScalars(input_dataset, another_dataset);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                    const Tensor& another_dataset) const;
};

// Elements side by side, as long as all have one.
struct ZipDataset : NotedElementSpec {
  static constexpr auto kName = "ZipDataset";
  using Sig = Signature<In<"input_datasets", List<"N", Variant>>, Out<"handle", Variant>>;
  Result<Shape> InferShape(std::span<const Known> input_datasets) const;
  Status ComputeCpu(CpuContext& context, std::span<Tensor* const> input_datasets) const;
};

// Keeps the elements in memory once all have been read. A file is not written.
struct CacheDataset : NotedElementSpec {
  static constexpr auto kName = "CacheDataset";
  using Sig =
      Signature<In<"input_dataset", Variant>, In<"filename", std::string>, Out<"handle", Variant>>;
  Result<Shape> InferShape(const Shape& input_dataset, const Shape& filename) const {
    return DatasetOfScalars(input_dataset, filename);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset, const Tensor& filename) const;
};

// Ops that change how fast elements come, not which: here the dataset itself.

struct PrefetchDataset : NotedElementSpec {
  static constexpr auto kName = "PrefetchDataset";
  int64_t slack_period = 0;
  bool legacy_autotune = true;
  int64_t buffer_size_min = 0;
  using Sig =
      Signature<In<"input_dataset", Variant>, In<"buffer_size", int64_t>, Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kNotedAttrs, std::tuple{Field{"slack_period", &PrefetchDataset::slack_period},
                              Field{"legacy_autotune", &PrefetchDataset::legacy_autotune},
                              Field{"buffer_size_min", &PrefetchDataset::buffer_size_min}});
  Result<Shape> InferShape(const Shape& input_dataset, const Shape& buffer_size) const {
    return DatasetOfScalars(input_dataset, buffer_size);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset, int64_t buffer_size) const;
};

struct ModelDataset : ElementSpec {
  static constexpr auto kName = "ModelDataset";
  int64_t algorithm = 0;
  int64_t cpu_budget = 0;
  int64_t ram_budget = 0;
  using Sig = Signature<In<"input_dataset", Variant>, Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs =
      std::tuple_cat(kElementAttrs, std::tuple{Field{"algorithm", &ModelDataset::algorithm},
                                               Field{"cpu_budget", &ModelDataset::cpu_budget},
                                               Field{"ram_budget", &ModelDataset::ram_budget}});
  Result<Shape> InferShape(const Shape& input_dataset) const {
    return DatasetOfScalars(input_dataset);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset) const;
};

struct OptimizeDataset : ElementSpec {
  static constexpr auto kName = "OptimizeDataset";
  std::vector<std::string> optimization_configs;
  using Sig = Signature<In<"input_dataset", Variant>, In<"optimizations", std::string>,
                        Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kElementAttrs,
      std::tuple{Field{"optimization_configs", &OptimizeDataset::optimization_configs}});
  Result<Shape> InferShape(const Shape& input_dataset, const Shape&) const {
    return DatasetOfScalars(input_dataset);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset, const Tensor&) const;
};

struct OptimizeDatasetV2 : ElementSpec {
  static constexpr auto kName = "OptimizeDatasetV2";
  std::vector<std::string> optimization_configs;
  using Sig = Signature<In<"input_dataset", Variant>, In<"optimizations_enabled", std::string>,
                        In<"optimizations_disabled", std::string>,
                        In<"optimizations_default", std::string>, Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kElementAttrs,
      std::tuple{Field{"optimization_configs", &OptimizeDatasetV2::optimization_configs}});
  Result<Shape> InferShape(const Shape& input_dataset, const Shape&, const Shape&,
                           const Shape&) const {
    return DatasetOfScalars(input_dataset);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset, const Tensor&, const Tensor&,
                    const Tensor&) const;
};

struct OptionsDataset : NotedElementSpec {
  static constexpr auto kName = "OptionsDataset";
  std::string serialized_options;
  using Sig = Signature<In<"input_dataset", Variant>, Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kNotedAttrs,
      std::tuple{Field{"serialized_options", &OptionsDataset::serialized_options}.Required()});
  Result<Shape> InferShape(const Shape& input_dataset) const {
    return DatasetOfScalars(input_dataset);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset) const;
};

struct FinalizeDataset : ElementSpec {
  static constexpr auto kName = "FinalizeDataset";
  bool has_captured_ref = false;
  using Sig = Signature<In<"input_dataset", Variant>, Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kElementAttrs, std::tuple{Field{"has_captured_ref", &FinalizeDataset::has_captured_ref}});
  Result<Shape> InferShape(const Shape& input_dataset) const {
    return DatasetOfScalars(input_dataset);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset) const;
};

}  // namespace penstock::ops
