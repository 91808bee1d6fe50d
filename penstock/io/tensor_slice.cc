#include "penstock/io/tensor_slice.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "penstock/core/checked.h"
#include "penstock/proto/tensor_slice.pb.h"

namespace penstock::io {
namespace {

bool ParseNumber(std::string_view text, int64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

// Cuts off what comes before the next `separator`, or everything.
std::string_view TakeUntil(char separator, std::string_view* text) {
  const size_t at = text->find(separator);
  const std::string_view part = text->substr(0, at);
  text->remove_prefix(at == std::string_view::npos ? text->size() : at + 1);
  return part;
}

// A number whose bytes sort as it does: their count, then the bytes, the high one first.
void AppendOrdered(uint64_t value, std::string* out) {
  const int bytes = (static_cast<int>(std::bit_width(value)) + 7) / 8;
  out->push_back(static_cast<char>(bytes));
  for (int i = bytes - 1; i >= 0; --i) out->push_back(static_cast<char>(value >> (8 * i)));
}

// A signed number likewise, in two's complement of 7 bits a byte: as many ones as there are bytes
// are exchanged into its front.
void AppendOrderedSigned(int64_t value, std::string* out) {
  const auto magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  const int length =
      (static_cast<int>(std::bit_width(magnitude)) + 7) / 7;  // with a bit for the sign
  uint8_t bytes[10];
  for (int i = 0; i < 10; ++i) bytes[i] = static_cast<uint8_t>(value >> std::min(63, 8 * (9 - i)));
  uint8_t* const front = bytes + 10 - length;
  const auto ones = static_cast<uint16_t>(0xffff0000u >> length);
  front[0] ^= static_cast<uint8_t>(ones >> 8);
  if (length > 1) front[1] ^= static_cast<uint8_t>(ones);
  out->append(front, bytes + 10);
}

// Text that ends where a shorter one sorts before a longer: 0 and 255 are doubled to make room for
// the end.
void AppendOrdered(std::string_view text, std::string* out) {
  for (const char c : text) {
    out->push_back(c);
    if (c == '\0') out->push_back('\xff');
    if (c == '\xff') out->push_back('\0');
  }
  out->append("\0\1", 2);
}

void CopyElements(const Tensor& from, int64_t from_at, int64_t count, Tensor* to, int64_t to_at) {
  if (from.dtype() == DType::kString) {
    std::copy_n(from.data<std::string>() + from_at, count, to->mutable_data<std::string>() + to_at);
    return;
  }
  const size_t size = SizeOf(from.dtype());
  std::memcpy(static_cast<char*>(to->mutable_raw()) + static_cast<size_t>(to_at) * size,
              static_cast<const char*>(from.raw()) + static_cast<size_t>(from_at) * size,
              static_cast<size_t>(count) * size);
}

}  // namespace

Result<TensorSlice> TensorSlice::Parse(std::string_view text) {
  std::vector<Extent> extents;
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view axis = TakeUntil(':', &rest);
    Extent extent;
    if (axis != "-") {
      const std::string_view start = TakeUntil(',', &axis);
      if (!ParseNumber(start, &extent.start) || !ParseNumber(axis, &extent.length) ||
          extent.start < 0 || extent.length <= 0) {
        return InvalidArgument(
            "a slice must have 'start,length' or '-' for each axis, separated by ':', got '{}'",
            Printable(text));
      }
    }
    if (extents.size() == static_cast<size_t>(Shape::kMaxRank))
      return InvalidArgument("a slice must have at most {} axes", Shape::kMaxRank);
    extents.push_back(extent);
  }
  return TensorSlice(std::move(extents));
}

Result<TensorSlice> TensorSlice::FromProto(const tf::TensorSliceProto& proto) {
  if (proto.extent_size() > Shape::kMaxRank)
    return InvalidArgument("a slice must have at most {} axes, got {}", Shape::kMaxRank,
                           proto.extent_size());
  std::vector<Extent> extents;
  for (const auto& extent : proto.extent()) {
    const bool whole = extent.has_length_hack_case() != tf::TensorSliceProto::Extent::kLength;
    if (extent.start() < 0 || (whole ? extent.start() != 0 : extent.length() < 0))
      return InvalidArgument("a slice cannot start at {} with length {}", extent.start(),
                             extent.length());
    extents.push_back({extent.start(), whole ? kWhole : extent.length()});
  }
  return TensorSlice(std::move(extents));
}

void TensorSlice::ToProto(tf::TensorSliceProto* proto) const {
  for (const Extent& extent : extents_) {
    auto* added = proto->add_extent();
    if (extent.length == kWhole) continue;
    added->set_start(extent.start);
    added->set_length(extent.length);
  }
}

Result<TensorSlice> TensorSlice::Within(const Shape& shape) const {
  if (!shape.IsFullyKnown() || extents_.size() != static_cast<size_t>(shape.rank()))
    return InvalidArgument("slice {} does not lie in shape {}", ToString(), shape);
  std::vector<Extent> resolved = extents_;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    Extent& extent = resolved[static_cast<size_t>(axis)];
    if (extent.length == kWhole) extent.length = shape.dim(axis);
    if (extent.start > shape.dim(axis) || extent.length > shape.dim(axis) - extent.start)
      return InvalidArgument("slice {} does not lie in shape {}", ToString(), shape);
  }
  return TensorSlice(std::move(resolved));
}

