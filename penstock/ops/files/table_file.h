#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/queue/handle_form.h"

// A table filled from the lines of a text file.

namespace penstock::ops {

// Which column of a line; -1 is the line's number, -2 the whole line.
struct TextTableColumns {
  int64_t key_index = 0;
  int64_t value_index = 0;
  int64_t vocab_size = -1;  // lines that are read; -1: all
  std::string delimiter = "\t";
  int64_t offset = 0;  // added to the line's number
  static constexpr std::tuple kAttrs{
      Field{"key_index", &TextTableColumns::key_index}.Required().Min(-2),
      Field{"value_index", &TextTableColumns::value_index}.Required().Min(-2),
      Field{"vocab_size", &TextTableColumns::vocab_size}.Min(-1),
      Field{"delimiter", &TextTableColumns::delimiter}, Field{"offset", &TextTableColumns::offset}};

  Status CheckAttrs() const;
  Status Fill(CpuContext& context, const Tensor& handle, const Tensor& filename) const;
};

template <FixedString Name, class Form>
struct InitializeFromTextFile : TextTableColumns {
  static constexpr std::string_view kName = Name.view();
  static constexpr bool kStateful = Form::kStatefulAccess;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<typename Form::template Input<"table_handle">, In<"filename", std::string>>;

  Status ComputeCpu(CpuContext& context, const Tensor& handle, const Tensor& filename) const {
    return Fill(context, handle, filename);
  }
};
using InitializeTableFromTextFile =
    InitializeFromTextFile<"InitializeTableFromTextFile", ByReference>;
using InitializeTableFromTextFileV2 =
    InitializeFromTextFile<"InitializeTableFromTextFileV2", ByResource>;

}  // namespace penstock::ops
