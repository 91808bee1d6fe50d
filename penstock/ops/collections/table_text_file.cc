#include "penstock/ops/collections/table_text_file.h"

#include <charconv>

#include "penstock/core/checked.h"
#include "penstock/io/line_reader.h"
#include "penstock/ops/collections/handles.h"
#include "penstock/ops/collections/table_state.h"

namespace penstock::ops {
namespace {

std::vector<std::string_view> Columns(std::string_view line, char delimiter) {
  std::vector<std::string_view> columns;
  while (true) {
    const size_t end = line.find(delimiter);
    columns.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return columns;
    line.remove_prefix(end + 1);
  }
}

template <class T>
Status ParseInto(std::string_view text, Tensor& to, int64_t at) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return InvalidArgument("'{}' is not a valid {}", Printable(text), kDTypeOf<T>);
  to.mutable_data<T>()[at] = value;
  return OkStatus();
}

Status Store(std::string_view text, Tensor& to, int64_t at) {
  switch (to.dtype()) {
    case DType::kString:
      to.mutable_data<std::string>()[at] = text;
      return OkStatus();
    case DType::kInt32:
      return ParseInto<int32_t>(text, to, at);
    case DType::kInt64:
      return ParseInto<int64_t>(text, to, at);
    case DType::kFloat:
      return ParseInto<float>(text, to, at);
    case DType::kDouble:
      return ParseInto<double>(text, to, at);
    default:
      return InvalidArgument("a table of {} cannot be read from text", to.dtype());
  }
}

// What column `index` of a line says, or the line itself, or its number.
Status StoreColumn(std::string_view line, const std::vector<std::string_view>& columns,
                   int64_t index, int64_t number, Tensor& to, int64_t at) {
  if (index == kWholeLine) return Store(line, to, at);
  if (index == kLineNumber) return Store(std::to_string(number), to, at);
  if (index >= static_cast<int64_t>(columns.size())) {
    return InvalidArgument(
        "Invalid number of columns in line {}: expected at least {}, got {}: '{}'", at + 1,
        index + 1, columns.size(), Printable(line));
  }
  return Store(columns[static_cast<size_t>(index)], to, at);
}

// A line number is an int64, a whole line a string or an integer.
Status CheckIndex(int64_t index, DType dtype, std::string_view what) {
  if (index == kLineNumber && dtype != DType::kInt64)
    return InvalidArgument("{}: line numbers need dtype int64, got {}", what, dtype);
  if (index == kWholeLine && dtype != DType::kString && !IsInteger(dtype))
    return InvalidArgument("{}: whole lines need a string or an integer, got {}", what, dtype);
  return OkStatus();
}

}  // namespace

Status FillFromTextFile(CpuContext& context, const Tensor& table_handle, const Tensor& filename,
                        const TextTableSpec& spec) {
  TRY_ASSIGN(const std::shared_ptr<LookupTable> table,
             FindResource<LookupTable>(context, table_handle, LookupTable::kKind));
  TRY(CheckIndex(spec.key_index, table->spec().key_dtype, "key_index"));
  TRY(CheckIndex(spec.value_index, table->spec().value_dtype, "value_index"));
  const std::string& path = filename.scalar<std::string>();
  TRY_ASSIGN(io::LineReader reader, io::LineReader::Open(path));
  std::vector<std::string> lines;
  std::string line;
  while (spec.vocab_size < 0 || static_cast<int64_t>(lines.size()) < spec.vocab_size) {
    TRY_ASSIGN(const bool more, reader.Read(&line));
    if (!more) break;
    lines.push_back(line);
  }
  const auto count = static_cast<int64_t>(lines.size());
  if (count < spec.vocab_size) {
    return InvalidArgument("Invalid vocab_size in {}: expected {} but got {}", Printable(path),
                           spec.vocab_size, count);
  }
  if (!CheckedAdd(spec.offset, count))
    return InvalidArgument("offset {} is too large", spec.offset);
  TRY_ASSIGN(Tensor keys, context.Allocate(table->spec().key_dtype, Shape{count}));
  TRY_ASSIGN(Tensor values, context.Allocate(table->spec().value_dtype, Shape{count}));
  for (int64_t i = 0; i < count; ++i) {
    const std::string& text = lines[static_cast<size_t>(i)];
    const std::vector<std::string_view> columns = Columns(text, spec.delimiter[0]);
    Status stored = StoreColumn(text, columns, spec.key_index, spec.offset + i, keys, i);
    if (stored.ok())
      stored = StoreColumn(text, columns, spec.value_index, spec.offset + i, values, i);
    if (!stored.ok()) return stored.Annotate(Printable(path));
  }
  return table->Initialize(context, keys, values);
}

void RegisterTableTextFile(Registrar& registrar) {
  registrar.AddAll<InitializeTableFromTextFile, InitializeTableFromTextFileV2>();
}

}  // namespace penstock::ops
