#include "penstock/kernels/winograd/transform.h"

#include <algorithm>

#include "penstock/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/winograd/transform.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "penstock/kernels/stream-inl.h"
#include "penstock/kernels/winograd/transform-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::winograd::HWY_NAMESPACE {
namespace {

using kernels::HWY_NAMESPACE::StreamFloats;

// A square of vectors in memory, of which those inside `mask` (bit i * kSide + j) exist.
template <int kSide, bool kMasked>
struct ReadSquare {
  PENSTOCK_SCALAR Vector operator()(int i, int j) const {
    if (kMasked && (mask >> (i * kSide + j) & 1) == 0) return Vector{};
    return At(from + i * row + j * column);
  }
  const float* from;
  int64_t row, column;
  uint64_t mask;
};
template <int kSide>
struct WriteSquare {
  PENSTOCK_SCALAR void operator()(int i, int j, const Vector& v) const {
    At(to + i * row + j * column) = v;
  }
  float* to;
  int64_t row, column;
};
template <int kSide>
struct ReadPlanes {
  PENSTOCK_SCALAR Vector operator()(int i, int j) const {
    return At(from + (i * kSide + j) * plane);
  }
  const float* from;
  int64_t plane;
};
template <int kSide>
struct WritePlanes {
  PENSTOCK_SCALAR void operator()(int i, int j, const Vector& v) const {
    At(to + (i * kSide + j) * plane) = v;
  }
  float* to;
  int64_t plane;
};

// Where a tile lies in its image, and which of its kSide x kSide elements do.
template <int kSide>
struct Place {
  static constexpr uint64_t kAll = kSide == 8 ? ~uint64_t{0} : (uint64_t{1} << kSide * kSide) - 1;

  Place(const Tiles& t, int64_t tile) {
    const int64_t image = tile / (t.tiles_y * t.tiles_x), rest = tile % (t.tiles_y * t.tiles_x);
    const int64_t y = rest / t.tiles_x * t.step - t.top, x = rest % t.tiles_x * t.step - t.left;
    const int64_t columns = Bits(x, t.width), rows = Bits(y, t.height);
    for (int i = 0; i < kSide; ++i) {
      if ((rows >> i & 1) != 0) mask |= static_cast<uint64_t>(columns) << i * kSide;
    }
    offset = ((image * t.height + y) * t.width + x) * t.channels;
  }
  // Bit i: position begin + i is in [0, extent).
  static int64_t Bits(int64_t begin, int64_t extent) {
    const int64_t low = std::clamp<int64_t>(-begin, 0, kSide);
    const int64_t high = std::clamp<int64_t>(extent - begin, low, kSide);
    return (int64_t{1} << high) - (int64_t{1} << low);
  }

