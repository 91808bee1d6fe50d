// PoolKernels of a type, once per instruction set. Inner loops run over neighbouring channels, so
// that the compiler makes vectors of them.
#if defined(PENSTOCK_KERNELS_POOL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENSTOCK_KERNELS_POOL_INL_H_
#undef PENSTOCK_KERNELS_POOL_INL_H_
#else
#define PENSTOCK_KERNELS_POOL_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "hwy/highway.h"
#include "penstock/core/dtype.h"
#include "penstock/kernels/pool.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
namespace {

// Channels that are worked on at a time: what is gathered for them stays in the first-level cache.
constexpr int64_t kPoolChannels = 64;

struct PoolRange {
  int64_t begin;
  int64_t end;
  int64_t size() const { return end - begin; }
};

// The inputs that output o covers.
PENSTOCK_SCALAR PoolRange Covered(const PoolAxis& axis, int64_t o) {
  const int64_t begin = o * axis.stride - axis.before;
  return {std::max<int64_t>(begin, 0), std::min(begin + axis.window, axis.in)};
}

// The outputs that cover input i.
PENSTOCK_SCALAR PoolRange Covering(const PoolAxis& axis, int64_t i) {
  const int64_t at = i + axis.before;
  const int64_t first = at < axis.window ? 0 : (at - axis.window) / axis.stride + 1;
  return {first, std::min(at / axis.stride + 1, axis.out)};
}

// Walks through the places of the other side that belong to one place of ours.
struct PoolWalk {
  PoolRange a, b, c;
  int64_t extent_b, extent_c;
  int64_t base;      // of the image and the block of channels
  int64_t channels;  // from one place to the next
  int64_t i = 0, j = 0, k = 0;
  int64_t place = 0;

