#include "penstock/core/shape.h"

#include <algorithm>

#include "penstock/core/check.h"
#include "penstock/core/checked.h"

namespace penstock {

Shape::Shape(std::span<const int64_t> dims) {
  CHECK(dims.size() <= static_cast<size_t>(kMaxRank)) << "rank " << dims.size();
  rank_ = static_cast<int32_t>(dims.size());
  if (rank_ > kInline) heap_ = new int64_t[rank_];
  int64_t* out = data();
  for (int i = 0; i < rank_; ++i) out[i] = dims[i] < 0 ? kUnknownDim : dims[i];
}

Shape Shape::UnknownOfRank(int rank) { return Shape(std::vector<int64_t>(rank, kUnknownDim)); }

Result<Shape> Shape::Make(std::span<const int64_t> dims) {
  if (dims.size() > static_cast<size_t>(kMaxRank)) {
    return InvalidArgument("a shape has at most {} dimensions, got {}", kMaxRank, dims.size());
  }
  // An extent of zero hides no overflow: the others must still multiply.
  int64_t product = 1;
  for (const int64_t dim : dims) {
    if (dim < kUnknownDim)
      return InvalidArgument("a dimension must be at least -1 (unknown), got {}", dim);
    if (dim <= 0) continue;
    const auto next = CheckedMul(product, dim);
    if (!next)
      return InvalidArgument("shape {} has more elements than fit in 64 bits", Shape(dims));
    product = *next;
  }
  return Shape(dims);
}

void Shape::Append(int64_t extent) {
  CHECK(rank_ >= 0 && rank_ < kMaxRank) << "append to " << ToString();
  std::vector<int64_t> all(dims().begin(), dims().end());
  all.push_back(extent);
  *this = Shape(all);
}

bool Shape::IsFullyKnown() const {
  if (rank_ < 0) return false;
  for (const int64_t dim : dims()) {
    if (dim < 0) return false;
  }
  return true;
}

int64_t Shape::num_elements() const {
  int64_t product = 1;
  for (const int64_t dim : dims()) product *= dim;
  return product;
}

std::optional<int64_t> Shape::CheckedNumElements() const {
  if (!IsFullyKnown()) return std::nullopt;
  int64_t product = 1;
  bool empty = false;
  for (const int64_t dim : dims()) {
    empty |= dim == 0;
    const auto next = CheckedMul(product, std::max<int64_t>(dim, 1));
    if (!next) return std::nullopt;
    product = *next;
  }
  return empty ? 0 : product;
}

Shape Shape::Slice(int begin, int end) const {
  return Shape(dims().subspan(begin, std::max(0, end - begin)));
}

bool Shape::IsCompatibleWith(const Shape& other) const {
  if (rank_ < 0 || other.rank_ < 0) return true;
  if (rank_ != other.rank_) return false;
  for (int i = 0; i < rank_; ++i) {
    if (dim(i) >= 0 && other.dim(i) >= 0 && dim(i) != other.dim(i)) return false;
  }
  return true;
}

bool Shape::operator==(const Shape& other) const {
  return rank_ == other.rank_ && std::equal(dims().begin(), dims().end(), other.dims().begin());
}

std::string Shape::ToString() const {
  if (rank_ < 0) return "<unknown>";
  std::string out = "[";
  for (int i = 0; i < rank_; ++i) {
    if (i > 0) out += ",";
    out += dim(i) < 0 ? "?" : std::to_string(dim(i));
  }
  return out + "]";
}

void Shape::CopyHeap(const Shape& other) {
  rank_ = other.rank_;
  heap_ = new int64_t[rank_];
  std::copy_n(other.heap_, rank_, heap_);
}

Result<Shape> MergeShapes(const Shape& a, const Shape& b) {
  if (!a.has_rank()) return b;
  if (!b.has_rank()) return a;
  if (!a.IsCompatibleWith(b)) return InvalidArgument("shapes must agree: {} vs {}", a, b);
  Shape out = a;
  for (int i = 0; i < a.rank(); ++i) {
    if (out.dim(i) < 0) out.set_dim(i, b.dim(i));
  }
  return out;
}

Result<Shape> BroadcastShapes(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return Shape::Unknown();
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  const int lead = longer.rank() - shorter.rank();
  Shape out = longer;
  for (int i = 0; i < shorter.rank(); ++i) {
    const int64_t x = longer.dim(lead + i);
    const int64_t y = shorter.dim(i);
    if (x == y || y == 1) continue;
    if (x == 1) {
      out.set_dim(lead + i, y);
    } else if (x < 0) {
      out.set_dim(lead + i, y < 0 ? -1 : y);
    } else if (y >= 0) {
      return InvalidArgument("shapes do not broadcast: {} vs {}", a, b);
    }
  }
  return out;
}

Result<int> ResolveAxis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return InvalidArgument("axis must be in [{}, {}) for rank {}, got {}", -rank, rank, rank, axis);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace penstock