Shape TensorSlice::shape() const {
  std::vector<int64_t> dims;
  for (const Extent& extent : extents_) dims.push_back(extent.length);
  return Shape(dims);
}

std::string TensorSlice::ToString() const {
  std::string text;
  for (const Extent& extent : extents_) {
    if (!text.empty()) text += ':';
    text += extent.length == kWhole ? "-" : Format("{},{}", extent.start, extent.length);
  }
  return text;
}

Result<ShapeAndSlice> ParseShapeAndSlice(std::string_view text) {
  std::vector<int64_t> dims;
  std::string_view rest = text;
  for (size_t space = rest.find(' '); space != std::string_view::npos; space = rest.find(' ')) {
    int64_t dim;
    if (!ParseNumber(TakeUntil(' ', &rest), &dim) || dim < 0) {
      return InvalidArgument("expected the extents of a shape, then a slice, got '{}'",
                             Printable(text));
    }
    dims.push_back(dim);
  }
  ShapeAndSlice parsed;
  TRY_ASSIGN(parsed.shape, Shape::Make(dims));
  TRY_ASSIGN(parsed.slice, TensorSlice::Parse(rest));
  TRY(parsed.slice.Within(parsed.shape));
  return parsed;
}

std::string SliceKey(std::string_view name, const TensorSlice& slice) {
  std::string key;
  AppendOrdered(uint64_t{0}, &key);
  AppendOrdered(name, &key);
  AppendOrdered(uint64_t{slice.extents().size()}, &key);
  for (const TensorSlice::Extent& extent : slice.extents()) {
    AppendOrderedSigned(extent.start, &key);
    AppendOrderedSigned(extent.length, &key);
  }
  return key;
}

int64_t CopyCommon(const TensorSlice& from, const Tensor& source, const TensorSlice& to,
                   Tensor* target) {
  struct Axis {
    int64_t length, source_start, target_start, source_stride, target_stride;
  };
  const size_t rank = from.extents().size();
  std::vector<Axis> axes(rank);
  int64_t source_stride = 1, target_stride = 1, count = 1;
  for (size_t i = rank; i-- > 0;) {
    const TensorSlice::Extent &a = from.extents()[i], &b = to.extents()[i];
    const int64_t begin = std::max(a.start, b.start);
    const int64_t end = std::min(a.start + a.length, b.start + b.length);
    if (end <= begin) return 0;
    axes[i] = {end - begin, begin - a.start, begin - b.start, source_stride, target_stride};
    source_stride *= a.length;
    target_stride *= b.length;
    count *= end - begin;
  }
  // Copies runs along the last axis, counting through the others.
  const int64_t run = rank == 0 ? 1 : axes.back().length;
  std::vector<int64_t> at(rank, 0);
  for (int64_t done = 0; done < count; done += run) {
    int64_t in_at = 0, out_at = 0;
    for (size_t i = 0; i < rank; ++i) {
      in_at += (axes[i].source_start + at[i]) * axes[i].source_stride;
      out_at += (axes[i].target_start + at[i]) * axes[i].target_stride;
    }
    CopyElements(source, in_at, run, target, out_at);
    for (size_t i = rank - (rank > 0); i-- > 0;) {
      if (++at[i] < axes[i].length) break;
      at[i] = 0;
    }
  }
  return count;
}

}  // namespace penstock::io
