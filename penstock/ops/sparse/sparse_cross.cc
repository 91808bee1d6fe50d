#include "penstock/ops/sparse/sparse_cross.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "penstock/core/checked.h"
#include "penstock/kernels/bucket_order.h"
#include "penstock/kernels/fingerprint.h"
#include "penstock/ops/sparse/sparse_tensor.h"

namespace penstock::ops {
namespace {

// One column: the values of each row of the batch.
struct Column {
  const Tensor* values = nullptr;
  // Of a sparse one: values by row, and where each row begins. Not initialized for a dense one,
  // whose rows are `width` values long.
  Tensor order;
  Tensor starts;
  int64_t width = 0;

  int64_t Count(int64_t row) const {
    if (!starts.initialized()) return width;
    const int64_t* at = starts.data<int64_t>() + row;
    return at[1] - at[0];
  }
  // The place in `values` of the k-th value of a row.
  int64_t Place(int64_t row, int64_t k) const {
    if (!starts.initialized()) return row * width + k;
    return order.data<int64_t>()[starts.data<int64_t>()[row] + k];
  }
  std::string Text(int64_t place) const {
    return values->dtype() == DType::kString ? values->data<std::string>()[place]
                                             : std::to_string(values->data<int64_t>()[place]);
  }
  uint64_t Hash(int64_t place) const {
    return values->dtype() == DType::kString
               ? kernels::Fingerprint64(values->data<std::string>()[place])
               : static_cast<uint64_t>(values->data<int64_t>()[place]);
  }
};

uint64_t Mixed(uint64_t x) { return x ^ x >> 47; }

// Joins two fingerprints, as TensorFlow's models were trained with it.
uint64_t JoinFingerprints(uint64_t a, uint64_t b) {
  constexpr uint64_t kFactor = 0xc6a4a7935bd1e995;
  uint64_t joined = a ^ kFactor;
  joined ^= Mixed(b * kFactor) * kFactor;
  joined *= kFactor;
  return Mixed(Mixed(joined) * kFactor);
}

Result<std::array<Shape, 3>> InferCross(std::span<const Known> indices,
                                        std::span<const Known> values,
                                        std::span<const Known> shapes,
                                        std::span<const Known> dense) {
  if (values.size() != indices.size()) {
    return InvalidArgument("there must be values for each of {} sparse columns, got {}",
                           indices.size(), values.size());
  }
  if (indices.empty() && dense.empty()) return InvalidArgument("there must be a column, got none");
  for (size_t m = 0; m < indices.size(); ++m) {
    TRY_ASSIGN(const int64_t rank,
               CheckSparse(*indices[m].shape, *values[m].shape, *shapes[m].shape));
    if (rank >= 0 && rank != 2)
      return InvalidArgument("sparse column {} must be a matrix, got rank {}", m, rank);
  }
  for (const std::span<const Known> columns : {values, dense}) {
    for (const Known& column : columns) {
      if (column.dtype != DType::kInt64 && column.dtype != DType::kString)
        return InvalidArgument("columns must be of int64 or string, got {}", column.dtype);
    }
  }
  for (const Known& column : dense) TRY(CheckRank(*column.shape, 2, "a dense column"));
  return SparseShapes(Shape::kUnknownDim, 2);
}

// All columns, and the number of rows that they share.
class Columns {
 public:
  static Result<Columns> Make(CpuContext& context, std::span<Tensor* const> indices,
                              std::span<Tensor* const> values, std::span<Tensor* const> shapes,
                              std::span<Tensor* const> dense) {
    Columns all;
    all.batch_ = shapes.empty() ? dense[0]->shape()[0] : shapes[0]->data<int64_t>()[0];
    const auto bounds = CheckedAdd(all.batch_, 1);
    if (all.batch_ < 0 || !bounds)
      return InvalidArgument("a batch must not be negative or too large, got {}", all.batch_);
    for (size_t m = 0; m < indices.size(); ++m) {
      TRY(all.CheckBatch(shapes[m]->data<int64_t>()[0]));
      const IndexMatrix matrix(*indices[m]);
      TRY(CheckWithin(matrix, shapes[m]->values<int64_t>()));
      Column column;
      column.values = values[m];
      TRY_ASSIGN(Tensor rows, context.Allocate(DType::kInt64, Shape{matrix.rows()}));
      for (int64_t i = 0; i < matrix.rows(); ++i) rows.mutable_data<int64_t>()[i] = matrix[i][0];
      TRY_ASSIGN(column.order, context.Allocate(DType::kInt64, Shape{matrix.rows()}));
      TRY_ASSIGN(column.starts, context.Allocate(DType::kInt64, Shape{*bounds}));
      kernels::OrderByBucket(rows.data<int64_t>(), matrix.rows(), all.batch_,
                             column.starts.mutable_data<int64_t>(),
                             column.order.mutable_data<int64_t>());
      all.columns_.push_back(std::move(column));
    }
    for (const Tensor* one : dense) {
      TRY(all.CheckBatch(one->shape()[0]));
      Column column;
      column.values = one;
      column.width = one->shape()[1];
      all.columns_.push_back(std::move(column));
    }
    return all;
  }

