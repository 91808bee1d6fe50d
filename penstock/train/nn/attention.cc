#include "penstock/train/nn/attention.h"

#include <cmath>

#include "penstock/train/nn/body.h"
#include "penstock/train/nn/dropout.h"

// B batch, T places of the query, S places of keys and values, H heads, K and V their sizes.

namespace penstock::nn {
namespace {

class AttentionBody final : public Body {
 public:
  AttentionBody(int64_t heads, int64_t key_dim, AttentionOptions options, CallSite site)
      : Body("MultiHeadAttention", "multi_head_attention", options.name, site),
        heads_(heads),
        key_dim_(key_dim),
        value_dim_(options.value_dim == 0 ? key_dim : options.value_dim),
        options_(std::move(options)),
        dropout_(options_.dropout, {}, site) {
    RequirePositive("the number of heads", heads);
    RequirePositive("key_dim", key_dim);
    RequirePositive("value_dim", value_dim_);
  }

  bool TakesIntegers() const override { return true; }  // the mask

  // Inputs: query, value, key, mask; all but the first may be left out.
  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    auto input = [&](size_t i, const Expr& otherwise) {
      return i < inputs.size() && inputs[i].valid() ? inputs[i] : otherwise;
    };
    const Expr& query = inputs[0];
    const Expr value = input(1, query), key = input(2, value), mask = input(3, Expr());
    for (const Expr* x : {&query, &value, &key}) CheckInput(context, *x);
    const int64_t features = context.Channels(query);
    const Expr q = Project(context, "query", query, key_dim_) * (1 / std::sqrt(double(key_dim_)));
    const Expr k = Project(context, "key", key, key_dim_);
    const Expr v = Project(context, "value", value, value_dim_);
    Expr scores = Op("BatchMatMulV2", q, k, {{"adj_y", true}});  // [B, H, T, S]
    if (options_.causal) scores = scores + CausalBias(context, query, key);
    if (mask.valid()) scores = scores + PaddingBias(context, mask);
    Expr weights = Op("Softmax", scores);
    if (options_.dropout > 0) weights = context.Call(dropout_, {weights});
    return Join(context, Op("BatchMatMulV2", weights, v), query, features);
  }

 private:
  static void CheckInput(const Context& context, const Expr& x) {
    if (x.dtype() != DType::kFloat) context.Fail("expected inputs of float, got {}", x.dtype());
    context.RequireRank(x, 3, "[batch, time, features]");
  }

  // x as [rows, features], times a kernel [features, heads, size]: [B, heads, time, size].
  Expr Project(Context& context, const std::string& name, const Expr& x, int64_t size) const {
    const int64_t features = context.Channels(x), width = heads_ * size;
    const Expr kernel =
        context.Weight(name + "/kernel", {features, heads_, size}, FlatGlorot(features, width));
    Expr y = Op("MatMul", context.Reshape(x, {-1, features}),
                context.Reshape(kernel, {features, width}));
    if (options_.bias) {
      const Expr bias = context.Weight(name + "/bias", {heads_, size}, Zeros());
      y = Op("BiasAdd", y, context.Reshape(bias, {width}));
    }
    return Op("Transpose", LikeRows(context, y, x, {heads_, size}), context.Vector({0, 2, 1, 3}));
  }

  // [B, heads, T, V] to [B, T, features].
  Expr Join(Context& context, const Expr& found, const Expr& query, int64_t features) const {
    const int64_t width = heads_ * value_dim_;
    const Expr rows =
        context.Reshape(Op("Transpose", found, context.Vector({0, 2, 1, 3})), {-1, width});
    const Expr kernel = context.Weight("attention_output/kernel", {heads_, value_dim_, features},
                                       FlatGlorot(width, features));
    Expr y = Op("MatMul", rows, context.Reshape(kernel, {width, features}));
    if (options_.bias)
      y = Op("BiasAdd", y, context.Weight("attention_output/bias", {features}, Zeros()));
    return LikeRows(context, y, query, {features});
  }

  // Rows back to [B, time, last...], where x is [B, time, features].
  static Expr LikeRows(const Context& context, const Expr& rows, const Expr& x,
                       const std::vector<int64_t>& last) {
    std::vector<int64_t> known{x.shape()[0], x.shape()[1]};
    known.insert(known.end(), last.begin(), last.end());
    if (x.shape()[0] >= 0 || x.shape()[1] >= 0) return context.Reshape(rows, known);
    const Expr outer =
        context.scope().Add("Slice", {Op("Shape", x), context.Vector({0}), context.Vector({2})});
    const Expr shape =
        context.scope().Add("ConcatV2", {outer, context.Vector(last), context.Scalar(int32_t{0})});
    return context.WithShape(Op("Reshape", rows, shape), Shape(known));
  }

  // Glorot's variance for the matrix that the kernel is used as.
  static Initializer FlatGlorot(int64_t in, int64_t out) {
    const float limit = static_cast<float>(std::sqrt(6.0 / double(in + out)));
    return Uniform(-limit, limit);
  }

  // Before a softmax: 0 where a place counts, so little that nothing is left where it does not.
  static Expr Bias(const Context& context, const Expr& counts) {
    return Op("SelectV2", counts, context.Scalar(0.f), context.Scalar(-1e9f));
  }
  // [T, S].
  static Expr CausalBias(const Context& context, const Expr& query, const Expr& key) {
    auto places = [&](const Expr& x) {
      const Expr count = context.scope().Add(
          "StridedSlice",
          {Op("Shape", x), context.Vector({1}), context.Vector({2}), context.Vector({1})},
          {{"shrink_axis_mask", 1}});
      return context.scope().Add("Range",
                                 {context.Scalar(int32_t{0}), count, context.Scalar(int32_t{1})});
    };
    return Bias(context, Op("GreaterEqual", context.Reshape(places(query), {-1, 1}), places(key)));
  }
  // [B, 1, 1, S].
  static Expr PaddingBias(const Context& context, const Expr& mask) {
    if (mask.dtype() != DType::kBool || !Shape({-1, -1}).IsCompatibleWith(mask.shape()))
      context.Fail("expected a mask of bool [batch, places], got {} {}", mask.dtype(),
                   mask.shape());
    const Expr row = Op("ExpandDims", mask, context.Scalar(int32_t{1}));
    return Bias(context, Op("ExpandDims", row, context.Scalar(int32_t{1})));
  }

  int64_t heads_, key_dim_, value_dim_;
  AttentionOptions options_;
  Dropout dropout_;
};

}  // namespace

MultiHeadAttention::MultiHeadAttention(int64_t heads, int64_t key_dim, AttentionOptions options,
                                       CallSite site)
    : Layer(std::make_shared<AttentionBody>(heads, key_dim, std::move(options), site)) {}

Output<float> MultiHeadAttention::operator()(const Inputs& inputs, Mode mode, CallSite site) const {
  return Call(inputs.query.graph(),
              {inputs.query.ref(), inputs.value.ref(), inputs.key.ref(), inputs.key_is_there.ref()},
              mode, site);
}

}  // namespace penstock::nn
