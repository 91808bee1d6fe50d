#include "penstock/ops/parse/csv.h"

#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/text/numbers.h"

namespace penstock::ops {
namespace {

// Cuts records into fields.
class FieldReader {
 public:
  FieldReader(char delimiter, bool quotes) : delimiter_(delimiter), quotes_(quotes) {}

  // The fields of `record`; nothing for an empty one.
  Status Read(std::string_view record, std::vector<std::string>* fields) const {
    fields->clear();
    if (record.empty()) return OkStatus();
    size_t at = 0;
    while (true) {
      std::string& field = fields->emplace_back();
      if (quotes_ && at < record.size() && record[at] == '"') {
        TRY(ReadQuoted(record, &at, &field));
      } else {
        TRY(ReadPlain(record, &at, &field));
      }
      if (at == record.size()) return OkStatus();
      ++at;  // the delimiter; what follows is a field, though it may be empty
    }
  }

 private:
  Status ReadPlain(std::string_view record, size_t* at, std::string* field) const {
    const size_t begin = *at;
    *at = std::min(record.find(delimiter_, begin), record.size());
    const std::string_view text = record.substr(begin, *at - begin);
    if (quotes_ && text.find_first_of("\"\n\r") != std::string_view::npos)
      return InvalidArgument("Unquoted fields cannot have quotes/CRLFs inside");
    *field = text;
    return OkStatus();
  }

  Status ReadQuoted(std::string_view record, size_t* at, std::string* field) const {
    for (++*at; *at < record.size(); ++*at) {
      if (record[*at] != '"') {
        field->push_back(record[*at]);
        continue;
      }
      ++*at;
      if (*at == record.size() || record[*at] == delimiter_) return OkStatus();
      if (record[*at] != '"')
        return InvalidArgument("Quote inside a string has to be escaped by another quote");
      field->push_back('"');
    }
    return InvalidArgument("Quoted field has to end with quote followed by delim or end");
  }

  const char delimiter_;
  const bool quotes_;
};

using CsvTypes = Types<float, double, int32_t, int64_t, std::string>;

}  // namespace

Status DecodeCsv::CheckAttrs() const {
  if (field_delim.size() != 1)
    return InvalidArgument("field_delim should be only 1 char, got {}", Printable(field_delim));
  if (!select_cols.empty() && select_cols.size() != types.size())
    return InvalidArgument("select_cols should match output size: {} vs. {}", select_cols.size(),
                           types.size());
  for (size_t i = 0; i < select_cols.size(); ++i) {
    if (select_cols[i] < 0) return InvalidArgument("select_cols should be non-negative indices");
    if (i > 0 && select_cols[i] <= select_cols[i - 1])
      return InvalidArgument("select_cols should be strictly increasing indices");
  }
  return OkStatus();
}

Result<std::vector<Shape>> DecodeCsv::InferShape(const Shape& records,
                                                 std::span<const Known> record_defaults) const {
  for (size_t i = 0; i < record_defaults.size(); ++i) {
    const Shape& shape = *record_defaults[i].shape;
    if (!shape.has_rank()) continue;
    if (shape.rank() > 1) return InvalidArgument("Each record default should be at most rank 1");
    if (shape.rank() == 1 && shape.dim(0) > 1)
      return InvalidArgument("There should only be 1 default per field but field {} has {}", i,
                             shape.dim(0));
  }
  return std::vector<Shape>(record_defaults.size(), records);
}

Status DecodeCsv::ComputeCpu(CpuContext&, const Tensor& records,
                             std::span<Tensor* const> record_defaults,
                             std::span<Tensor> outputs) const {
  const FieldReader reader(field_delim[0], use_quote_delim);
  std::vector<std::string> fields;
  for (int64_t r = 0; r < records.num_elements(); ++r) {
    TRY(reader.Read(records.data<std::string>()[r], &fields));
    if (!select_cols.empty()) {
      size_t kept = 0;
      for (const int64_t column : select_cols) {
        const auto from = static_cast<size_t>(column);
        if (from >= fields.size()) break;
        if (from != kept) fields[kept] = std::move(fields[from]);
        ++kept;
      }
      fields.resize(kept);
    }
    if (fields.size() != outputs.size())
      return InvalidArgument("Expect {} fields but have {} in record {}", outputs.size(),
                             fields.size(), r);
    for (size_t f = 0; f < fields.size(); ++f) {
      TRY(ForDType(types[f], CsvTypes(), [&]<class T>() -> Status {
        T& to = outputs[f].mutable_data<T>()[r];
        if (fields[f].empty() || fields[f] == na_value) {
          if (record_defaults[f]->num_elements() != 1)
            return InvalidArgument("Field {} is required but missing in record {}!", f, r);
          to = *record_defaults[f]->data<T>();
        } else if constexpr (std::is_same_v<T, std::string>) {
          to = std::move(fields[f]);
        } else if (!ParseNumber(fields[f], &to)) {
          return InvalidArgument("Field {} in record {} is not a valid {}: {}", f, r, types[f],
                                 Printable(fields[f]));
        }
        return OkStatus();
      }));
    }
  }
  return OkStatus();
}

void RegisterCsv(Registrar& registrar) { registrar.Add<DecodeCsv>(); }

}  // namespace penstock::ops
