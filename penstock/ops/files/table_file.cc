#include "penstock/ops/files/table_file.h"

#include <vector>

#include "penstock/io/compression.h"
#include "penstock/ops/collections/table_state.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/shared_state.h"
#include "penstock/ops/text/numbers.h"

namespace penstock::ops {
namespace {

constexpr int64_t kLineNumber = -1;
constexpr int64_t kWholeLine = -2;
using ColumnTypes = Types<std::string, int64_t, int32_t, float, double>;

Status CheckColumn(int64_t index, DType dtype, std::string_view what) {
  if (index == kLineNumber && dtype != DType::kInt64)
    return InvalidArgument("{} index for line number requires table {} dtype of int64, got {}",
                           what, what, dtype);
  return OkStatus();
}

// One field of a line, as an element of `out`.
Status Store(const std::vector<std::string_view>& fields, std::string_view line, int64_t number,
             int64_t index, int64_t offset, Tensor& out) {
  if (index == kLineNumber) {
    out.mutable_data<int64_t>()[number] = number + offset;
    return OkStatus();
  }
  const std::string_view field = index == kWholeLine ? line : fields[static_cast<size_t>(index)];
  return ForDType(out.dtype(), ColumnTypes(), [&]<class T>() -> Status {
    T& to = out.mutable_data<T>()[number];
    if constexpr (std::is_same_v<T, std::string>) {
      to = field;
    } else if (!ParseNumber(field, &to)) {
      return InvalidArgument("Field {} in line {} is not a valid {}.", Printable(field), number,
                             out.dtype());
    }
    return OkStatus();
  });
}

Result<std::vector<std::string>> ReadLines(const std::string& path, int64_t most) {
  TRY_ASSIGN(io::InputStream stream, io::InputStream::Open(path, io::Compression::kNone));
  std::vector<std::string> lines;
  std::string line;
  while (most < 0 || static_cast<int64_t>(lines.size()) < most) {
    const uint64_t position = stream.offset();
    TRY_ASSIGN(const bool found, stream.ReadLine(&line));
    if (!found) break;
    if (line.empty())
      return InvalidArgument("Invalid content in {}: empty line found at position {}.",
                             Printable(path), position);
    lines.push_back(line);
  }
  if (most >= 0 && static_cast<int64_t>(lines.size()) < most)
    return InvalidArgument("Invalid vocab_size in {}: expected {} but got {}", Printable(path),
                           most, lines.size());
  return lines;
}

}  // namespace

Status TextTableColumns::CheckAttrs() const {
  if (delimiter.size() == 1) return OkStatus();
  return InvalidArgument("delimiter should be only 1 char, got {}", Printable(delimiter));
}

Status TextTableColumns::Fill(CpuContext& context, const Tensor& handle,
                              const Tensor& filename) const {
  std::shared_ptr<Resource> keep;
  TRY_ASSIGN(LookupTable* const table,
             FindShared<LookupTable>(context, handle, LookupTable::kKind, &keep));
  TRY(CheckScalar(filename.shape(), "filename"));
  TRY(CheckColumn(key_index, table->spec().key_dtype, "Key"));
  TRY(CheckColumn(value_index, table->spec().value_dtype, "Value"));
  const std::string& path = filename.scalar<std::string>();
  TRY_ASSIGN(const std::vector<std::string> lines, ReadLines(path, vocab_size));
  const Shape shape{static_cast<int64_t>(lines.size())};
  TRY_ASSIGN(Tensor keys, context.Allocate(table->spec().key_dtype, shape));
  TRY_ASSIGN(Tensor values, context.Allocate(table->spec().value_dtype, shape));
  const int64_t columns = std::max(key_index, value_index) + 1;
  std::vector<std::string_view> fields;
  for (size_t i = 0; i < lines.size(); ++i) {
    fields.clear();
    for (std::string_view left = lines[i]; columns > 0;) {
      const size_t end = left.find(delimiter[0]);
      fields.push_back(left.substr(0, end));
      if (end == std::string_view::npos) break;
      left.remove_prefix(end + 1);
    }
    if (static_cast<int64_t>(fields.size()) < columns)
      return InvalidArgument(
          "Invalid number of columns in {} line {} ({}) : expected at least {} "
          "got {}",
          Printable(path), i, Printable(lines[i]), columns, fields.size());
    const auto number = static_cast<int64_t>(i);
    TRY(Store(fields, lines[i], number, key_index, offset, keys));
    TRY(Store(fields, lines[i], number, value_index, offset, values));
  }
  return table->Initialize(context, keys, values);
}

void RegisterTableFiles(Registrar& registrar) {
  registrar.AddAll<InitializeTableFromTextFile, InitializeTableFromTextFileV2>();
}

}  // namespace penstock::ops
