#include "penstock/train/data/csv.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "penstock/core/checked.h"
#include "penstock/io/open_any.h"
#include "penstock/train/data/csv_record.h"

namespace penstock::data {
namespace {

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

template <class T>
Status ParseNumber(const ColumnSpec& spec, std::string_view text, T* value) {
  text = Trim(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  if (error == std::errc::result_out_of_range)
    return OutOfRange("{} does not fit into {}", Printable(text), spec.dtype);
  if (error != std::errc() || end != text.data() + text.size())
    return InvalidArgument("expected {}, got {}", spec.dtype, Printable(text));
  if (spec.limit != 0 && !InRange(static_cast<int64_t>(*value), spec.limit))
    return OutOfRange("expected a number in [0, {}), got {}", spec.limit, Printable(text));
  return OkStatus();
}

// Writes a field to element `at` of `to`.
Status Store(const ColumnSpec& spec, const std::string& field, int64_t at, Tensor* to) {
  const bool none = field.empty();
  if (none && !spec.otherwise.initialized() && spec.dtype != DType::kString)
    return InvalidArgument("the field is empty");
  const auto store = [&]<class T>() -> Status {
    T* out = to->mutable_data<T>() + at;
    if (none && spec.otherwise.initialized()) {
      *out = spec.otherwise.scalar<T>();
      return OkStatus();
    }
    if constexpr (std::is_same_v<T, std::string>) {
      *out = field;
      return OkStatus();
    } else {
      return ParseNumber(spec, field, out);
    }
  };
  switch (spec.dtype) {
    case DType::kFloat:
      return store.operator()<float>();
    case DType::kDouble:
      return store.operator()<double>();
    case DType::kInt32:
      return store.operator()<int32_t>();
    case DType::kInt64:
      return store.operator()<int64_t>();
    default:
      return store.operator()<std::string>();
  }
}

Result<Element> ParseRecord(const std::vector<ColumnSpec>& columns, const CsvRecord& record) {
  Element element;
  for (const ColumnSpec& spec : columns) {
    const int count = std::max(spec.count, 1);
    TRY_ASSIGN(Tensor tensor, Tensor::Make(HostAllocator(), spec.dtype,
                                           spec.count == 0 ? Shape() : Shape{spec.count}));
    for (int i = 0; i < count; ++i) {
      const size_t column = static_cast<size_t>(spec.index) + static_cast<size_t>(i);
      if (column >= record.fields.size())
        return InvalidArgument("expected a column {}, got {} columns", column,
                               record.fields.size());
      Status stored = Store(spec, record.fields[column], i, &tensor);
      if (!stored.ok()) return stored.Annotate(Format("column {}", column));
    }
    element.push_back(std::move(tensor));
  }
  return element;
}

class CsvCursor final : public Cursor {
 public:
  CsvCursor(CsvReader reader, CsvOptions options, std::vector<ColumnSpec> columns, Pass pass)
      : reader_(std::move(reader)),
        options_(options),
        columns_(std::move(columns)),
        pass_(std::move(pass)) {}

  // Finds the columns that have a name.
  Status ReadHeader() {
    if (!options_.header) return OkStatus();
    CsvRecord header;
    Result<bool> more = reader_.Next(&header);
    if (!more.ok()) return more.status().Annotate(reader_.Place(header));
    if (!*more) return InvalidArgument("{}: expected a header, got no line", reader_.path());
    for (ColumnSpec& spec : columns_) {
      if (spec.name.empty()) continue;
      spec.index = -1;
      for (size_t i = 0; i < header.fields.size(); ++i)
        if (Trim(header.fields[i]) == spec.name) spec.index = static_cast<int>(i);
      if (spec.index < 0)
        return NotFound("{}: there is no column {}", Printable(reader_.path()),
                        Printable(spec.name));
    }
    return OkStatus();
  }

  Result<bool> Next(Element* element) override {
    CsvRecord record;
    while (true) {
      TRY(pass_.CheckStop());
      const uint64_t before = reader_.offset();
      Result<bool> more = reader_.Next(&record);
      pass_.counters->bytes += static_cast<int64_t>(reader_.offset() - before);
      // What the file itself cannot give (DataLoss of its compression) is no record's fault.
      if (!more.ok() && more.status().code() != Code::kInvalidArgument) return more.status();
      if (more.ok() && !*more) return false;
      Result<Element> parsed = more.ok() ? ParseRecord(columns_, record) : more.status();
      if (parsed.ok()) {
        *element = *std::move(parsed);
        return true;
      }
      TRY(BadRecord(options_.on_bad, parsed.status().Annotate(reader_.Place(record)),
                    *pass_.counters));
    }
  }

 private:
  CsvReader reader_;
  const CsvOptions options_;
  std::vector<ColumnSpec> columns_;
  const Pass pass_;
};

class CsvFile final : public Stage {
 public:
  CsvFile(std::string path, CsvOptions options, std::vector<ColumnSpec> columns)
      : path_(std::move(path)), options_(options), columns_(std::move(columns)) {}

  Result<std::unique_ptr<Cursor>> Open(const Pass& pass) const override {
    TRY_ASSIGN(io::InputStream stream, io::OpenAny(path_));
    auto cursor = std::make_unique<CsvCursor>(CsvReader(std::move(stream), options_.delimiter),
                                              options_, columns_, pass);
    TRY(cursor->ReadHeader());
    return std::unique_ptr<Cursor>(std::move(cursor));
  }
  std::string Describe() const override { return path_; }

 private:
  const std::string path_;
  const CsvOptions options_;
  const std::vector<ColumnSpec> columns_;
};

}  // namespace

StagePtr CsvStage(std::string path, CsvOptions options, std::vector<ColumnSpec> columns) {
  constexpr int kMaxColumns = 1 << 20;
  if (columns.empty()) throw Error(InvalidArgument("Csv: there must be a column to read"));
  for (const ColumnSpec& spec : columns) {
    if (!InRange(spec.index, kMaxColumns) || !InRange(spec.count, kMaxColumns))
      throw Error(InvalidArgument("Csv: there is no column {} of {}", spec.index, spec.count));
    if (!spec.name.empty() && !options.header)
      throw Error(InvalidArgument("Csv: column {} has a name, but the file no header",
                                  Printable(spec.name)));
  }
  return std::make_shared<CsvFile>(std::move(path), options, std::move(columns));
}

}  // namespace penstock::data
