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
#include "penstock/kernels/stream-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
namespace {

// Channels that are worked on at a time. Of floats a whole block is kBlockVectors vectors, which
// stay in registers.
constexpr int kBlockVectors = 4;
constexpr int64_t kPoolChannels = kBlockVectors * HWY_MAX_BYTES / 4;

namespace hn = hwy::HWY_NAMESPACE;
using FloatTag = hn::ScalableTag<float>;
using IndexTag = hn::ScalableTag<int32_t>;
using FloatBlock = hn::Vec<FloatTag>[kBlockVectors];
using IndexBlock = hn::Vec<IndexTag>[kBlockVectors];
constexpr int64_t kFloatLanes = HWY_MAX_BYTES / 4;

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

// Where a body works: n channels from `element` on, of the place `place` of its image, which is
// [i, j, k].
struct PoolSpot {
  int64_t element;
  int64_t place;
  int64_t n;
  int64_t i, j, k;
};

// How those who choose a place name it to those who go there: by its number in the image, or by
// that in the window, which takes a byte.
template <class Place>
constexpr bool kCountsInWindow = std::is_same_v<Place, uint8_t>;

// The number of the input [a, b, c] in the window of the output [i, j, k].
PENSTOCK_SCALAR int32_t PlaceInWindow(const PoolShape& s, int64_t i, int64_t j, int64_t k,
                                      int64_t a, int64_t b, int64_t c) {
  const auto offset = [](const PoolAxis& axis, int64_t out, int64_t in) {
    return static_cast<int32_t>(in + axis.before - out * axis.stride);
  };
  const auto width_b = static_cast<int32_t>(s.axes[1].window);
  const auto width_c = static_cast<int32_t>(s.axes[2].window);
  return (offset(s.axes[0], i, a) * width_b + offset(s.axes[1], j, b)) * width_c +
         offset(s.axes[2], k, c);
}

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
        const PoolSpot spot{(row * own(c) + k) * s.channels + channel,
                            (i * own(b) + j) * own(c) + k,
                            std::min(kPoolChannels, s.channels - channel),
                            i,
                            j,
                            k};
        body(spot, walk);
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
  each(rows, cost, [&](int64_t begin, int64_t end) {
    PoolRows<forward>(s, begin, end, body);
    if constexpr (requires { body.streams; }) {
      if (body.streams) hwy::FlushStream();
    }
  });
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
  PENSTOCK_SCALAR void operator()(const PoolSpot& at, PoolWalk& walk) const {
    const int64_t n = at.n;
    if constexpr (std::is_same_v<T, float>) {
      if (n == kPoolChannels) return Whole(at, walk);
    }
    using A = ComputeType<T>;
    A best[kPoolChannels];
    std::fill_n(best, n, static_cast<A>(std::numeric_limits<T>::lowest()));
    for (bool more = walk.Start(); more; more = walk.Next()) {
      const T* from = x + walk.element();
      for (int64_t c = 0; c < n; ++c) {
        const A value = static_cast<A>(from[c]);
        best[c] = best[c] < value ? value : best[c];
      }
    }
    for (int64_t c = 0; c < n; ++c) y[at.element + c] = static_cast<T>(best[c]);
  }
  PENSTOCK_SCALAR void Whole(const PoolSpot& at, PoolWalk& walk) const {
    const FloatTag d;
    FloatBlock best;
    for (auto& v : best) v = hn::Set(d, std::numeric_limits<float>::lowest());
    for (bool more = walk.Start(); more; more = walk.Next()) {
      const float* from = x + walk.element();
      // The second operand is taken when the first is NaN.
      for (int k = 0; k < kBlockVectors; ++k) {
        best[k] = hn::Max(hn::LoadU(d, from + k * kFloatLanes), best[k]);
      }
    }
    for (int k = 0; k < kBlockVectors; ++k)
      hn::StoreU(best[k], d, y + at.element + k * kFloatLanes);
  }
};

