#include "penstock/train/nn/embedding.h"

#include "penstock/train/nn/body.h"

namespace penstock::nn {
namespace {

class EmbeddingBody final : public Body {
 public:
  EmbeddingBody(int64_t rows, int64_t units, EmbeddingOptions options, CallSite site)
      : Body("Embedding", "embedding", options.name, site),
        rows_(rows),
        units_(units),
        options_(std::move(options)) {
    RequirePositive("the number of rows", rows);
    RequirePositive("the number of units", units);
    RequirePositive("the number of shards", options_.shards);
    if (options_.shards > rows) Fail("{} rows cannot fill {} shards", rows, options_.shards);
  }

  bool TakesIntegers() const override { return true; }

  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    const Expr& ids = inputs[0];
    const DType dtype = ids.dtype();
    if (dtype != DType::kInt32 && dtype != DType::kInt64)
      context.Fail("expected indices of int32 or int64, got {}", dtype);
    if (options_.shards == 1) {
      const NodeId table = context.Handle("embeddings", {rows_, units_}, options_.table);
      return Gather(context, table, ids);
    }
    return LookUp(context, ids);
  }

 private:
  static Expr Gather(const Context& context, NodeId table, const Expr& ids) {
    return context.scope().Add("ResourceGather", {Expr(&context.scope(), {table, 0}), ids},
                               {{"dtype", DType::kFloat}});
  }

  // The first `extra` shards have one row more than the others.
  int64_t RowsOf(int64_t shard) const {
    return rows_ / options_.shards + (shard < rows_ % options_.shards ? 1 : 0);
  }

  // Sends each index to its shard and puts what comes back where the index stood.
  Expr LookUp(Context& context, const Expr& ids) {
    const Scope& scope = context.scope();
    const Expr flat = context.Reshape(ids, {-1});
    const auto [shard, row] = Locate(context, flat);
    const Expr places = scope.Add(
        "Range", {context.Scalar(int32_t{0}), Op("Size", flat), context.Scalar(int32_t{1})});
    const AttrMap parts{{"num_partitions", options_.shards}};
    const Expr row_parts = Op("DynamicPartition", row, shard, parts);
    const Expr place_parts = Op("DynamicPartition", places, shard, parts);
    context.Check();
    std::vector<Expr> stitch, found;
    for (int64_t i = 0; i < options_.shards; ++i) {
      const int port = static_cast<int>(i);
      const NodeId table =
          context.Handle("embeddings_" + std::to_string(i), {RowsOf(i), units_}, options_.table);
      stitch.push_back(place_parts.Output(port));
      found.push_back(Gather(context, table, row_parts.Output(port)));
    }
    stitch.insert(stitch.end(), found.begin(), found.end());
    return Restore(context, scope.Add("DynamicStitch", stitch), ids);
  }

  struct Place {
    Expr shard, row;
  };
  // The shard of each index (int32) and the row there. An index out of range gets a row that no
  // shard has, so that the step fails.
  Place Locate(Context& context, const Expr& ids) const {
    auto as_shard = [&](const Expr& shard) {
      const Expr inside = Op("Minimum", Op("Maximum", shard, context.scope().Like(shard, 0)),
                             context.scope().Like(shard, static_cast<double>(options_.shards - 1)));
      return Op("Cast", inside, {{"DstT", DType::kInt32}});
    };
    auto like = [&](int64_t value) {
      return context.scope().Like(ids, static_cast<double>(value));
    };
    if (options_.sharding == Sharding::kMod) {
      return {as_shard(Op("FloorMod", ids, like(options_.shards))),
              Op("FloorDiv", ids, like(options_.shards))};
    }
    // The first `extra` shards hold `many + 1` rows, the others `many`.
    const int64_t many = rows_ / options_.shards, extra = rows_ % options_.shards;
    const Expr shard = as_shard(Op("Maximum", Op("FloorDiv", ids, like(many + 1)),
                                   Op("FloorDiv", ids - like(extra), like(many))));
    const Expr wide = Op("Cast", shard, {{"DstT", ids.dtype()}});
    const Expr begin = wide * like(many) + Op("Minimum", wide, like(extra));
    return {shard, ids - begin};
  }

  Expr Restore(const Context& context, const Expr& rows, const Expr& ids) const {
    const Expr shape = context.scope().Add(
        "ConcatV2", {Op("Shape", ids), context.Vector({units_}), context.Scalar(int32_t{0})});
    const Expr result = Op("Reshape", rows, shape);
    if (!ids.shape().has_rank()) return result;
    Shape known = ids.shape();
    known.Append(units_);
    return context.WithShape(result, known);
  }

  int64_t rows_, units_;
  EmbeddingOptions options_;
};

class PositionBody final : public Body {
 public:
  PositionBody(int64_t max_length, PositionEmbeddingOptions options, CallSite site)
      : Body("PositionEmbedding", "position_embedding", options.name, site),
        max_length_(max_length),
        options_(std::move(options)) {
    RequirePositive("the largest length", max_length);
  }

  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    const Expr& x = inputs[0];
    context.RequireRank(x, 3, "[batch, time, features]");
    const int64_t features = context.Channels(x), time = x.shape()[1];
    if (time > max_length_)
      context.Fail("sequences of {} steps are longer than {}", time, max_length_);
    const Expr table = context.Weight("embeddings", {max_length_, features}, options_.table);
    const Expr length =
        context.scope().Add("Slice", {Op("Shape", x), context.Vector({1}), context.Vector({1})});
    const Expr size = context.scope().Add(
        "ConcatV2", {length, context.Vector({features}), context.Scalar(int32_t{0})});
    // A step with more rows than the table has fails here.
    const Expr rows = context.scope().Add("Slice", {table, context.Vector({0, 0}), size});
    return x + context.WithShape(rows, Shape{time, features});
  }

 private:
  int64_t max_length_;
  PositionEmbeddingOptions options_;
};

}  // namespace

Embedding::Embedding(int64_t rows, int64_t units, EmbeddingOptions options, CallSite site)
    : Layer(std::make_shared<EmbeddingBody>(rows, units, std::move(options), site)) {}

PositionEmbedding::PositionEmbedding(int64_t max_length, PositionEmbeddingOptions options,
                                     CallSite site)
    : Layer(std::make_shared<PositionBody>(max_length, std::move(options), site)) {}

}  // namespace penstock::nn
