#pragma once

#include <string_view>
#include <vector>

#include "penstock/train/nn/body.h"
#include "penstock/train/nn/window.h"

// How windows become the attributes of ops, whose tensors are [batch, axes..., channels].

namespace penstock::nn {

// One value for each of `axes` spatial axes; throws in the layer's name unless there are one or
// `axes` of them, all at least `least`.
std::vector<int64_t> Expand(const Body& body, std::string_view what, const Sizes& sizes, int axes,
                            int64_t least = 1);
// The same for padding, empty unless it is explicit.
std::vector<Padding::Sides> Expand(const Body& body, const Padding& padding, int axes);

// 1, values..., 1.
std::vector<int64_t> WithBatchAndChannels(const std::vector<int64_t>& values);
// 0, 0, before, after, ..., 0, 0.
std::vector<int64_t> Flat(const std::vector<Padding::Sides>& sides);

// Puts `value` around x as `sides` says.
Expr Pad(const Context& context, const Expr& x, const std::vector<Padding::Sides>& sides,
         float value);
// "[batch, height, width, channels]", for messages.
std::string_view AxesOf(int spatial);

}  // namespace penstock::nn
