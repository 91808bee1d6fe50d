#pragma once

#include "penstock/train/nn/initializers.h"
#include "penstock/train/nn/layer.h"

namespace penstock::nn {

// How rows are shared out to shards: row i to shard i mod n, or the first rows to the first shard
// and so on.
enum class Sharding { kMod, kDiv };

struct EmbeddingOptions {
  int64_t shards = 1;  // more: variables "embeddings_0", "embeddings_1", ..., to place apart
  Sharding sharding = Sharding::kMod;
  Initializer table = Uniform(-0.05f, 0.05f);
  std::string name = {};  // in place of "embedding"
};

// A row of a [rows, units] table for each index. Only the rows that are asked for are read, and
// gradients are of those rows alone. An index outside of [0, rows) fails the step.
class Embedding : public Layer {
 public:
  Embedding(int64_t rows, int64_t units, EmbeddingOptions options = {},
            CallSite site = CallSite::Here());

  // [ids..., units].
  Output<float> operator()(const Output<int32_t>& ids, Mode mode = Mode::kInfer,
                           CallSite site = CallSite::Here()) const {
    return Call(ids.graph(), {ids.ref()}, mode, site);
  }
  Output<float> operator()(const Output<int64_t>& ids, Mode mode = Mode::kInfer,
                           CallSite site = CallSite::Here()) const {
    return Call(ids.graph(), {ids.ref()}, mode, site);
  }
};

struct PositionEmbeddingOptions {
  Initializer table = Normal(0, 0.02f);
  std::string name = {};  // in place of "position_embedding"
};

// x + a learned row for each place: x is [batch, time, features] with time at most `max_length`.
class PositionEmbedding : public Layer {
 public:
  explicit PositionEmbedding(int64_t max_length, PositionEmbeddingOptions options = {},
                             CallSite site = CallSite::Here());
};

}  // namespace penstock::nn
