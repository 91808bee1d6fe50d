// Convolutions of stride 1 by Note [winograd]: forward, and backward to the input.
//
// The products are [T, C] * [C, K] for each point. They are cut into blocks of tiles and of output
// channels, whose results are turned into outputs while they are in the cache. One operand is
// computed as a whole by all threads first, the other by each thread in the blocks that it takes:
// the whole one is that of fewer rows or columns, so that little memory is needed; of a large input
// as much as fits is taken at a time. No sum is cut.
#include <algorithm>
#include <cstddef>

#include "penstock/kernels/transpose_tile.h"
#include "penstock/kernels/winograd/multiply.h"
#include "penstock/kernels/winograd/plan.h"
#include "penstock/kernels/winograd/units.h"

namespace penstock::kernels::winograd {
namespace {

// The filter of a convolution, or, mirrored, of its input's gradient.
class FilterReader {
 public:
  FilterReader(const Sizes& sizes, bool mirrored)
      : form_(sizes.form), C_(sizes.C), K_(sizes.K), taps_(sizes.taps), mirrored_(mirrored) {}

  // The columns [column, column + columns) of the points, with all rows; `to` holds just these.
  void ToPoints(const float* filter, int64_t column, int64_t columns, const PointArray& to) const {
    for (int64_t done = 0; done < columns; done += kPanel) {
      PointArray panel = to;
      panel.data += done / kPanel * to.panel;
      const int64_t width = std::min(kPanel, columns - done);
      if (mirrored_) {
        MirroredPanel(filter, column + done, width, panel);
      } else {
        FilterToPoints(form_, {C_ * K_, K_}, filter + column + done, C_, width, panel);
      }
    }
  }

 private:
  // In memory the filter is [taps, K, C] in terms of the mirrored convolution.
  void MirroredPanel(const float* filter, int64_t column, int64_t width, PointArray to) const {
    constexpr int64_t kMostTaps = 25, kTap = kPanel * kPanel;
    constexpr auto kFloat = static_cast<int64_t>(sizeof(float));
    alignas(64) float block[kMostTaps * kTap];
    const TransposeTileFn transpose = TransposeTileOf(kFloat);
    for (int64_t row = 0; row < C_; row += kPanel) {
      const int64_t rows = std::min(kPanel, C_ - row);
      for (int64_t tap = 0; tap < taps_; ++tap) {
        const float* from = filter + (tap * K_ + column) * C_ + row;
        transpose(reinterpret_cast<const std::byte*>(from), C_ * kFloat,
                  reinterpret_cast<std::byte*>(block + (taps_ - 1 - tap) * kTap), kPanel * kFloat,
                  rows, width, /*stream=*/false);
      }
      FilterToPoints(form_, {kTap, kPanel}, block, rows, width, to);
      to.data += rows * to.row;
    }
  }

  const Form form_;
  const int64_t C_, K_, taps_;
  const bool mirrored_;
};

// The most floats of an operand at the points, 40 MB.
constexpr int64_t kMostWhole = int64_t{10} << 20;

// How much of the product a thread takes at a time. Results do not hang on it.
struct Blocks {
  int64_t tiles = 0, columns = 0;
};

// Cuts `n` into blocks of at most `most`, of equal size and as many for each thread.
int64_t EvenBlock(int64_t n, int64_t most, int64_t threads) {
  const int64_t rounds = CeilDiv(n, most * threads);
  return CeilDiv(n, rounds * threads);
}

class WinogradConvolution final : public Convolution {
 public:
  WinogradConvolution(Form form, const ConvShape& shape, const Epilogue& epilogue, bool mirrored)
      : sizes_(form, shape),
        output_size_(shape.output_size()),
        epilogue_(epilogue),
        filter_(sizes_, mirrored),
        mirrored_(mirrored),
        whole_filter_(sizes_.K <= sizes_.T && WholeFilter() <= kMostWhole),
        part_tiles_(std::min(sizes_.T, std::max(kMostWhole / (sizes_.planes * sizes_.C), kPanel))) {
  }

  int64_t scratch_bytes(int threads) const override {
    const int64_t whole = whole_filter_ ? WholeFilter() : WholeInput();
    return (whole + threads * SlotFloats(BlocksFor(threads))) * static_cast<int64_t>(sizeof(float));
  }
  int64_t packed_filter_bytes() const override {
    return whole_filter_ ? WholeFilter() * static_cast<int64_t>(sizeof(float)) : 0;
  }
  bool PackFilter(const void* filter, void* packed) const override {
    AllFilter(static_cast<const float*>(filter), static_cast<float*>(packed), ParallelFor());
    return true;
  }

