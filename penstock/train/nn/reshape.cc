#include "penstock/train/nn/reshape.h"

#include <algorithm>

#include "penstock/train/nn/body.h"

namespace penstock::nn {
namespace {

// The product of all extents but the first, or -1 when it is not known.
int64_t RowSize(const Context& context, const Shape& shape) {
  const Shape row = shape.Slice(1, shape.rank());
  if (!row.IsFullyKnown()) return -1;
  const std::optional<int64_t> size = row.CheckedNumElements();
  if (!size) context.Fail("an input of shape {} is too large", shape);
  return *size;
}

class FlattenBody final : public Body {
 public:
  explicit FlattenBody(CallSite site) : Body("Flatten", "flatten", "", site) {}

  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    const Shape& shape = inputs[0].shape();
    context.RequireRank(inputs[0], 0, "[batch, ...]");
    const int64_t size = RowSize(context, shape);
    if (size < 0) context.Fail("all axes of the input but the first must be known, got {}", shape);
    // -1 would be ambiguous beside an empty row.
    return context.Reshape(inputs[0], {size == 0 ? shape[0] : -1, size});
  }
};

class ReshapeBody final : public Body {
 public:
  ReshapeBody(std::vector<int64_t> shape, CallSite site)
      : Body("Reshape", "reshape", "", site), shape_(std::move(shape)) {
    if (std::count(shape_.begin(), shape_.end(), -1) > 1) Fail("only one extent may be -1");
    for (const int64_t extent : shape_) {
      if (extent < -1) Fail("an extent must not be negative, got {}", extent);
    }
  }

  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    const Expr& x = inputs[0];
    context.RequireRank(x, 0, "[batch, ...]");
    const std::vector<int64_t> row = Settle(context, x.shape());
    std::vector<int64_t> all{x.shape()[0]};
    all.insert(all.end(), row.begin(), row.end());
    if (std::count(all.begin(), all.end(), -1) <= 1) return context.Reshape(x, all);
    const Expr batch =
        context.scope().Add("Slice", {Op("Shape", x), context.Vector({0}), context.Vector({1})});
    const Expr shape =
        context.scope().Add("ConcatV2", {batch, context.Vector(row), context.Scalar(int32_t{0})});
    return context.WithShape(Op("Reshape", x, shape), Shape(all));
  }

 private:
  // The row with its -1 computed where that is possible.
  std::vector<int64_t> Settle(const Context& context, const Shape& input) const {
    const int64_t size = RowSize(context, input);
    std::vector<int64_t> row = shape_;
    const auto open = std::find(row.begin(), row.end(), -1);
    if (size < 0) return row;
    int64_t known = 1;
    for (const int64_t extent : row) {
      if (extent >= 0 && __builtin_mul_overflow(known, extent, &known))
        context.Fail("the shape is too large");
    }
    const bool fits = open == row.end() ? known == size : known > 0 && size % known == 0;
    if (!fits) context.Fail("rows of {} elements cannot become {}", size, Shape(shape_));
    if (open != row.end()) *open = size / known;
    return row;
  }

  std::vector<int64_t> shape_;
};

}  // namespace

Flatten::Flatten(CallSite site) : Layer(std::make_shared<FlattenBody>(site)) {}
Reshape::Reshape(std::vector<int64_t> shape, CallSite site)
    : Layer(std::make_shared<ReshapeBody>(std::move(shape), site)) {}

}  // namespace penstock::nn
