#include "penstock/ops/text/hash_buckets.h"

#include <array>

#include "penstock/kernels/fingerprint.h"

namespace penstock::ops {
namespace {

template <class Hash>
void Bucketize(CpuContext& context, const Tensor& input, int64_t num_buckets, Tensor& output,
               Hash&& hash) {
  const std::string* from = input.data<std::string>();
  int64_t* to = output.mutable_data<int64_t>();
  const auto buckets = static_cast<uint64_t>(num_buckets);
  context.parallel()(input.num_elements(), 50, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = static_cast<int64_t>(hash(from[i]) % buckets);
  });
}

}  // namespace

uint64_t OldHash(std::string_view bytes) { return kernels::MurmurHash64(bytes); }
uint64_t FastHash(std::string_view bytes) { return kernels::Fingerprint64(bytes); }

Status ComputeHashBuckets(CpuContext& context, const Tensor& input, int64_t num_buckets,
                          uint64_t (*hash)(std::string_view), Tensor& output) {
  Bucketize(context, input, num_buckets, output, hash);
  return OkStatus();
}

Status StringToHashBucketStrong::CheckAttrs() const {
  if (key.size() == 2) return OkStatus();
  return InvalidArgument("key must have 2 elements, got {}", key.size());
}

Status StringToHashBucketStrong::ComputeCpu(CpuContext& context, const Tensor& input,
                                            Tensor& output) const {
  const std::array<uint64_t, 2> words = {static_cast<uint64_t>(key[0]),
                                         static_cast<uint64_t>(key[1])};
  Bucketize(context, input, num_buckets, output,
            [&](const std::string& text) { return kernels::SipHash(words, text); });
  return OkStatus();
}

void RegisterHashBuckets(Registrar& registrar) {
  registrar.AddAll<StringToHashBucket, StringToHashBucketFast, StringToHashBucketStrong>();
}

}  // namespace penstock::ops
