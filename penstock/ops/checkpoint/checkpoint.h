#pragma once

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Ops that save tensors to the disk and restore them: the nodes of a Saver.

namespace penstock::ops {

struct SaveV2 {
  static constexpr auto kName = "SaveV2";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"prefix", std::string>, In<"tensor_names", std::string>,
                        In<"shape_and_slices", std::string>, In<"tensors", TypeList<"dtypes">>>;

  Result<std::vector<Shape>> InferShape(const Shape& prefix, const Shape& tensor_names,
                                        const Shape& shape_and_slices,
                                        std::span<const Known> tensors) const;
  Status ComputeCpu(CpuContext& context, const Tensor& prefix,
                    std::span<const std::string> tensor_names,
                    std::span<const std::string> shape_and_slices,
                    std::span<Tensor* const> tensors) const;
};

struct RestoreV2 {
  static constexpr auto kName = "RestoreV2";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  std::vector<DType> dtypes;
  using Sig = Signature<In<"prefix", std::string>, In<"tensor_names", std::string>,
                        In<"shape_and_slices", std::string>, Out<"tensors", TypeList<"dtypes">>>;
  static constexpr std::tuple kAttrs{Field{"dtypes", &RestoreV2::dtypes}.Required().Min(1)};

  // The slices say what shape comes; a whole tensor does not.
  Result<std::vector<Shape>> InferShape(const Shape& prefix, const Shape& tensor_names,
                                        const Known& shape_and_slices) const;
  Status ComputeCpu(CpuContext& context, const Tensor& prefix,
                    std::span<const std::string> tensor_names,
                    std::span<const std::string> shape_and_slices) const;
};

// Restores one tensor from files of either format.
struct RestoreSlice {
  static constexpr auto kName = "RestoreSlice";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  DType dt = DType::kInvalid;
  int64_t preferred_shard = -1;
  using Sig = Signature<In<"file_pattern", std::string>, In<"tensor_name", std::string>,
                        In<"shape_and_slice", std::string>, Out<"tensor", AnyType<"dt">>>;
  static constexpr std::tuple kAttrs{Field{"dt", &RestoreSlice::dt},
                                     Field{"preferred_shard", &RestoreSlice::preferred_shard}};

  Result<Shape> InferShape(const Shape& file_pattern, const Shape& tensor_name,
                           const Known& shape_and_slice) const;
  Status ComputeCpu(CpuContext& context, const Tensor& file_pattern, const Tensor& tensor_name,
                    const Tensor& shape_and_slice) const;
};

struct Restore {
  static constexpr auto kName = "Restore";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  DType dt = DType::kInvalid;
  int64_t preferred_shard = -1;
  using Sig = Signature<In<"file_pattern", std::string>, In<"tensor_name", std::string>,
                        Out<"tensor", AnyType<"dt">>>;
  static constexpr std::tuple kAttrs{Field{"dt", &Restore::dt},
                                     Field{"preferred_shard", &Restore::preferred_shard}};

  Result<Shape> InferShape(const Shape& file_pattern, const Shape& tensor_name) const;
  Status ComputeCpu(CpuContext& context, const Tensor& file_pattern,
                    const Tensor& tensor_name) const;
};

// "name-00003-of-00012"
struct ShardedFilename {
  static constexpr auto kName = "ShardedFilename";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"basename", std::string>, In<"shard", int32_t>,
                        In<"num_shards", int32_t>, Out<"filename", std::string>>;

  Result<Shape> InferShape(const Shape& basename, const Shape& shard,
                           const Shape& num_shards) const;
  Status ComputeCpu(CpuContext& context, const Tensor& basename, int32_t shard, int32_t num_shards,
                    Tensor& filename) const;
};

// "name-?????-of-00012"
struct ShardedFilespec {
  static constexpr auto kName = "ShardedFilespec";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"basename", std::string>, In<"num_shards", int32_t>,
                        Out<"filename", std::string>>;

  Result<Shape> InferShape(const Shape& basename, const Shape& num_shards) const;
  Status ComputeCpu(CpuContext& context, const Tensor& basename, int32_t num_shards,
                    Tensor& filename) const;
};

// Makes one checkpoint of those that several tasks saved, and removes the folders they lay in when
// nothing else does.
struct MergeV2Checkpoints {
  static constexpr auto kName = "MergeV2Checkpoints";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  bool delete_old_dirs = true;
  bool allow_missing_files = false;
  using Sig =
      Signature<In<"checkpoint_prefixes", std::string>, In<"destination_prefix", std::string>>;
  static constexpr std::tuple kAttrs{
      Field{"delete_old_dirs", &MergeV2Checkpoints::delete_old_dirs},
      Field{"allow_missing_files", &MergeV2Checkpoints::allow_missing_files}};

  Result<std::vector<Shape>> InferShape(const Shape& checkpoint_prefixes,
                                        const Shape& destination_prefix) const;
  Status ComputeCpu(CpuContext& context, std::span<const std::string> checkpoint_prefixes,
                    const Tensor& destination_prefix) const;
};

}  // namespace penstock::ops
