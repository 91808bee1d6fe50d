#include "penstock/ops/text/summarize.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "penstock/core/resource.h"

namespace penstock::ops {
namespace {

std::string Escaped(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '"':
      case '\'':
      case '\\':
        out += '\\';
        out += c;
        break;
      default:
        if (byte < 0x20 || byte == 0x7F) {
          char octal[8];
          std::snprintf(octal, sizeof octal, "\\%03o", byte);
          out += octal;
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

std::string TextOf(const Tensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
    case DType::kFloat:
      return ShortestText(tensor.data<float>()[i]);
    case DType::kDouble:
      return ShortestText(tensor.data<double>()[i]);
    case DType::kHalf:
      return ShortestText(static_cast<float>(tensor.data<half>()[i]));
    case DType::kBfloat16:
      return ShortestText(static_cast<float>(tensor.data<bfloat16>()[i]));
    case DType::kBool:
      return tensor.data<bool>()[i] ? "1" : "0";
    case DType::kString:
      return Escaped(tensor.data<std::string>()[i]);
    default:
      return ElementToString(tensor, i);
  }
}

// What separates two entries of an axis: a space within a row, else as many new lines as there are
// axes inside, and an indentation.
void AppendSpacing(int axis, int rank, std::string* text) {
  if (axis == rank - 1) {
    *text += ' ';
    return;
  }
  text->append(static_cast<size_t>(rank - 1 - axis), '\n');
  text->append(static_cast<size_t>(axis + 1), ' ');
}

// Types that are not shown, in one row whatever the shape, as TensorFlow has it.
void AppendHidden(const Tensor& tensor, int64_t edge, bool cut, std::string* text) {
  const bool brackets = tensor.shape().rank() > 0;
  if (brackets) *text += '[';
  for (int64_t i = 0; i < edge; ++i) *text += i > 0 ? " ?" : "?";
  if (cut) *text += "...";
  if (brackets) *text += ']';
}

}  // namespace

std::string ShortestText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", value);
  if (std::strtod(text, nullptr) != value) std::snprintf(text, sizeof text, "%.17g", value);
  return value != value ? "nan" : text;
}

std::string ShortestText(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", static_cast<double>(value));
  if (std::strtof(text, nullptr) != value)
    std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
  return value != value ? "nan" : text;
}

void AppendSummary(const Tensor& tensor, int64_t edge, std::string* text) {
  const Shape& shape = tensor.shape();
  const int64_t size = tensor.num_elements();
  const bool all = edge < 0;
  edge = all ? size : std::min(edge, size);
  const DType dtype = tensor.dtype();
  if (IsComplex(dtype) || dtype == DType::kResource || dtype == DType::kVariant)
    return AppendHidden(tensor, edge, edge < size, text);
  if (dtype == DType::kBool && edge == 0 && size > 0) return;
  const int rank = shape.rank();
  if (rank == 0) {
    *text += edge == 0 ? "..." : TextOf(tensor, 0);
    return;
  }
  // The entry that each open bracket comes to next, and the first element in it.
  struct Level {
    int64_t entry = 0;
    int64_t first = 0;
    int64_t step = 1;
  };
  std::vector<Level> levels(static_cast<size_t>(rank));
  for (int axis = rank - 2; axis >= 0; --axis)
    levels[axis].step = levels[axis + 1].step * shape.dim(axis + 1);
  *text += '[';
  for (int axis = 0; axis >= 0;) {
    Level& level = levels[axis];
    const int64_t count = shape.dim(axis);
    const bool cut = count > 2 * edge;
    if (cut && level.entry == edge) {
      AppendSpacing(axis, rank, text);
      *text += "...";
      level.entry = count - edge;
    }
    if (level.entry >= count) {
      *text += ']';
      --axis;
      continue;
    }
    if (level.entry > 0) AppendSpacing(axis, rank, text);
    const int64_t element = level.first + level.entry++ * level.step;
    if (axis == rank - 1) {
      *text += TextOf(tensor, element);
    } else {
      levels[++axis].entry = 0;
      levels[axis].first = element;
      *text += '[';
    }
  }
}

}  // namespace penstock::ops
