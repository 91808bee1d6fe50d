#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/queue/handle_form.h"

// Tables that are filled from the lines of a text file.

namespace penstock::ops {

// How a line becomes a key and a value. An index is a column, or one of:
inline constexpr int64_t kWholeLine = -2;
inline constexpr int64_t kLineNumber = -1;
struct TextTableSpec {
  int64_t key_index = 0;
  int64_t value_index = 0;
  int64_t vocab_size = -1;  // how many lines count; -1: all
  std::string delimiter = "\t";
  int64_t offset = 0;  // of line numbers
};
Status FillFromTextFile(CpuContext& context, const Tensor& table, const Tensor& filename,
                        const TextTableSpec& spec);

template <FixedString Name, class Form>
struct InitializeTableFromTextFileOp : TextTableSpec {
  static constexpr auto kName = Name.view();
  static constexpr bool kStateful = Form::kStatefulAccess;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<typename Form::template Input<"table_handle">, In<"filename", std::string>>;
  static constexpr std::tuple kAttrs{
      Field{"key_index", &TextTableSpec::key_index}.Required().Min(-2),
      Field{"value_index", &TextTableSpec::value_index}.Required().Min(-2),
      Field{"vocab_size", &TextTableSpec::vocab_size}.Min(-1),
      Field{"delimiter", &TextTableSpec::delimiter}, Field{"offset", &TextTableSpec::offset}};

  Result<std::vector<Shape>> InferShape(const Shape&, const Shape& filename) const {
    TRY(CheckScalar(filename, "filename"));
    return std::vector<Shape>();
  }
  Status CheckAttrs() const {
    if (delimiter.size() == 1) return OkStatus();
    return InvalidArgument("delimiter must be only 1 char, got '{}'", Printable(delimiter));
  }
  Status ComputeCpu(CpuContext& context, const Tensor& table_handle, const Tensor& filename) const {
    return FillFromTextFile(context, table_handle, filename, *this);
  }
};
using InitializeTableFromTextFile =
    InitializeTableFromTextFileOp<"InitializeTableFromTextFile", ByReference>;
using InitializeTableFromTextFileV2 =
    InitializeTableFromTextFileOp<"InitializeTableFromTextFileV2", ByResource>;

}  // namespace penstock::ops
