#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "penstock/kernels/fused.h"
#include "penstock/kernels/inline_array.h"
#include "penstock/kernels/operand_feed.h"

namespace penstock::kernels {

// The reduction at the end of a fused program. Its elements are cut into pieces, each reduced by
// one thread from its beginning to its end, and the pieces of one row are put together in their
// order: the result depends on the shape alone. A row is what one output element is made of. Short
// rows share a piece; a long row has several.
class FusedFold {
 public:
  // One thread's work on one piece.
  class Piece {
   public:
    Piece(FusedFold& fold, int64_t index);
    int64_t begin() const { return begin_; }
    int64_t end() const { return end_; }
    // Takes the values of n elements from `begin` on. REQUIRES: elements come in order.
    void Add(const OperandFeed::Run& values, int64_t begin, int64_t n);
    void Finish();

   private:
    void Fold(const void* values, int64_t blocks, int64_t rows, int64_t row);

    FusedFold& fold_;
    const int64_t index_;
    int64_t begin_, end_;
    InlineArray<std::byte, 4096> sums_;  // an accumulator for each row of the piece
  };

  FusedFold(const FusedReduction& reduction, std::span<const int64_t> shape, void* output);

  int64_t num_pieces() const { return num_pieces_; }
  int64_t piece_elements() const { return piece_elements_; }
  // After all pieces.
  void Finish();

 private:
  const FusedReduction& reduction_;
  void* const output_;
  int64_t num_rows_ = 1;
  int64_t row_elements_ = 1;
  int64_t pieces_per_row_ = 1;  // more than 1: a row has pieces; 1: a piece has rows
  int64_t rows_per_piece_ = 1;
  int64_t piece_elements_ = 1;
  int64_t num_pieces_ = 0;
  std::unique_ptr<std::byte[]> partial_;  // the pieces' sums, where a row has several
};

}  // namespace penstock::kernels
