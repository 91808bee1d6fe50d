// The filter's gradient of a convolution of stride 1, by the transposed map of Note [winograd]: for
// each point the sum over tiles of [C, T] * [T, K].
//
// All threads turn a number of tiles of the input and of the output's gradient into points, then
// add their products up, each thread for points and columns of its own, and so on. Both numbers
// hang on the shape alone, so that the threads do not show.
#include <algorithm>
#include <cstddef>

#include "penstock/kernels/winograd/multiply.h"
#include "penstock/kernels/winograd/plan.h"
#include "penstock/kernels/winograd/units.h"

namespace penstock::kernels::winograd {
namespace {

constexpr auto kFloat = static_cast<int64_t>(sizeof(float));

class WinogradFilterGradient final : public Convolution {
 public:
  WinogradFilterGradient(Form form, const ConvShape& shape) : sizes_(form, shape) {
    // Columns beyond those that fit this much memory are summed in another pass over the tiles.
    constexpr int64_t kSumFloats = int64_t{8} << 20;
    const int64_t columns = kSumFloats / (sizes_.planes * sizes_.C) / kPanel * kPanel;
    columns_ = std::min(Panels(sizes_.K) * kPanel, std::max(columns, int64_t{4} * kPanel));
    // Sums are read and written once for so many tiles. The more they are, the farther they lie,
    // and the more tiles it takes to make up for that; but those lie far as well when many.
    constexpr int64_t kSumsForTile = 20000, kLeastTiles = 48, kMostTiles = 128;
    tiles_ = std::min(sizes_.T, std::clamp(sizes_.planes * sizes_.C * columns_ / kSumsForTile,
                                           kLeastTiles, kMostTiles));
    // An odd number of lines from row to row, so that a column uses all sets of the caches.
    input_row_ = (Panels(sizes_.C) | 1) * kPanel;
  }

  int64_t scratch_bytes(int) const override {
    return sizes_.planes * (InputPlane() + GradientPlane() + SumPlane()) * kFloat;
  }

  bool Run(const ConvOperands& operands, void* scratch, const ParallelFor& each) const override {
    float* const input = static_cast<float*>(scratch);
    float* const gradient = input + sizes_.planes * InputPlane();
    float* const sums = gradient + sizes_.planes * GradientPlane();
    const int64_t rounds = CeilDiv(sizes_.T, tiles_);
    for (int64_t column = 0; column < sizes_.K; column += columns_) {
      const int64_t columns = std::min(columns_, sizes_.K - column);
      for (int64_t round = 0; round < rounds; ++round) {
        const int64_t first = sizes_.T * round / rounds;
        const int64_t count = sizes_.T * (round + 1) / rounds - first;
        const bool kept = rounds == 1 && column > 0;
        TilesToPoints(operands, first, count, column, columns, kept ? nullptr : input, gradient,
                      each);
        AddProducts(count, columns, round > 0, input, gradient, sums, each);
      }
      WriteFilter(column, columns, sums, static_cast<float*>(operands.result), each);
    }
    return true;
  }

 private:
  int64_t InputPlane() const { return tiles_ * input_row_ + kPanel; }
  int64_t GradientPlane() const { return columns_ * tiles_ + kPanel; }
  int64_t SumPlane() const { return columns_ * sizes_.C + kPanel; }

  // `input` null: its points are there already.
  void TilesToPoints(const ConvOperands& operands, int64_t first, int64_t count, int64_t column,
                     int64_t columns, float* input, float* gradient,
                     const ParallelFor& each) const {
    constexpr int64_t kTiles = 4;
    each(
        count, static_cast<double>(sizes_.planes * (sizes_.C + columns)),
        [&](int64_t begin, int64_t end) {
          if (input != nullptr) {
            InputToPoints(sizes_.form, sizes_.input, static_cast<const float*>(operands.input),
                          first + begin, end - begin,
                          {input + begin * input_row_, InputPlane(), kPanel, input_row_});
          }
          OutputGradientToPoints(
              sizes_.form, sizes_.output, static_cast<const float*>(operands.output), first + begin,
              end - begin, column, columns,
              {gradient + begin * kPanel, GradientPlane(), tiles_ * kPanel, kPanel});
        },
        kTiles);
  }

  void AddProducts(int64_t count, int64_t columns, bool add, const float* input,
                   const float* gradient, float* sums, const ParallelFor& each) const {
    constexpr int64_t kBlock = 4 * kPanel;
    const int64_t width = Panels(columns) * kPanel, blocks = CeilDiv(width, kBlock);
    const int64_t units = sizes_.planes * blocks;
    const double cost = static_cast<double>(count * sizes_.C * kBlock) / 16;
    EachUnit(each, units, cost, [&](int64_t, int64_t unit) {
      const int64_t p = unit / blocks, column = unit % blocks * kBlock;
      Product product;
      product.rows = sizes_.C;
      product.columns = std::min(kBlock, width - column);
      product.depth = count;
      product.left = Left::kColumns;
      product.a = input + p * InputPlane();
      product.a_step = input_row_;
      product.b = gradient + p * GradientPlane() + column * tiles_;
      product.b_panel = tiles_ * kPanel;
      product.c = sums + p * SumPlane() + column;
      product.c_row = columns_;
      product.add = add;
      Multiply(product);
    });
  }

  void WriteFilter(int64_t column, int64_t columns, float* sums, float* filter,
                   const ParallelFor& each) const {
    const FilterView view{sizes_.C * sizes_.K, sizes_.K};
    each(sizes_.C, static_cast<double>(sizes_.planes * columns) / 2,
         [&](int64_t begin, int64_t end) {
           for (int64_t done = 0; done < columns; done += kPanel) {
             PointsToFilterGradient(sizes_.form, view,
                                    {sums + begin * columns_ + done, SumPlane(), kPanel, columns_},
                                    end - begin, std::min(kPanel, columns - done),
                                    filter + begin * sizes_.K + column + done);
           }
         });
  }

  const Sizes sizes_;
  int64_t tiles_ = 0;    // turned into points at a time
  int64_t columns_ = 0;  // summed in one pass over the tiles
  int64_t input_row_ = 0;
};

}  // namespace

std::unique_ptr<Convolution> MakeFilterGradient(Form form, const ConvProblem& problem) {
  return std::make_unique<WinogradFilterGradient>(form, problem.shape);
}

}  // namespace penstock::kernels::winograd