  bool Run(const ConvOperands& operands, void* scratch, const ParallelFor& each) const override {
    auto* const memory = static_cast<float*>(scratch);
    whole_filter_ ? RunByTiles(operands, memory, each) : RunByColumns(operands, memory, each);
    return true;
  }

 private:
  // Enough tiles to make up for reading the filter from a far cache; few enough for their points,
  // at all planes, to stay in a near one. Times hardly change from half to twice of this.
  Blocks BlocksFor(int64_t threads) const {
    constexpr int64_t kMostPanels = kMostOutputChannels / kPanel;
    const int64_t most_tiles = sizes_.planes > 36 ? 28 : sizes_.C <= 256 ? 84 : 112;
    if (whole_filter_) {
      return {EvenBlock(sizes_.T, most_tiles, threads),
              EvenBlock(Panels(sizes_.K), kMostPanels, 1) * kPanel};
    }
    const int64_t fit = kMostWhole / 4 / (sizes_.planes * sizes_.C * kPanel);
    const int64_t panels = std::clamp<int64_t>(fit, 1, kMostPanels);
    return {EvenBlock(part_tiles_, most_tiles, 1),
            EvenBlock(Panels(sizes_.K), panels, threads) * kPanel};
  }

  int64_t WholeFilter() const { return sizes_.planes * sizes_.FilterPlane(sizes_.K); }
  int64_t WholeInput() const { return sizes_.planes * sizes_.InputPlane(part_tiles_); }
  // One block's points of the input or the filter, and of the output.
  int64_t OperandFloats(const Blocks& b) const {
    return sizes_.planes *
           (whole_filter_ ? sizes_.InputPlane(b.tiles) : sizes_.FilterPlane(b.columns));
  }
  static int64_t ResultPlane(const Blocks& b) { return b.tiles * b.columns + kPanel; }
  int64_t SlotFloats(const Blocks& b) const {
    return OperandFloats(b) + sizes_.planes * ResultPlane(b);
  }

  PointArray InputArray(float* data, int64_t rows) const {
    return {data, sizes_.InputPlane(rows), rows * kPanel, kPanel};
  }
  PointArray FilterArray(float* data, int64_t columns) const {
    return {data, sizes_.FilterPlane(columns), sizes_.C * kPanel, kPanel};
  }
  const float* Input(const ConvOperands& operands) const {
    return static_cast<const float*>(mirrored_ ? operands.output : operands.input);
  }

  void AllFilter(const float* filter, float* points, const ParallelFor& each) const {
    const PointArray whole = FilterArray(points, sizes_.K);
    each(Panels(sizes_.K), static_cast<double>(sizes_.planes * sizes_.C * 8),
         [&](int64_t begin, int64_t end) {
           PointArray to = whole;
           to.data += begin * to.panel;
           filter_.ToPoints(filter, begin * kPanel,
                            std::min(end * kPanel, sizes_.K) - begin * kPanel, to);
         });
  }

  void RunByTiles(const ConvOperands& operands, float* scratch, const ParallelFor& each) const {
    const Blocks blocks = BlocksFor(each.threads());
    const int64_t units = CeilDiv(sizes_.T, blocks.tiles);
    auto* points = static_cast<float*>(const_cast<void*>(operands.packed_filter));
    if (points == nullptr) {
      points = scratch;
      AllFilter(static_cast<const float*>(operands.filter), points, each);
    }
    const PointArray filter = FilterArray(points, sizes_.K);
    float* const slots = scratch + WholeFilter();
    EachUnit(each, units, UnitCost(units), [&](int64_t slot, int64_t unit) {
      float* const own = slots + slot * SlotFloats(blocks);
      const int64_t first = unit * blocks.tiles;
      const int64_t tiles = std::min(blocks.tiles, sizes_.T - first);
      const PointArray input = InputArray(own, tiles);
      InputToPoints(sizes_.form, sizes_.input, Input(operands), first, tiles, input);
      for (int64_t column = 0; column < sizes_.K; column += blocks.columns) {
        PointArray part = filter;
        part.data += column / kPanel * filter.panel;
        Compute(operands, input, first, tiles, part, column,
                std::min(blocks.columns, sizes_.K - column), own + OperandFloats(blocks),
                ResultPlane(blocks));
      }
    });
  }

