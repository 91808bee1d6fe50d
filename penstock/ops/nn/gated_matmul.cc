#include "penstock/ops/nn/gated_matmul.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "penstock/kernels/broadcast.h"
#include "penstock/kernels/gemm_tile.h"
#include "penstock/ops/matmul.h"

// M rows, N columns of a group, K the inner dimension, G groups, W columns done at a time.

namespace penstock::ops {
namespace {

constexpr int64_t kVector = 16;   // columns come in multiples of this
constexpr int64_t kColumns = 64;  // W

// What is done at a time, in memory of its own: tiles of M * W elements, one for each group, each
// operand that is no scalar, and each output.
class Tiles {
 public:
  Tiles(int64_t M, int64_t num_groups, std::span<Tensor* const> rest, std::span<Tensor> outputs)
      : elements_(M * kColumns) {
    bytes_ = num_groups * elements_ * static_cast<int64_t>(sizeof(float));
    for (const Tensor* tensor : rest) Add(*tensor);
    for (const Tensor& tensor : outputs) Add(tensor);
  }
  int64_t bytes() const { return bytes_; }
  int64_t elements() const { return elements_; }
  // Where the tile of operand or output i begins.
  int64_t at(size_t i) const { return at_[i]; }

 private:
  void Add(const Tensor& tensor) {
    at_.push_back(bytes_);
    // A line of the cache each, at least.
    bytes_ += (elements_ * static_cast<int64_t>(SizeOf(tensor.dtype())) + 63) / 64 * 64;
  }