  int64_t offset = 0;  // of the first element, which need not exist
  uint64_t mask = 0;
};

// The first `width` channels of a tile, with zeros up to `columns`: to[kSide * kSide][columns].
template <int kSide>
void CopyIn(const float* from, int64_t row, int64_t column, uint64_t mask, int64_t width,
            int64_t columns, float* to) {
  std::fill_n(to, kSide * kSide * columns, 0.0f);
  for (int i = 0; i < kSide * kSide; ++i) {
    if ((mask >> i & 1) == 0) continue;
    std::copy_n(from + i / kSide * row + i % kSide * column, width, to + i * columns);
  }
}

template <class Map>
void TilesToPoints(const Tiles& tiles, const float* images, int64_t first, int64_t count,
                   int64_t channels, const PointArray& to) {
  constexpr int kSide = Map::kIn;
  using Write = WritePlanes<Map::kOut>;
  const int64_t column = tiles.channels, row = tiles.width * column;
  const int64_t whole = channels / kPanel, rest = channels % kPanel;
  for (int64_t t = 0; t < count; ++t) {
    const Place<kSide> place(tiles, first + t);
    for (int64_t panel = 0; panel < whole; ++panel) {
      const float* from = images + place.offset + panel * kPanel;
      float* out = to.data + t * to.row + panel * to.panel;
      for (int64_t lane = 0; lane < kPanel; lane += kLanes) {
        const Write write{out + lane, to.plane};
        if (place.mask == Place<kSide>::kAll) {
          AlongBoth<Map>(ReadSquare<kSide, false>{from + lane, row, column, 0}, write);
        } else {
          AlongBoth<Map>(ReadSquare<kSide, true>{from + lane, row, column, place.mask}, write);
        }
      }
    }
    if (rest == 0) continue;
    alignas(64) float square[kSide * kSide * kPanel];
    CopyIn<kSide>(images + place.offset + whole * kPanel, row, column, place.mask, rest, kPanel,
                  square);
    float* out = to.data + t * to.row + whole * to.panel;
    for (int64_t lane = 0; lane < kPanel; lane += kLanes) {
      AlongBoth<Map>(ReadSquare<kSide, false>{square + lane, kSide * kPanel, kPanel, 0},
                     Write{out + lane, to.plane});
    }
  }
}

// The outputs of a tile, [kSide * kSide][columns], through the epilogue and to their places.
template <int kSide>
void WriteTile(const Place<kSide>& place, const Tiles& tiles, int64_t first_channel,
               int64_t channels, int64_t columns, const OutputFinish& finish, float* outputs,
               float* images) {
  const int64_t begin = place.offset + first_channel;
  const int64_t column = tiles.channels, row = tiles.width * column;
  alignas(64) float addends[kSide * kSide * kMostOutputChannels];
  if (finish.epilogue.addend) {
    CopyIn<kSide>(finish.addend + begin, row, column, place.mask, channels, columns, addends);
  }
  if (!finish.epilogue.none()) {
    ApplyEpilogue(finish.epilogue, kSide * kSide, channels, outputs, columns,
                  finish.epilogue.bias ? finish.bias + first_channel : nullptr,
                  finish.epilogue.addend ? addends : nullptr);
  }
  for (int i = 0; i < kSide * kSide; ++i) {
    if ((place.mask >> i & 1) == 0) continue;
    float* const to = images + begin + i / kSide * row + i % kSide * column;
    if (finish.stream) {
      StreamFloats(outputs + i * columns, channels, to);
    } else {
      std::copy_n(outputs + i * columns, channels, to);
    }
  }
}

template <class Map>
void PointsToTiles(const Tiles& tiles, const PointArray& from, int64_t first, int64_t count,
                   int64_t first_channel, int64_t channels, const OutputFinish& finish,
                   float* images) {
  constexpr int kSide = Map::kOut;
  const int64_t columns = Panels(channels) * kPanel;
  alignas(64) float outputs[kSide * kSide * kMostOutputChannels];
  for (int64_t t = 0; t < count; ++t) {
    for (int64_t channel = 0; channel < columns; channel += kLanes) {
      const float* in = from.data + t * from.row + channel / kPanel * from.panel;
      AlongBoth<Map>(ReadPlanes<Map::kIn>{in + channel % kPanel, from.plane},
                     WriteSquare<kSide>{outputs + channel, kSide * columns, columns});
    }
    WriteTile<kSide>(Place<kSide>(tiles, first + t), tiles, first_channel, channels, columns,
                     finish, outputs, images);
  }
  if (finish.stream) hwy::FlushStream();
}

template <class Map>
void FilterRows(const FilterView& view, const float* filter, int64_t rows, int64_t width,
                const PointArray& to) {
  constexpr int kSide = Map::kIn;
  constexpr uint64_t kAll = Place<kSide>::kAll;
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = filter + r * view.columns;
    int64_t row = kSide * view.step, column = view.step;
    alignas(64) float square[kSide * kSide * kPanel];
    if (width < kPanel) {
      CopyIn<kSide>(from, row, column, kAll, width, kPanel, square);
      from = square, row = kSide * kPanel, column = kPanel;
    }
    for (int64_t lane = 0; lane < kPanel; lane += kLanes) {
      AlongBoth<Map>(ReadSquare<kSide, false>{from + lane, row, column, 0},
                     WritePlanes<Map::kOut>{to.data + r * to.row + lane, to.plane});
    }
  }
}

template <class Map>
void GradientRows(const FilterView& view, const PointArray& from, int64_t rows, int64_t width,
                  float* filter) {
  constexpr int kSide = Map::kOut;
  for (int64_t r = 0; r < rows; ++r) {
    float* const out = filter + r * view.columns;
    alignas(64) float square[kSide * kSide * kPanel];
    const bool whole = width == kPanel;
    const int64_t column = whole ? view.step : kPanel;
    for (int64_t lane = 0; lane < kPanel; lane += kLanes) {
      AlongBoth<Map>(ReadPlanes<Map::kIn>{from.data + r * from.row + lane, from.plane},
                     WriteSquare<kSide>{(whole ? out : square) + lane, kSide * column, column});
    }
    for (int tap = 0; tap < kSide * kSide && !whole; ++tap) {
      std::copy_n(square + tap * kPanel, width, out + tap * view.step);
    }
  }
}

