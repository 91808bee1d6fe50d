#pragma once

#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"

// Strings as the numbers of hash buckets.

namespace penstock::ops {

// `hash` is one of those of kernels/fingerprint.h that need no key.
Status ComputeHashBuckets(CpuContext& context, const Tensor& input, int64_t num_buckets,
                          uint64_t (*hash)(std::string_view), Tensor& output);
uint64_t OldHash(std::string_view bytes);
uint64_t FastHash(std::string_view bytes);

template <FixedString Name, FixedString Input, auto Hash>
struct HashBuckets {
  static constexpr std::string_view kName = Name.view();
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 50;
  int64_t num_buckets = 1;
  using Sig = Signature<In<Input, std::string>, Out<"output", int64_t>>;
  static constexpr std::tuple kAttrs{
      Field{"num_buckets", &HashBuckets::num_buckets}.Required().Min(1)};

  Result<Shape> InferShape(const Shape& input) const { return input; }
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const {
    return ComputeHashBuckets(context, input, num_buckets, Hash, output);
  }
};
using StringToHashBucket = HashBuckets<"StringToHashBucket", "string_tensor", OldHash>;
using StringToHashBucketFast = HashBuckets<"StringToHashBucketFast", "input", FastHash>;

struct StringToHashBucketStrong {
  static constexpr auto kName = "StringToHashBucketStrong";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 100;
  int64_t num_buckets = 1;
  std::vector<int64_t> key;
  using Sig = Signature<In<"input", std::string>, Out<"output", int64_t>>;
  static constexpr std::tuple kAttrs{
      Field{"num_buckets", &StringToHashBucketStrong::num_buckets}.Required().Min(1),
      Field{"key", &StringToHashBucketStrong::key}.Required()};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& input) const { return input; }
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};

}  // namespace penstock::ops
