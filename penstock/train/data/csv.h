#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "penstock/train/data/bad_record.h"
#include "penstock/train/data/dataset.h"

// Files of comma-separated values (RFC 4180), plain or compressed by gzip.

namespace penstock {

struct CsvOptions {
  bool header = false;  // the first record names the columns
  char delimiter = ',';
  OnBadRecord on_bad = OnBadRecord::kFail;
};

// A column that is read, or several side by side as one vector. Values are float, double, int32_t,
// int64_t or std::string.
template <class T>
struct Column {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> ||
                    std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t> ||
                    std::is_same_v<T, std::string>,
                "a column is float, double, int32_t, int64_t or std::string");
  int index = 0;
  std::string name = {};            // as the header has it; then index is of no account
  int count = 0;                    // 0: a scalar; else a vector of so many columns from there on
  std::optional<T> otherwise = {};  // for empty fields; without it they are bad
  int64_t limit = 0;                // integers must lie in [0, limit); 0: need not
};

namespace data {

struct ColumnSpec {
  int index = 0;
  std::string name;
  int count = 0;
  DType dtype = DType::kInvalid;
  Tensor otherwise;  // not initialized: none
  int64_t limit = 0;
};

StagePtr CsvStage(std::string path, CsvOptions options, std::vector<ColumnSpec> columns);

template <class T>
ColumnSpec SpecOf(const Column<T>& column) {
  return {column.index,
          column.name,
          column.count,
          kDTypeOf<T>,
          column.otherwise ? Tensor::Scalar<T>(*column.otherwise) : Tensor(),
          column.limit};
}

}  // namespace data

// An element for each record of the file.
//
//   Csv("iris.csv", {.header = true}, Column<float>{.count = 4}, Column<int32_t>{.index = 4})
template <class... Ts>
DatasetOf<Ts...> Csv(std::string path, CsvOptions options, const Column<Ts>&... columns) {
  return DatasetOf<Ts...>(data::CsvStage(std::move(path), options, {data::SpecOf(columns)...}));
}

}  // namespace penstock