  int64_t elements_;
  int64_t bytes_ = 0;
  std::vector<int64_t> at_;
};

struct Columns {
  int64_t M, N, begin, count;
};

// Columns of an [M, N] matrix, or of one row for all, as a tile.
void ReadTile(const Tensor& from, const Columns& columns, std::byte* tile) {
  const auto bytes = static_cast<int64_t>(SizeOf(from.dtype()));
  const bool is_row = from.num_elements() != columns.M * columns.N;
  const auto* source = static_cast<const std::byte*>(from.raw()) + columns.begin * bytes;
  for (int64_t m = 0; m < columns.M; ++m) {
    std::memcpy(tile + m * columns.count * bytes, source + (is_row ? 0 : m * columns.N * bytes),
                static_cast<size_t>(columns.count * bytes));
  }
}

void WriteTile(const std::byte* tile, const Columns& columns, Tensor& to) {
  const auto bytes = static_cast<int64_t>(SizeOf(to.dtype()));
  auto* target = static_cast<std::byte*>(to.mutable_raw()) + columns.begin * bytes;
  for (int64_t m = 0; m < columns.M; ++m) {
    std::memcpy(target + m * columns.N * bytes, tile + m * columns.count * bytes,
                static_cast<size_t>(columns.count * bytes));
  }
}

}  // namespace

Status GatedMatMul::CheckAttrs() const {
  constexpr int64_t kMaxGroups = 64;
  if (num_groups < 1 || num_groups > kMaxGroups)
    return InvalidArgument("num_groups must be 1 to {}, got {}", kMaxGroups, num_groups);
  program.Tin.assign(static_cast<size_t>(num_groups), DType::kFloat);
  program.Tin.insert(program.Tin.end(), Trest.begin(), Trest.end());
  program.Tout = Tout;
  program.ops = ops;
  program.args = args;
  program.types = types;
  program.results = results;
  return program.CheckAttrs();
}

Result<Shape> GatedMatMul::InferShape(const Shape& a, const Shape& b, std::span<const Known> bias,
                                      std::span<const Known> rest) const {
  TRY_ASSIGN(const Shape product, MatMul().InferShape(a, b));
  const int64_t columns = product.dim(1);
  if (columns < 0) return Shape{product.dim(0), -1};
  if (columns % (num_groups * kVector) != 0) {
    return InvalidArgument("the columns must be {} groups of a multiple of {}, got {}", num_groups,
                           kVector, columns);
  }
  for (const Known& one : bias) TRY(MergeShapes(*one.shape, Shape{columns}));
  const Shape group{product.dim(0), columns / num_groups};
  for (const Known& one : rest) {
    const Shape& shape = *one.shape;
    if (!shape.IsFullyKnown() || !group.IsFullyKnown()) continue;
    const bool is_row = shape == Shape{group.dim(1)} || shape == Shape{1, group.dim(1)};
    if (!(shape == group) && !is_row && shape.num_elements() != 1)
      return InvalidArgument("an operand must be {}, a row of it or a scalar, got {}", group,
                             shape);
  }
  return group;
}

Status GatedMatMul::ComputeCpu(CpuContext& context, const Tensor& a, const Tensor& b,
                               std::span<Tensor* const> bias, std::span<Tensor* const> rest,
                               std::span<Tensor> outputs) const {
  const int64_t M = outputs[0].shape().dim(0), N = outputs[0].shape().dim(1);
  const int64_t K = a.shape().dim(1);
  if (M == 0 || N == 0) return OkStatus();
  const Tiles tiles(M, num_groups, rest, outputs);
  const int64_t blocks = (N + kColumns - 1) / kColumns;
  TRY_ASSIGN(Tensor memory, context.Allocate(DType::kUint8, Shape{blocks, tiles.bytes()}));
  auto* const scratch = reinterpret_cast<std::byte*>(memory.mutable_data<uint8_t>());
  const auto group_bytes = tiles.elements() * static_cast<int64_t>(sizeof(float));

  auto run = [&](int64_t block) {
    std::byte* const base = scratch + block * tiles.bytes();
    const Columns columns{M, N, block * kColumns, std::min(kColumns, N - block * kColumns)};
    std::vector<kernels::Operand> operands;
    for (int64_t g = 0; g < num_groups; ++g) {
      auto* const tile = reinterpret_cast<float*>(base + g * group_bytes);
      const int64_t first = g * N + columns.begin;
      for (int64_t m = 0; m < M; ++m) {
        float* const row = tile + m * columns.count;
        if (bias.empty()) {
          std::fill_n(row, columns.count, 0.f);
        } else {
          std::copy_n(bias[0]->data<float>() + first, columns.count, row);
        }
      }
      kernels::GemmNarrow({false, false, M, columns.count, K, a.data<float>(), K,
                           b.data<float>() + first, num_groups * N, tile, columns.count,
                           /*beta=*/1});
      operands.push_back(kernels::Operand::Dense(tile, sizeof(float)));
    }
    for (size_t i = 0; i < rest.size(); ++i) {
      const bool is_scalar = rest[i]->num_elements() == 1;
      const auto bytes = static_cast<int>(SizeOf(rest[i]->dtype()));
      if (!is_scalar) ReadTile(*rest[i], columns, base + tiles.at(i));
      operands.push_back(
          kernels::Operand::Dense(is_scalar ? rest[i]->raw() : base + tiles.at(i), bytes));
      operands.back().is_scalar = is_scalar;
    }
    std::vector<void*> results_at;
    for (size_t i = 0; i < outputs.size(); ++i)
      results_at.push_back(base + tiles.at(rest.size() + i));
    const std::array<int64_t, 1> elements{M * columns.count};
    program.Run(operands, elements, results_at, ParallelFor());
    for (size_t i = 0; i < outputs.size(); ++i)
      WriteTile(base + tiles.at(rest.size() + i), columns, outputs[i]);
  };
  // Sixteen multiplications a cycle.
  const double cost = static_cast<double>(M * std::min(N, kColumns)) *
                      (static_cast<double>(num_groups * K) / 16 + program.cost());
  context.parallel()(blocks, cost, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) run(block);
  });
  return OkStatus();
}

void RegisterGatedMatMul(Registrar& registrar) { registrar.Add<GatedMatMul>(); }

}  // namespace penstock::ops