  PENSTOCK_SCALAR bool Start() {
    i = a.begin, j = b.begin, k = c.begin;
    place = (i * extent_b + j) * extent_c + k;
    return a.size() > 0 && b.size() > 0 && c.size() > 0;
  }
  PENSTOCK_SCALAR bool Next() {
    ++place;
    if (++k < c.end) return true;
    k = c.begin;
    if (++j >= b.end) {
      j = b.begin;
      if (++i >= a.end) return false;
    }
    place = (i * extent_b + j) * extent_c + k;
    return true;
  }
  PENSTOCK_SCALAR int64_t element() const { return base + place * channels; }
};

// Where a body works: n channels from `element` on, of the place `place` of its image.
struct PoolSpot {
  int64_t element;
  int64_t place;
  int64_t n;
};

// Calls body(spot, walk) for each place and block of channels of the rows [begin, end): outputs
// with the inputs they cover (forward), or inputs with the outputs that cover them.
template <bool forward, class Body>
void PoolRows(const PoolShape& s, int64_t begin, int64_t end, const Body& body) {
  const auto& [a, b, c] = s.axes;
  const auto own = [](const PoolAxis& axis) { return forward ? axis.out : axis.in; };
  const auto other = [](const PoolAxis& axis) { return forward ? axis.in : axis.out; };
  const auto range = [](const PoolAxis& axis, int64_t at) {
    return forward ? Covered(axis, at) : Covering(axis, at);
  };
  const int64_t places = forward ? s.places_in() : s.places_out();
  for (int64_t row = begin; row < end; ++row) {
    const int64_t j = row % own(b), i = row / own(b) % own(a), n = row / own(b) / own(a);
    const PoolRange over_a = range(a, i), over_b = range(b, j);
    for (int64_t k = 0; k < own(c); ++k) {
      const PoolRange over_c = range(c, k);
      for (int64_t channel = 0; channel < s.channels; channel += kPoolChannels) {
        PoolWalk walk{over_a,    over_b,   over_c,
                      other(b),  other(c), n * places * s.channels + channel,
                      s.channels};
        body(PoolSpot{(row * own(c) + k) * s.channels + channel, (i * own(b) + j) * own(c) + k,
                      std::min(kPoolChannels, s.channels - channel)},
             walk);
      }
    }
  }
}

template <bool forward, class Body>
void ForPool(const PoolShape& s, const ParallelFor& each, const Body& body) {
  const auto& [a, b, c] = s.axes;
  const int64_t rows = s.batch * (forward ? a.out * b.out : a.in * b.in);
  double steps = 1;  // that the walk of one place makes, about
  for (const PoolAxis& axis : s.axes) {
    steps *= static_cast<double>(axis.window) /
             static_cast<double>(forward ? 1 : std::min(axis.window, axis.stride));
  }
  const double places = static_cast<double>(forward ? c.out : c.in);
  const double cost = places * steps * (2 + static_cast<double>(s.channels) / 4);
  each(rows, cost, [&](int64_t begin, int64_t end) { PoolRows<forward>(s, begin, end, body); });
}

// What derivatives are summed in; integers wrap.
template <class T>
using PoolSum =
    std::conditional_t<std::is_integral_v<T>,
                       std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>, ComputeType<T>>;

template <class T>
struct MaxBody {
  const T* x;
  T* y;
  void operator()(const PoolSpot& at, PoolWalk& walk) const {
    using A = ComputeType<T>;
    A best[kPoolChannels];
    std::fill_n(best, at.n, static_cast<A>(std::numeric_limits<T>::lowest()));
    for (bool more = walk.Start(); more; more = walk.Next()) {
      const T* from = x + walk.element();
      for (int64_t c = 0; c < at.n; ++c) {
        const A value = static_cast<A>(from[c]);
        best[c] = best[c] < value ? value : best[c];
      }
    }
    for (int64_t c = 0; c < at.n; ++c) y[at.element + c] = static_cast<T>(best[c]);
  }
};

template <class T>
struct MaxPlaceBody {
  const T* x;
  T* y;
  int32_t* places;
  void operator()(const PoolSpot& at, PoolWalk& walk) const {
    using A = ComputeType<T>;
    A best[kPoolChannels];
    int32_t chosen[kPoolChannels];
    if (!walk.Start()) return;
    for (int64_t c = 0; c < at.n; ++c) best[c] = static_cast<A>(x[walk.element() + c]);
    std::fill_n(chosen, at.n, static_cast<int32_t>(walk.place));
    while (walk.Next()) {
      const T* from = x + walk.element();
      const int32_t place = static_cast<int32_t>(walk.place);
      for (int64_t c = 0; c < at.n; ++c) {
        const A value = static_cast<A>(from[c]);
        const bool better = best[c] < value;
        best[c] = better ? value : best[c];
        chosen[c] = better ? place : chosen[c];
      }
    }
    if (y != nullptr) {
      for (int64_t c = 0; c < at.n; ++c) y[at.element + c] = static_cast<T>(best[c]);
    }
    std::copy_n(chosen, at.n, places + at.element);
  }
};

template <class T>
struct MeanBody {
  const T* x;
  T* y;
  void operator()(const PoolSpot& at, PoolWalk& walk) const {
    using A = ComputeType<T>;
    A sum[kPoolChannels] = {};
    for (bool more = walk.Start(); more; more = walk.Next()) {
      const T* from = x + walk.element();
      for (int64_t c = 0; c < at.n; ++c) sum[c] += static_cast<A>(from[c]);
    }
    const A count = static_cast<A>(walk.a.size() * walk.b.size() * walk.c.size());
    for (int64_t c = 0; c < at.n; ++c) y[at.element + c] = static_cast<T>(sum[c] / count);
  }
};

template <class T>
struct PlaceGradientBody {
  const int32_t* places;
  const T* dy;
  T* dx;
  void operator()(const PoolSpot& at, PoolWalk& walk) const {
    using A = PoolSum<T>;
    A sum[kPoolChannels] = {};
    const int32_t own = static_cast<int32_t>(at.place);
    for (bool more = walk.Start(); more; more = walk.Next()) {
      const int32_t* place = places + walk.element();
      const T* from = dy + walk.element();
      for (int64_t c = 0; c < at.n; ++c) sum[c] += place[c] == own ? static_cast<A>(from[c]) : A(0);
    }
    for (int64_t c = 0; c < at.n; ++c) dx[at.element + c] = static_cast<T>(sum[c]);
  }
};

template <class T>
struct EqualGradientBody {
  const T* x;
  const T* y;
  const T* dy;
  T* dx;
  void operator()(const PoolSpot& at, PoolWalk& walk) const {
    using A = ComputeType<T>;
    A sum[kPoolChannels] = {};
    for (bool more = walk.Start(); more; more = walk.Next()) {
      const T* largest = y + walk.element();
      const T* from = dy + walk.element();
      for (int64_t c = 0; c < at.n; ++c) {
        const bool equal = static_cast<A>(x[at.element + c]) == static_cast<A>(largest[c]);
        sum[c] += equal ? static_cast<A>(from[c]) : A(0);
      }
    }
    for (int64_t c = 0; c < at.n; ++c) dx[at.element + c] = static_cast<T>(sum[c]);
  }
};

template <class T>
struct MeanGradientBody {
  const PoolShape& shape;
  const T* dy;
  T* dx;
  void operator()(const PoolSpot& at, PoolWalk& walk) const {
    using A = ComputeType<T>;
    const auto& [a, b, c] = shape.axes;
    A sum[kPoolChannels] = {};
    for (bool more = walk.Start(); more; more = walk.Next()) {
      const T* from = dy + walk.element();
      const A share = A(1) / static_cast<A>(Covered(a, walk.i).size() * Covered(b, walk.j).size() *
                                            Covered(c, walk.k).size());
      for (int64_t m = 0; m < at.n; ++m) sum[m] += static_cast<A>(from[m]) * share;
    }
    for (int64_t m = 0; m < at.n; ++m) dx[at.element + m] = static_cast<T>(sum[m]);
  }
};

template <class T>
struct PickBody {
  const T* x;
  const T* y;
  const T* dx;
  T* dy;
  void operator()(const PoolSpot& at, PoolWalk& walk) const {
    bool found[kPoolChannels] = {};
    std::fill_n(dy + at.element, at.n, T(0));
    for (bool more = walk.Start(); more; more = walk.Next()) {
      const T* from = x + walk.element();
      for (int64_t c = 0; c < at.n; ++c) {
        if (found[c] || !(from[c] == y[at.element + c])) continue;
        found[c] = true;
        dy[at.element + c] = dx[walk.element() + c];
      }
    }
  }
};

// The entries of PoolKernels: a body with its pointers typed.
template <class T>
struct PoolOf {
  static const T* In(const void* p) { return static_cast<const T*>(p); }
  static T* Out(void* p) { return static_cast<T*>(p); }