// Beside places in the image y is the value there; beside those in the window it is that of
// MaxBody, which takes no notice of NaNs.
template <class T, class Place>
struct MaxPlaceBody {
  const PoolShape& shape;
  const T* x;
  T* y;
  Place* places;
  PENSTOCK_SCALAR void operator()(const PoolSpot& at, PoolWalk& walk) const {
    const int64_t n = at.n;
    if (!walk.Start()) return Nothing(at, walk);
    if constexpr (std::is_same_v<T, float>) {
      if (n == kPoolChannels) return Whole(at, walk);
    }
    using A = ComputeType<T>;
    A best[kPoolChannels];
    int32_t chosen[kPoolChannels];
    for (int64_t c = 0; c < n; ++c) best[c] = static_cast<A>(x[walk.element() + c]);
    std::fill_n(chosen, n, Number(at, walk));
    while (walk.Next()) {
      const T* from = x + walk.element();
      const int32_t place = Number(at, walk);
      for (int64_t c = 0; c < n; ++c) {
        const A value = static_cast<A>(from[c]);
        const bool better = best[c] < value;
        best[c] = better ? value : best[c];
        chosen[c] = better ? place : chosen[c];
      }
    }
    for (int64_t c = 0; c < n; ++c) places[at.element + c] = static_cast<Place>(chosen[c]);
    if constexpr (kCountsInWindow<Place>) {
      MaxBody<T>{x, y}(at, walk);
    } else if (y != nullptr) {
      for (int64_t c = 0; c < n; ++c) y[at.element + c] = static_cast<T>(best[c]);
    }
  }
  PENSTOCK_SCALAR void Whole(const PoolSpot& at, PoolWalk& walk) const {
    const FloatTag d;
    const IndexTag di;
    FloatBlock best;
    IndexBlock chosen;
    for (int k = 0; k < kBlockVectors; ++k) {
      best[k] = hn::LoadU(d, x + walk.element() + k * kFloatLanes);
      chosen[k] = hn::Set(di, Number(at, walk));
    }
    while (walk.Next()) {
      const float* from = x + walk.element();
      const auto place = hn::Set(di, Number(at, walk));
      for (int k = 0; k < kBlockVectors; ++k) {
        const auto value = hn::LoadU(d, from + k * kFloatLanes);
        const auto better = hn::Lt(best[k], value);
        best[k] = hn::IfThenElse(better, value, best[k]);
        chosen[k] = hn::IfThenElse(hn::RebindMask(di, better), place, chosen[k]);
      }
    }
    for (int k = 0; k < kBlockVectors; ++k) {
      Place* to = places + at.element + k * kFloatLanes;
      if constexpr (kCountsInWindow<Place>) {
        const hn::Rebind<uint8_t, IndexTag> narrow;
        hn::StoreU(hn::DemoteTo(narrow, chosen[k]), narrow, to);
      } else {
        hn::StoreU(chosen[k], di, to);
      }
    }
    if (y == nullptr) return;
    if constexpr (kCountsInWindow<Place>) {
      // A NaN is among the best only when its window begins with one.
      auto is_nan = hn::IsNaN(best[0]);
      for (int k = 1; k < kBlockVectors; ++k) is_nan = hn::Or(is_nan, hn::IsNaN(best[k]));
      if (!hn::AllFalse(d, is_nan)) return MaxBody<T>{x, y}(at, walk);
      const auto lowest = hn::Set(d, std::numeric_limits<float>::lowest());
      for (auto& v : best) v = hn::IfThenElse(hn::Lt(v, lowest), lowest, v);
    }
    for (int k = 0; k < kBlockVectors; ++k)
      hn::StoreU(best[k], d, y + at.element + k * kFloatLanes);
  }
  PENSTOCK_SCALAR void Nothing(const PoolSpot& at, PoolWalk& walk) const {
    if constexpr (kCountsInWindow<Place>) {
      std::fill_n(places + at.element, at.n, Place(0));
      MaxBody<T>{x, y}(at, walk);
    }
  }
  PENSTOCK_SCALAR int32_t Number(const PoolSpot& at, const PoolWalk& walk) const {
    if constexpr (!kCountsInWindow<Place>) return static_cast<int32_t>(walk.place);
    return PlaceInWindow(shape, at.i, at.j, at.k, walk.i, walk.j, walk.k);
  }
};