  // Fills outputs 0 and 2 and makes output 1, then calls put(place, choice) for each choice: the
  // place in the values of each column.
  template <class Put>
  Status Cross(CpuContext& context, DType dtype, Put put) const {
    int64_t total = 0, most = 0;
    for (int64_t r = 0; r < batch_; ++r) {
      TRY_ASSIGN(const int64_t count, CountChoices(r));
      const auto sum = CheckedAdd(total, count);
      if (!sum) return InvalidArgument("there are more than 2^63 crosses");
      total = *sum;
      most = std::max(most, count);
    }
    TRY_ASSIGN(int64_t * index, NewIndices(context, 0, total, 2));
    TRY(context.AllocateOutput(1, dtype, Shape{total}));
    int64_t place = 0;
    std::vector<int64_t> at(columns_.size()), choice(columns_.size());
    for (int64_t r = 0; r < batch_; ++r) {
      TRY_ASSIGN(const int64_t count, CountChoices(r));
      std::fill(at.begin(), at.end(), 0);
      for (int64_t k = 0; k < count; ++k) {
        for (size_t c = 0; c < columns_.size(); ++c) choice[c] = columns_[c].Place(r, at[c]);
        *index++ = r;
        *index++ = k;
        put(place++, std::span<const int64_t>(choice));
        for (size_t c = columns_.size(); c-- > 0 && ++at[c] == columns_[c].Count(r);) at[c] = 0;
      }
    }
    const int64_t extents[] = {batch_, most};
    return SetVector(context, 2, extents);
  }

  Status CrossTexts(CpuContext& context, const std::string& separator) const {
    return Cross(context, DType::kString, [&](int64_t place, std::span<const int64_t> choice) {
      std::string text;
      for (size_t c = 0; c < columns_.size(); ++c)
        text += (c == 0 ? "" : separator) + columns_[c].Text(choice[c]);
      context.output(1).mutable_data<std::string>()[place] = std::move(text);
    });
  }

  Status CrossHashes(CpuContext& context, uint64_t key, int64_t num_buckets) const {
    const auto limit =
        static_cast<uint64_t>(num_buckets > 0 ? num_buckets : std::numeric_limits<int64_t>::max());
    return Cross(context, DType::kInt64, [&](int64_t place, std::span<const int64_t> choice) {
      uint64_t hash = key;
      for (size_t c = 0; c < columns_.size(); ++c)
        hash = JoinFingerprints(hash, columns_[c].Hash(choice[c]));
      context.output(1).mutable_data<int64_t>()[place] = static_cast<int64_t>(hash % limit);
    });
  }

 private:
  Status CheckBatch(int64_t rows) const {
    if (rows == batch_) return OkStatus();
    return InvalidArgument("all columns must have {} rows, got {}", batch_, rows);
  }
  Result<int64_t> CountChoices(int64_t row) const {
    int64_t count = 1;
    for (const Column& column : columns_) {
      const auto product = CheckedMul(count, column.Count(row));
      if (!product) return InvalidArgument("row {} has more than 2^63 crosses", row);
      count = *product;
    }
    return count;
  }

  int64_t batch_ = 0;
  std::vector<Column> columns_;
};

}  // namespace

Result<std::array<Shape, 3>> SparseCross::InferShape(std::span<const Known> indices,
                                                     std::span<const Known> values,
                                                     std::span<const Known> shapes,
                                                     std::span<const Known> dense_inputs) const {
  return InferCross(indices, values, shapes, dense_inputs);
}

Status SparseCross::ComputeCpu(CpuContext& context, std::span<Tensor* const> indices,
                               std::span<Tensor* const> values, std::span<Tensor* const> shapes,
                               std::span<Tensor* const> dense_inputs) const {
  TRY_ASSIGN(const Columns columns, Columns::Make(context, indices, values, shapes, dense_inputs));
  if (!hashed_output) return columns.CrossTexts(context, "_X_");
  return columns.CrossHashes(context, static_cast<uint64_t>(hash_key), num_buckets);
}

Result<std::array<Shape, 3>> SparseCrossV2::InferShape(std::span<const Known> indices,
                                                       std::span<const Known> values,
                                                       std::span<const Known> shapes,
                                                       std::span<const Known> dense_inputs,
                                                       const Shape& sep) const {
  TRY(CheckScalar(sep, "sep"));
  return InferCross(indices, values, shapes, dense_inputs);
}

Status SparseCrossV2::ComputeCpu(CpuContext& context, std::span<Tensor* const> indices,
                                 std::span<Tensor* const> values, std::span<Tensor* const> shapes,
                                 std::span<Tensor* const> dense_inputs, const Tensor& sep) const {
  TRY_ASSIGN(const Columns columns, Columns::Make(context, indices, values, shapes, dense_inputs));
  return columns.CrossTexts(context, sep.scalar<std::string>());
}

void RegisterSparseCross(Registrar& registrar) { registrar.AddAll<SparseCross, SparseCrossV2>(); }

}  // namespace penstock::ops