  static void Max(const PoolShape& s, const void* x, void* y, const ParallelFor& each) {
    ForPool<true>(s, each, MaxBody<T>{In(x), Out(y)});
  }
  static void MaxPlace(const PoolShape& s, const void* x, void* y, int32_t* places,
                       const ParallelFor& each) {
    ForPool<true>(s, each, MaxPlaceBody<T>{In(x), Out(y), places});
  }
  static void Mean(const PoolShape& s, const void* x, void* y, const ParallelFor& each) {
    ForPool<true>(s, each, MeanBody<T>{In(x), Out(y)});
  }
  static void PlaceGradient(const PoolShape& s, const int32_t* places, const void* dy, void* dx,
                            const ParallelFor& each) {
    ForPool<false>(s, each, PlaceGradientBody<T>{places, In(dy), Out(dx)});
  }
  static void EqualGradient(const PoolShape& s, const void* x, const void* y, const void* dy,
                            void* dx, const ParallelFor& each) {
    ForPool<false>(s, each, EqualGradientBody<T>{In(x), In(y), In(dy), Out(dx)});
  }
  static void MeanGradient(const PoolShape& s, const void* dy, void* dx, const ParallelFor& each) {
    ForPool<false>(s, each, MeanGradientBody<T>{s, In(dy), Out(dx)});
  }
  static void Pick(const PoolShape& s, const void* x, const void* y, const void* dx, void* dy,
                   const ParallelFor& each) {
    ForPool<true>(s, each, PickBody<T>{In(x), In(y), In(dx), Out(dy)});
  }
};

template <class T>
PoolKernels MakePool() {
  using P = PoolOf<T>;
  PoolKernels kernels{};
  kernels.max = &P::Max;
  kernels.max_place = &P::MaxPlace;
  kernels.place_gradient = &P::PlaceGradient;
  kernels.pick = &P::Pick;
  if constexpr (!std::is_integral_v<T>) {
    kernels.mean = &P::Mean;
    kernels.equal_gradient = &P::EqualGradient;
    kernels.mean_gradient = &P::MeanGradient;
  }
  return kernels;
}

}  // namespace
}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