template <class T>
struct MeanBody {
  const T* x;
  T* y;
  PENSTOCK_SCALAR void operator()(const PoolSpot& at, PoolWalk& walk) const {
    const int64_t n = at.n;
    using A = ComputeType<T>;
    A sum[kPoolChannels] = {};
    for (bool more = walk.Start(); more; more = walk.Next()) {
      const T* from = x + walk.element();
      for (int64_t c = 0; c < n; ++c) sum[c] += static_cast<A>(from[c]);
    }
    const A count = static_cast<A>(walk.a.size() * walk.b.size() * walk.c.size());
    for (int64_t c = 0; c < n; ++c) y[at.element + c] = static_cast<T>(sum[c] / count);
  }
};

template <class T, class Place>
struct PlaceGradientBody {
  const PoolShape& shape;
  const Place* places;
  const T* dy;
  T* dx;
  bool streams;
  PENSTOCK_SCALAR void operator()(const PoolSpot& at, PoolWalk& walk) const {
    const int64_t n = at.n;
    if constexpr (std::is_same_v<T, float>) {
      if (n == kPoolChannels) return Whole(at, walk);
    }
    using A = PoolSum<T>;
    A sum[kPoolChannels] = {};
    for (bool more = walk.Start(); more; more = walk.Next()) {
      const int32_t own = Number(at, walk);
      const Place* place = places + walk.element();
      const T* from = dy + walk.element();
      for (int64_t c = 0; c < n; ++c) sum[c] += place[c] == own ? static_cast<A>(from[c]) : A(0);
    }
    for (int64_t c = 0; c < n; ++c) dx[at.element + c] = static_cast<T>(sum[c]);
  }
  PENSTOCK_SCALAR void Whole(const PoolSpot& at, PoolWalk& walk) const {
    const FloatTag d;
    const IndexTag di;
    FloatBlock sum;
    for (auto& v : sum) v = hn::Zero(d);
    for (bool more = walk.Start(); more; more = walk.Next()) {
      const int64_t from = walk.element();
      const auto own = hn::Set(di, Number(at, walk));
      for (int k = 0; k < kBlockVectors; ++k) {
        const auto place = LoadPlaces(places + from + k * kFloatLanes);
        const auto value = hn::LoadU(d, dy + from + k * kFloatLanes);
        sum[k] = hn::Add(sum[k], hn::IfThenElseZero(hn::RebindMask(d, hn::Eq(place, own)), value));
      }
    }
    float* to = dx + at.element;
    for (int k = 0; k < kBlockVectors; ++k, to += kFloatLanes) {
      streams ? hn::Stream(sum[k], d, to) : hn::StoreU(sum[k], d, to);
    }
  }
  PENSTOCK_SCALAR int32_t Number(const PoolSpot& at, const PoolWalk& walk) const {
    if constexpr (!kCountsInWindow<Place>) return static_cast<int32_t>(at.place);
    return PlaceInWindow(shape, walk.i, walk.j, walk.k, at.i, at.j, at.k);
  }
  PENSTOCK_SCALAR static hn::Vec<IndexTag> LoadPlaces(const Place* from) {
    const IndexTag d;
    if constexpr (!kCountsInWindow<Place>) {
      return hn::LoadU(d, from);
    } else {
      return hn::PromoteTo(d, hn::LoadU(hn::Rebind<uint8_t, IndexTag>(), from));
    }
  }
};

template <class T>
struct EqualGradientBody {
  const T* x;
  const T* y;
  const T* dy;
  T* dx;
  PENSTOCK_SCALAR void operator()(const PoolSpot& at, PoolWalk& walk) const {
    const int64_t n = at.n;
    using A = ComputeType<T>;
    A sum[kPoolChannels] = {};
    for (bool more = walk.Start(); more; more = walk.Next()) {
      const T* largest = y + walk.element();
      const T* from = dy + walk.element();
      for (int64_t c = 0; c < n; ++c) {
        const bool equal = static_cast<A>(x[at.element + c]) == static_cast<A>(largest[c]);
        sum[c] += equal ? static_cast<A>(from[c]) : A(0);
      }
    }
    for (int64_t c = 0; c < n; ++c) dx[at.element + c] = static_cast<T>(sum[c]);
  }
};

