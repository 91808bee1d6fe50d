#pragma once

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"

// Records of comma-separated values (RFC 4180), each record a string.

namespace penstock::ops {

// A tensor for each column. A field that is empty, or `na_value`, takes the column's default; one
// without elements makes the field required.
struct DecodeCsv {
  static constexpr auto kName = "DecodeCSV";
  static constexpr bool kNoGradient = true;
  std::vector<DType> types;
  std::string field_delim = ",";
  bool use_quote_delim = true;
  std::string na_value;
  std::vector<int64_t> select_cols;
  using Sig = Signature<In<"records", std::string>, In<"record_defaults", TypeList<"OUT_TYPE">>,
                        Out<"output", TypeList<"OUT_TYPE">>>;
  static constexpr std::tuple kAttrs{Field{"OUT_TYPE", &DecodeCsv::types}.Required().Min(1).OneOf(
                                         "float|double|int32|int64|string"),
                                     Field{"field_delim", &DecodeCsv::field_delim},
                                     Field{"use_quote_delim", &DecodeCsv::use_quote_delim},
                                     Field{"na_value", &DecodeCsv::na_value},
                                     Field{"select_cols", &DecodeCsv::select_cols}};

  Status CheckAttrs() const;
  Result<std::vector<Shape>> InferShape(const Shape& records,
                                        std::span<const Known> record_defaults) const;
  Status ComputeCpu(CpuContext& context, const Tensor& records,
                    std::span<Tensor* const> record_defaults, std::span<Tensor> outputs) const;
};

}  // namespace penstock::ops