  void RunByColumns(const ConvOperands& operands, float* scratch, const ParallelFor& each) const {
    for (int64_t begin = 0; begin < sizes_.T; begin += part_tiles_) {
      RunPart(operands, begin, std::min(begin + part_tiles_, sizes_.T), scratch, each);
    }
  }

  // The tiles [begin, end).
  void RunPart(const ConvOperands& operands, int64_t begin, int64_t end, float* scratch,
               const ParallelFor& each) const {
    const PointArray input = InputArray(scratch, end - begin);
    constexpr int64_t kTiles = 8;
    each(
        end - begin, static_cast<double>(sizes_.planes * sizes_.C),
        [&](int64_t from, int64_t to) {
          PointArray rows = input;
          rows.data += from * rows.row;
          InputToPoints(sizes_.form, sizes_.input, Input(operands), begin + from, to - from, rows);
        },
        kTiles);
    const Blocks blocks = BlocksFor(each.threads());
    const int64_t units = CeilDiv(sizes_.K, blocks.columns);
    float* const slots = scratch + WholeInput();
    EachUnit(each, units, UnitCost(units), [&](int64_t slot, int64_t unit) {
      float* const own = slots + slot * SlotFloats(blocks);
      const int64_t column = unit * blocks.columns;
      const int64_t columns = std::min(blocks.columns, sizes_.K - column);
      const PointArray filter = FilterArray(own, columns);
      filter_.ToPoints(static_cast<const float*>(operands.filter), column, columns, filter);
      for (int64_t first = begin; first < end; first += blocks.tiles) {
        PointArray part = input;
        part.data += (first - begin) * input.row;
        Compute(operands, part, first, std::min(blocks.tiles, end - first), filter, column, columns,
                own + OperandFloats(blocks), ResultPlane(blocks));
      }
    });
  }

  double UnitCost(int64_t units) const {
    return static_cast<double>(sizes_.planes * sizes_.T) * static_cast<double>(sizes_.C) *
           static_cast<double>(sizes_.K) / 16 / static_cast<double>(units);
  }

  // The outputs of `tiles` tiles from `first` on and of `channels` channels from `column` on, from
  // the points of both; `result` holds those of the output, in planes of `plane` floats.
  void Compute(const ConvOperands& operands, const PointArray& input, int64_t first, int64_t tiles,
               const PointArray& filter, int64_t column, int64_t channels, float* result,
               int64_t plane) const {
    const int64_t width = Panels(channels) * kPanel;
    for (int64_t p = 0; p < sizes_.planes; ++p) {
      Product product;
      product.rows = tiles;
      product.columns = width;
      product.depth = sizes_.C;
      product.a = input.data + p * input.plane;
      product.a_step = input.panel;
      product.b = filter.data + p * filter.plane;
      product.b_panel = filter.panel;
      product.c = result + p * plane;
      product.c_row = width;
      Multiply(product);
    }
    const OutputFinish finish{epilogue_, static_cast<const float*>(operands.bias),
                              static_cast<const float*>(operands.addend), Streams(operands)};
    PointsToOutput(sizes_.form, sizes_.output, {result, plane, kPanel, width}, first, tiles, column,
                   channels, finish, static_cast<float*>(operands.result));
  }

  // Of outputs too large for the caches no line need be read before it is written.
  bool Streams(const ConvOperands& operands) const {
    constexpr int64_t kLeast = int64_t{4} << 20;
    return output_size_ >= kLeast && sizes_.K % kPanel == 0 &&
           reinterpret_cast<uintptr_t>(operands.result) % 64 == 0;
  }

  const Sizes sizes_;
  const int64_t output_size_;
  const Epilogue epilogue_;
  const FilterReader filter_;
  const bool mirrored_;
  const bool whole_filter_;
  const int64_t part_tiles_;  // of the input, when that is the whole one
};

}  // namespace

std::unique_ptr<Convolution> MakeForward(Form form, const ConvProblem& problem) {
  return std::make_unique<WinogradConvolution>(form, problem.shape, problem.epilogue,
                                               /*mirrored=*/false);
}

std::unique_ptr<Convolution> MakeInputGradient(Form form, const ConvProblem& problem) {
  return std::make_unique<WinogradConvolution>(form, Mirrored(problem.shape), Epilogue{},
                                               /*mirrored=*/true);
}

}  // namespace penstock::kernels::winograd