template <class T>
struct MeanGradientBody {
  const PoolShape& shape;
  const T* dy;
  T* dx;
  PENSTOCK_SCALAR void operator()(const PoolSpot& at, PoolWalk& walk) const {
    const int64_t n = at.n;
    using A = ComputeType<T>;
    const auto& [a, b, c] = shape.axes;
    A sum[kPoolChannels] = {};
    for (bool more = walk.Start(); more; more = walk.Next()) {
      const T* from = dy + walk.element();
      const A share = A(1) / static_cast<A>(Covered(a, walk.i).size() * Covered(b, walk.j).size() *
                                            Covered(c, walk.k).size());
      for (int64_t m = 0; m < n; ++m) sum[m] += static_cast<A>(from[m]) * share;
    }
    for (int64_t m = 0; m < n; ++m) dx[at.element + m] = static_cast<T>(sum[m]);
  }
};

template <class T>
struct PickBody {
  const T* x;
  const T* y;
  const T* dx;
  T* dy;
  PENSTOCK_SCALAR void operator()(const PoolSpot& at, PoolWalk& walk) const {
    const int64_t n = at.n;
    bool found[kPoolChannels] = {};
    std::fill_n(dy + at.element, n, T(0));
    for (bool more = walk.Start(); more; more = walk.Next()) {
      const T* from = x + walk.element();
      for (int64_t c = 0; c < n; ++c) {
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
  static bool Streams(const PoolShape& s, const void* dx) {
    return std::is_same_v<T, float> &&
           MayStream(dx, s.batch * s.places_in() * s.channels, s.channels);
  }

  static void Max(const PoolShape& s, const void* x, void* y, const ParallelFor& each) {
    ForPool<true>(s, each, MaxBody<T>{In(x), Out(y)});
  }
  static void MaxPlace(const PoolShape& s, const void* x, void* y, int32_t* places,
                       const ParallelFor& each) {
    ForPool<true>(s, each, MaxPlaceBody<T, int32_t>{s, In(x), Out(y), places});
  }
  static void MaxWindowPlace(const PoolShape& s, const void* x, void* y, uint8_t* places,
                             const ParallelFor& each) {
    ForPool<true>(s, each, MaxPlaceBody<T, uint8_t>{s, In(x), Out(y), places});
  }
  static void WindowPlaceGradient(const PoolShape& s, const uint8_t* places, const void* dy,
                                  void* dx, const ParallelFor& each) {
    ForPool<false>(s, each,
                   PlaceGradientBody<T, uint8_t>{s, places, In(dy), Out(dx), Streams(s, dx)});
  }
  static void Mean(const PoolShape& s, const void* x, void* y, const ParallelFor& each) {
    ForPool<true>(s, each, MeanBody<T>{In(x), Out(y)});
  }
  static void MaxGradient(const PoolShape& s, const void* x, const void* dy, int32_t* places,
                          void* dx, const ParallelFor& each) {
    const int64_t elements = s.batch * s.places_in() * s.channels;
    const bool streams = Streams(s, dx);
    const MaxPlaceBody<T, int32_t> choose{s, In(x), nullptr, places};
    const PlaceGradientBody<T, int32_t> spread{s, places, In(dy), Out(dx), streams};
    if (s.batch < 2 * each.threads()) {
      ForPool<true>(s, each, choose);
      ForPool<false>(s, each, spread);
      return;
    }
    // Image by image, so that what was chosen is still in the cache.
    const auto& [a, b, c] = s.axes;
    const int64_t rows_in = a.in * b.in, rows_out = a.out * b.out;
    each(s.batch, static_cast<double>(elements / s.batch) * 4, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        PoolRows<true>(s, n * rows_out, (n + 1) * rows_out, choose);
        PoolRows<false>(s, n * rows_in, (n + 1) * rows_in, spread);
      }
      if (streams) hwy::FlushStream();
    });
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
  kernels.max_gradient = &P::MaxGradient;
  kernels.pick = &P::Pick;
  if constexpr (!std::is_integral_v<T>) {
    kernels.mean = &P::Mean;
    kernels.equal_gradient = &P::EqualGradient;
    kernels.mean_gradient = &P::MeanGradient;
  }
  if constexpr (std::is_same_v<T, float>) {
    kernels.max_window_place = &P::MaxWindowPlace;
    kernels.window_place_gradient = &P::WindowPlaceGradient;
  }
  return kernels;
}

}  // namespace
}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
