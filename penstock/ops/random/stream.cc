#include "penstock/ops/random/stream.h"

#include <random>

namespace penstock::ops {
namespace {

using kernels::Philox;

Philox StreamOfSeeds(int64_t seed, int64_t seed2) {
  if (seed != 0 || seed2 != 0)
    return Philox(static_cast<uint64_t>(seed), static_cast<uint64_t>(seed2));
  std::random_device device;
  const auto word = [&] { return uint64_t{device()} << 32 | device(); };
  const uint64_t key = word();
  return Philox(key, word());
}

}  // namespace

RandomStream::RandomStream(int64_t seed, int64_t seed2) : next_(StreamOfSeeds(seed, seed2)) {}

std::shared_ptr<RandomStream> RandomStreams::FindOrMake(const std::string& name, int64_t seed,
                                                        int64_t seed2) {
  MutexLock lock(mu_);
  std::shared_ptr<RandomStream>& stream = streams_[name];
  if (stream == nullptr) stream = std::make_shared<RandomStream>(seed, seed2);
  return stream;
}

std::map<std::string, Philox> RandomStreams::Positions() const {
  MutexLock lock(mu_);
  std::map<std::string, Philox> positions;
  for (const auto& [name, stream] : streams_) positions.emplace(name, stream->next());
  return positions;
}

void RandomStreams::SetPositions(const std::map<std::string, Philox>& positions) {
  MutexLock lock(mu_);
  for (const auto& [name, position] : positions) {
    std::shared_ptr<RandomStream>& stream = streams_[name];
    if (stream == nullptr) {
      stream = std::make_shared<RandomStream>(position);
    } else {
      stream->Set(position);
    }
  }
}

std::string RandomStreams::DebugString() const {
  MutexLock lock(mu_);
  return Format("{} random streams", streams_.size());
}

size_t RandomStreams::MemoryBytes() const {
  MutexLock lock(mu_);
  size_t bytes = sizeof *this;
  for (const auto& [name, stream] : streams_) bytes += name.size() + sizeof *stream;
  return bytes;
}

// Nodes of different functions may have one name; with other seeds they draw from other streams.
NodeStream::NodeStream(const KernelRequest& request, int64_t seed, int64_t seed2)
    : name_(Format("{}/{}/{}", request.node, seed, seed2)),
      seed_(seed),
      seed2_(seed2),
      streams_(RandomStreams::kContainer, RandomStreams::kResourceName, "RandomStreams",
               [] { return std::make_shared<RandomStreams>(); }) {}

Result<std::shared_ptr<RandomStream>> NodeStream::Get(KernelContext& context) {
  TRY_ASSIGN(std::shared_ptr<RandomStreams> streams, streams_.Get(context));
  MutexLock lock(mu_);
  if (found_in_ != streams) {
    found_ = streams->FindOrMake(name_, seed_, seed2_);
    found_in_ = std::move(streams);
  }
  return found_;
}

Status CheckSeed(const Shape& seed) {
  if (Shape{2}.IsCompatibleWith(seed)) return OkStatus();
  return InvalidArgument("seed must have shape [2], not {}", seed);
}

// The seeds are mixed once by a generator of their own, so that they may be as poor as 0 and 1.
Philox StreamOfSeed(const Tensor& seed) {
  const auto at = [&](int i) {
    switch (seed.dtype()) {
      case DType::kInt32:
        return static_cast<uint64_t>(int64_t{seed.data<int32_t>()[i]});
      case DType::kUint32:
        return uint64_t{seed.data<uint32_t>()[i]};
      default:
        return seed.data<uint64_t>()[i];
    }
  };
  constexpr uint64_t kMixingKey = 0x02461e293ec8f720;
  const Philox::Block mixed = Philox(kMixingKey, at(0), at(1)).Next();
  return Philox(mixed[0] | uint64_t{mixed[1]} << 32, mixed[2] | uint64_t{mixed[3]} << 32);
}

Status CheckKey(const Shape& key, const Shape& counter, const Shape& alg) {
  TRY(CheckScalar(alg, "alg"));
  if (!Shape{1}.IsCompatibleWith(key))
    return InvalidArgument("key must have shape [1], not {}", key);
  TRY(CheckVector(counter, "counter"));
  if (counter.has_rank() && counter[0] >= 0 && counter[0] < 2)
    return InvalidArgument("counter must have at least 2 elements, got shape {}", counter);
  return OkStatus();
}

Result<Philox> StreamOfKey(const Tensor& key, const Tensor& counter, const Tensor& alg) {
  const int32_t algorithm = alg.scalar<int32_t>();
  if (algorithm != kPhiloxAlgorithm && algorithm != kAnyAlgorithm)
    return InvalidArgument("alg must be 1 (Philox) or 3 (the device's choice), got {}", algorithm);
  return Philox(key.data<uint64_t>()[0], counter.data<uint64_t>()[0], counter.data<uint64_t>()[1]);
}

Result<Shape> DrawnShape(const Integers& shape) {
  TRY(CheckVector(shape.shape(), "shape"));
  return shape.AsShape();
}

}  // namespace penstock::ops
