#include "penstock/train/nn/window_attrs.h"

namespace penstock::nn {

std::vector<int64_t> Expand(const Body& body, std::string_view what, const Sizes& sizes, int axes,
                            int64_t least) {
  std::vector<int64_t> values = sizes.values();
  if (values.size() == 1) values.resize(static_cast<size_t>(axes), values[0]);
  if (values.size() != static_cast<size_t>(axes))
    body.Fail("{} needs one number or {}, got {}", what, axes, values.size());
  for (const int64_t value : values) {
    if (value < least || value > INT32_MAX)
      body.Fail("{} must be at least {}, got {}", what, least, value);
  }
  return values;
}

std::vector<Padding::Sides> Expand(const Body& body, const Padding& padding, int axes) {
  std::vector<Padding::Sides> sides = padding.sides();
  if (padding.kind() != Padding::Kind::kExplicit) return {};
  if (sides.size() == 1) sides.resize(static_cast<size_t>(axes), sides[0]);
  if (sides.size() != static_cast<size_t>(axes))
    body.Fail("explicit padding needs one pair or {}, got {}", axes, sides.size());
  for (const Padding::Sides& side : sides) {
    if (side.before < 0 || side.after < 0 || side.before > INT32_MAX || side.after > INT32_MAX)
      body.Fail("padding must not be negative, got {} and {}", side.before, side.after);
  }
  return sides;
}

std::vector<int64_t> WithBatchAndChannels(const std::vector<int64_t>& values) {
  std::vector<int64_t> all{1};
  all.insert(all.end(), values.begin(), values.end());
  all.push_back(1);
  return all;
}

std::vector<int64_t> Flat(const std::vector<Padding::Sides>& sides) {
  std::vector<int64_t> flat{0, 0};
  for (const Padding::Sides& side : sides) flat.insert(flat.end(), {side.before, side.after});
  flat.insert(flat.end(), {0, 0});
  return flat;
}

Expr Pad(const Context& context, const Expr& x, const std::vector<Padding::Sides>& sides,
         float value) {
  const std::vector<int64_t> flat = Flat(sides);
  Tensor amounts(DType::kInt32, Shape{static_cast<int64_t>(flat.size()) / 2, 2});
  for (size_t i = 0; i < flat.size(); ++i)
    amounts.mutable_data<int32_t>()[i] = static_cast<int32_t>(flat[i]);
  return context.scope().Add("PadV2",
                             {x, context.scope().Constant(amounts), context.Scalar(value)});
}

std::string_view AxesOf(int spatial) {
  switch (spatial) {
    case 1:
      return "[batch, steps, channels]";
    case 2:
      return "[batch, height, width, channels]";
    default:
      return "[batch, depth, height, width, channels]";
  }
}

}  // namespace penstock::nn