// The maps of F(m x m, r x r).
template <int kTile, int kTaps>
struct Maps {
  static constexpr int kPairs = (kTile + kTaps - 3) / 2;
  using Input = ToPoints<kPairs>;
  using Output = Collect<kPairs, kTile, false>;
  using OutputGradient = Evaluate<kPairs, kTile, false>;
  using Filter = Evaluate<kPairs, kTaps, true>;
  using FilterGradient = Collect<kPairs, kTaps, true>;
};
template <class Call>
void WithMaps(Form form, const Call& call) {
  switch (form) {
    case Form::kF2x3:
      return call(Maps<2, 3>());
    case Form::kF4x3:
      return call(Maps<4, 3>());
    case Form::kF4x5:
      return call(Maps<4, 5>());
  }
}

}  // namespace

void DoInput(Form form, const Tiles& tiles, const float* images, int64_t first, int64_t count,
             const PointArray& to) {
  WithMaps(form, [&](auto maps) {
    TilesToPoints<typename decltype(maps)::Input>(tiles, images, first, count, tiles.channels, to);
  });
}

void DoOutputGradient(Form form, const Tiles& tiles, const float* images, int64_t first,
                      int64_t count, int64_t first_channel, int64_t channels,
                      const PointArray& to) {
  WithMaps(form, [&](auto maps) {
    TilesToPoints<typename decltype(maps)::OutputGradient>(tiles, images + first_channel, first,
                                                           count, channels, to);
  });
}

void DoOutput(Form form, const Tiles& tiles, const PointArray& from, int64_t first, int64_t count,
              int64_t first_channel, int64_t channels, const OutputFinish& finish, float* images) {
  WithMaps(form, [&](auto maps) {
    PointsToTiles<typename decltype(maps)::Output>(tiles, from, first, count, first_channel,
                                                   channels, finish, images);
  });
}

void DoFilter(Form form, const FilterView& view, const float* filter, int64_t rows, int64_t width,
              const PointArray& to) {
  WithMaps(form, [&](auto maps) {
    FilterRows<typename decltype(maps)::Filter>(view, filter, rows, width, to);
  });
}

void DoFilterGradient(Form form, const FilterView& view, const PointArray& from, int64_t rows,
                      int64_t width, float* filter) {
  WithMaps(form, [&](auto maps) {
    GradientRows<typename decltype(maps)::FilterGradient>(view, from, rows, width, filter);
  });
}

}  // namespace penstock::kernels::winograd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels::winograd {

HWY_EXPORT(DoInput);
HWY_EXPORT(DoOutputGradient);
HWY_EXPORT(DoOutput);
HWY_EXPORT(DoFilter);
HWY_EXPORT(DoFilterGradient);

void InputToPoints(Form form, const Tiles& tiles, const float* images, int64_t first, int64_t count,
                   const PointArray& to) {
  HWY_DYNAMIC_DISPATCH(DoInput)(form, tiles, images, first, count, to);
}
void OutputGradientToPoints(Form form, const Tiles& tiles, const float* images, int64_t first,
                            int64_t count, int64_t first_channel, int64_t channels,
                            const PointArray& to) {
  HWY_DYNAMIC_DISPATCH(DoOutputGradient)
  (form, tiles, images, first, count, first_channel, channels, to);
}
void PointsToOutput(Form form, const Tiles& tiles, const PointArray& from, int64_t first,
                    int64_t count, int64_t first_channel, int64_t channels,
                    const OutputFinish& finish, float* images) {
  HWY_DYNAMIC_DISPATCH(DoOutput)
  (form, tiles, from, first, count, first_channel, channels, finish, images);
}
void FilterToPoints(Form form, const FilterView& view, const float* filter, int64_t rows,
                    int64_t width, const PointArray& to) {
  HWY_DYNAMIC_DISPATCH(DoFilter)(form, view, filter, rows, width, to);
}
void PointsToFilterGradient(Form form, const FilterView& view, const PointArray& from, int64_t rows,
                            int64_t width, float* filter) {
  HWY_DYNAMIC_DISPATCH(DoFilterGradient)(form, view, from, rows, width, filter);
}

}  // namespace penstock::kernels::winograd
#endif
