#pragma once

#include <array>
#include <cstdint>

#include "penstock/core/dtype.h"
#include "penstock/core/parallel.h"

namespace penstock::kernels {

// Windows along one axis. Output o covers the inputs from o * stride - before on, `window` of them,
// less those outside [0, in).
struct PoolAxis {
  int64_t in = 1;
  int64_t out = 1;
  int64_t window = 1;
  int64_t stride = 1;
  int64_t before = 0;
};

// An array [batch, axes..., channels] that is pooled along its three axes, which may be of 1. Its
// places are the positions along the axes, counted in row-major order.
struct PoolShape {
  int64_t batch = 1;
  std::array<PoolAxis, 3> axes;
  int64_t channels = 1;

  int64_t places_in() const { return axes[0].in * axes[1].in * axes[2].in; }
  int64_t places_out() const { return axes[0].out * axes[1].out * axes[2].out; }
};

// What a byte can tell apart.
inline constexpr int64_t kMaxWindowPlaces = 256;

// Pooling of one type, types erased; 16-bit types are computed in float. x is the input of the
// pooling and y its output, dx and dy their derivatives. Every window holds a place, and an
// image less than 2^31 places.
// Entries that make no sense for a type are null.
struct PoolKernels {
  // The largest of each window, blind to NaNs, from the lowest finite number on.
  void (*max)(const PoolShape& shape, const void* x, void* y, const ParallelFor& each);
  // The largest of each window and its place in the image, the first of equals. A NaN wins if it
  // comes first.
  void (*max_place)(const PoolShape& shape, const void* x, void* y, int32_t* places,
                    const ParallelFor& each);
  // The mean of what each window covers.
  void (*mean)(const PoolShape& shape, const void* x, void* y, const ParallelFor& each);
  // dx: each dy goes to the first largest of its window, as max_place has it. `places` is room for
  // one of each output.
  void (*max_gradient)(const PoolShape& shape, const void* x, const void* dy, int32_t* places,
                       void* dx, const ParallelFor& each);
  // The same in two steps, of which the second does without x. First y as `max` has it, and beside
  // it the place within its window that the gradient goes to, as max_place chooses it; windows have
  // kMaxWindowPlaces places at most. Then dx from these places.
  void (*max_window_place)(const PoolShape& shape, const void* x, void* y, uint8_t* places,
                           const ParallelFor& each);
  void (*window_place_gradient)(const PoolShape& shape, const uint8_t* places, const void* dy,
                                void* dx, const ParallelFor& each);
  // dx: each dy goes to all places of its window that hold y.
  void (*equal_gradient)(const PoolShape& shape, const void* x, const void* y, const void* dy,
                         void* dx, const ParallelFor& each);
  // dx: each dy is spread evenly over its window.
  void (*mean_gradient)(const PoolShape& shape, const void* dy, void* dx, const ParallelFor& each);
  // dy from dx, the derivative of the gradients above: what lies at the first place of the window
  // that holds y, or 0.
  void (*pick)(const PoolShape& shape, const void* x, const void* y, const void* dx, void* dy,
               const ParallelFor& each);
};

// For this machine's instruction set. All null where there are none.
PoolKernels PoolKernelsOf(DType dtype);

}  // namespace penstock::kernels
