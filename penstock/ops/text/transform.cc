#include "penstock/ops/text/transform.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "penstock/kernels/strided.h"
#include "penstock/ops/text/icu.h"
#include "penstock/ops/text/utf8.h"

namespace penstock::ops {
namespace {

constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";

char AsciiUpper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }
char AsciiLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// output[i] = f(input[i])
template <class T, class F>
void MapStrings(CpuContext& context, const Tensor& input, Tensor& output, F&& f) {
  const std::string* from = input.data<std::string>();
  T* to = output.mutable_data<T>();
  context.parallel()(input.num_elements(), EachString::kCost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(from[i], to[i]);
  });
}

int64_t CountChars(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return !IsTrailByte(c); });
}

// Where the n-th next char after text[at] begins, or the end. A char is a byte and the trail bytes
// after it.
size_t SkipChars(std::string_view text, size_t at, int64_t n) {
  for (; n > 0 && at < text.size(); --n) {
    ++at;
    while (at < text.size() && IsTrailByte(text[at])) ++at;
  }
  return at;
}

Status OutOfRange(int64_t pos, std::string_view text, int64_t index) {
  return InvalidArgument("pos {} out of range for string {} at index {}", pos, Printable(text),
                         index);
}

// The units [pos, pos + len); false when there is no such position.
bool SubstrBytes(std::string_view text, int64_t pos, int64_t len, std::string_view* out) {
  const auto size = static_cast<int64_t>(text.size());
  if (pos < -size || pos > size) return false;
  if (pos < 0) pos += size;
  // A negative length takes all, as in TensorFlow.
  *out = text.substr(static_cast<size_t>(pos),
                     len < 0 ? std::string_view::npos : static_cast<size_t>(len));
  return true;
}

bool SubstrChars(std::string_view text, int64_t pos, int64_t len, std::string_view* out) {
  const int64_t size = CountChars(text);
  if (pos < -size || pos > size) return false;
  if (pos < 0) pos += size;
  // Trail bytes that nothing began belong to no char.
  size_t begin = 0;
  while (begin < text.size() && IsTrailByte(text[begin])) ++begin;
  begin = SkipChars(text, begin, pos);
  const size_t end = SkipChars(text, begin, len);
  *out = text.substr(begin, end - begin);
  return true;
}

// The strides of a broadcast operand over the output's dims.
std::vector<int64_t> BroadcastStrides(const Shape& shape, const Shape& output) {
  std::vector<int64_t> strides(static_cast<size_t>(output.rank()), 0);
  int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (shape.dim(axis) != 1) strides[axis + output.rank() - shape.rank()] = stride;
    stride *= shape.dim(axis);
  }
  return strides;
}

int64_t IndexAt(const Tensor& tensor, int64_t i) {
  return tensor.dtype() == DType::kInt32 ? tensor.data<int32_t>()[i] : tensor.data<int64_t>()[i];
}

}  // namespace

template <FixedString Name, bool Upper>
Status ChangeCase<Name, Upper>::CheckAttrs() const {
  if (encoding.empty() || encoding == "utf-8") return OkStatus();
  return InvalidArgument("encoding must be utf-8 or '' (no encoding), got {}", Printable(encoding));
}

template <FixedString Name, bool Upper>
Status ChangeCase<Name, Upper>::ComputeCpu(CpuContext& context, const Tensor& input,
                                           Tensor& output) const {
  if (encoding.empty()) {
    MapStrings<std::string>(context, input, output, [](const std::string& from, std::string& to) {
      to.resize(from.size());
      std::transform(from.begin(), from.end(), to.begin(), Upper ? AsciiUpper : AsciiLower);
    });
    return OkStatus();
  }
  for (int64_t i = 0; i < input.num_elements(); ++i) {
    TRY_ASSIGN(output.mutable_data<std::string>()[i],
               ChangeCaseOfUtf8(input.data<std::string>()[i], Upper));
  }
  return OkStatus();
}

Status StringStrip::ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const {
  MapStrings<std::string>(context, input, output, [](const std::string& from, std::string& to) {
    const size_t begin = from.find_first_not_of(kWhiteSpace);
    if (begin == std::string::npos) return to.clear();
    to.assign(from, begin, from.find_last_not_of(kWhiteSpace) + 1 - begin);
  });
  return OkStatus();
}

Status StringLength::ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const {
  const bool chars = unit == "UTF8_CHAR";
  MapStrings<int32_t>(context, input, output, [chars](const std::string& from, int32_t& to) {
    const int64_t length = chars ? CountChars(from) : static_cast<int64_t>(from.size());
    to = static_cast<int32_t>(std::min<int64_t>(length, std::numeric_limits<int32_t>::max()));
  });
  return OkStatus();
}

Result<Shape> Substr::InferShape(const Shape& input, const Shape& pos, const Shape& len) const {
  TRY_ASSIGN(const Shape positions, MergeShapes(pos, len));
  return BroadcastShapes(input, positions);
}

Status Substr::ComputeCpu(CpuContext&, const Tensor& input, const Tensor& pos, const Tensor& len,
                          Tensor& output) const {
  if (output.num_elements() == 0) return OkStatus();
  const auto substr = unit == "BYTE" ? SubstrBytes : SubstrChars;
  const Shape& shape = output.shape();
  const std::vector<int64_t> of_input = BroadcastStrides(input.shape(), shape);
  const std::vector<int64_t> of_pos = BroadcastStrides(pos.shape(), shape);
  std::vector<kernels::StridedDim> dims;
  for (int axis = 0; axis < shape.rank(); ++axis)
    dims.push_back({shape.dim(axis), of_input[axis], of_pos[axis]});
  kernels::StridedIterator at(dims, 0);
  std::string* to = output.mutable_data<std::string>();
  for (int64_t i = 0; i < output.num_elements(); ++i, at.Next()) {
    const std::string& text = input.data<std::string>()[at.src()];
    std::string_view part;
    if (!substr(text, IndexAt(pos, at.dst()), IndexAt(len, at.dst()), &part))
      return OutOfRange(IndexAt(pos, at.dst()), text, i);
    to[i] = part;
  }
  return OkStatus();
}

void RegisterTextTransform(Registrar& registrar) {
  registrar.AddAll<StringLower, StringUpper, StringStrip, StringLength, Substr>();
}

}  // namespace penstock::ops
