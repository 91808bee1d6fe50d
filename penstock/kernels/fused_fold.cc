#include "penstock/kernels/fused_fold.h"

#include <algorithm>
#include <cstring>

namespace penstock::kernels {
namespace {

constexpr int64_t kPieceElements = 64 << 10;
constexpr int64_t kMaxRowsPerPiece = 1024;

}  // namespace

FusedFold::FusedFold(const FusedReduction& reduction, std::span<const int64_t> shape, void* output)
    : reduction_(reduction), output_(output) {
  const size_t reduced = reduction.num_dims < 0 ? shape.size() : reduction.num_dims;
  for (size_t d = 0; d < shape.size(); ++d) {
    (d + reduced < shape.size() ? num_rows_ : row_elements_) *= shape[d];
  }
  if (row_elements_ == 0 || num_rows_ == 0) return;  // no pieces
  if (row_elements_ > kPieceElements) {
    piece_elements_ = kPieceElements;
    pieces_per_row_ = (row_elements_ + kPieceElements - 1) / kPieceElements;
    num_pieces_ = num_rows_ * pieces_per_row_;
    partial_ = std::make_unique_for_overwrite<std::byte[]>(num_pieces_ *
                                                           reduction.kernels.accumulator_bytes);
  } else {
    rows_per_piece_ = std::clamp<int64_t>(kPieceElements / row_elements_, 1, kMaxRowsPerPiece);
    piece_elements_ = rows_per_piece_ * row_elements_;
    num_pieces_ = (num_rows_ + rows_per_piece_ - 1) / rows_per_piece_;
  }
}

void FusedFold::Finish() {
  const FoldKernels& kernels = reduction_.kernels;
  const auto finish_row = [&](std::byte* sum, int64_t row) {
    kernels.finish(sum, 1, row_elements_,
                   static_cast<std::byte*>(output_) + row * reduction_.value_bytes);
  };
  if (row_elements_ == 0) {
    alignas(std::max_align_t) std::byte sum[64];
    kernels.fill(sum, 1);
    for (int64_t row = 0; row < num_rows_; ++row) finish_row(sum, row);
  }
  if (pieces_per_row_ == 1) return;  // the pieces have written their rows
  const int64_t bytes = kernels.accumulator_bytes;
  for (int64_t row = 0; row < num_rows_; ++row) {
    std::byte* sum = &partial_[row * pieces_per_row_ * bytes];
    for (int64_t p = 1; p < pieces_per_row_; ++p) kernels.combine(sum, sum + p * bytes, 1);
    finish_row(sum, row);
  }
}

FusedFold::Piece::Piece(FusedFold& fold, int64_t index)
    : fold_(fold),
      index_(index),
      begin_(fold.pieces_per_row_ == 1 ? index * fold.piece_elements_
                                       : index / fold.pieces_per_row_ * fold.row_elements_ +
                                             index % fold.pieces_per_row_ * fold.piece_elements_),
      end_(begin_ + fold.piece_elements_),
      sums_(fold.rows_per_piece_ * fold.reduction_.kernels.accumulator_bytes) {
  const int64_t limit = fold.pieces_per_row_ == 1
                            ? fold.num_rows_ * fold.row_elements_
                            : (index / fold.pieces_per_row_ + 1) * fold.row_elements_;
  end_ = std::min(end_, limit);
  fold.reduction_.kernels.fill(sums_.data(), fold.rows_per_piece_);
}

void FusedFold::Piece::Add(const OperandFeed::Run& values, int64_t begin, int64_t n) {
  const int64_t row_elements = fold_.row_elements_;
  const std::byte* data = static_cast<const std::byte*>(values.data);
  while (n > 0) {
    const int64_t row = fold_.pieces_per_row_ == 1 ? (begin - begin_) / row_elements : 0;
    const int64_t column = begin % row_elements;
    const int64_t whole_rows = column == 0 ? n / row_elements : 0;
    const int64_t taken =
        whole_rows > 0 ? whole_rows * row_elements : std::min(n, row_elements - column);
    Fold(data, std::max<int64_t>(whole_rows, 1), whole_rows > 0 ? row_elements : taken, row);
    data += taken * fold_.reduction_.value_bytes;
    begin += taken;
    n -= taken;
  }
}

void FusedFold::Piece::Fold(const void* values, int64_t blocks, int64_t rows, int64_t row) {
  const FoldKernels& kernels = fold_.reduction_.kernels;
  kernels.fold(values,
               {.blocks = blocks, .block_stride = rows, .rows = rows, .row_stride = 1, .width = 1},
               sums_.data() + row * kernels.accumulator_bytes);
}

void FusedFold::Piece::Finish() {
  const FusedReduction& reduction = fold_.reduction_;
  if (fold_.pieces_per_row_ > 1) {
    const int64_t bytes = reduction.kernels.accumulator_bytes;
    std::memcpy(&fold_.partial_[index_ * bytes], sums_.data(), bytes);
  } else {
    const int64_t rows = (end_ - begin_) / fold_.row_elements_;
    reduction.kernels.finish(sums_.data(), rows, fold_.row_elements_,
                             static_cast<std::byte*>(fold_.output_) +
                                 begin_ / fold_.row_elements_ * reduction.value_bytes);
  }
}

}  // namespace penstock::kernels
