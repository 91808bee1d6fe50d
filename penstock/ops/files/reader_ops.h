#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/files/record_source.h"
#include "penstock/ops/op_kernel.h"
#include "penstock/ops/queue/handle_form.h"

// The nodes that stand for readers, and what others do with one. Each op in both forms of its
// handle.

namespace penstock::ops {

Result<std::unique_ptr<Kernel>> MakeReaderKernel(const KernelRequest& request, MakeSource make,
                                                 const std::string& container,
                                                 const std::string& shared_name);

// What all readers have. Op is the struct itself, whose Source() makes its sources.
template <FixedString Name, class Form>
struct ReaderNode {
  static constexpr std::string_view kName = Name.view();
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  std::string container;
  std::string shared_name;
  using Sig = Signature<typename Form::template Output<"reader_handle">>;
  static constexpr std::tuple kAttrs{Field{"container", &ReaderNode::container},
                                     Field{"shared_name", &ReaderNode::shared_name}};
};
template <class Op>
Result<std::unique_ptr<Kernel>> MakeReaderOf(const KernelRequest& request) {
  const auto& op = static_cast<const op_internal::Decoded<Op>*>(request.op.get())->op;
  TRY_ASSIGN(MakeSource make, op.Source());
  return MakeReaderKernel(request, std::move(make), op.container, op.shared_name);
}

template <FixedString Name, class Form, MakeSource (*Make)()>
struct PlainReaderOp : ReaderNode<Name, Form> {
  Result<Shape> InferShape() const { return Form::HandleShape(); }
  Result<MakeSource> Source() const { return Make(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeReaderOf<PlainReaderOp>(request);
  }
};

template <FixedString Name, class Form>
struct TextLineReaderOp : ReaderNode<Name, Form> {
  int64_t skip_header_lines = 0;
  static constexpr std::tuple kAttrs =
      std::tuple_cat(ReaderNode<Name, Form>::kAttrs,
                     std::tuple{Field{"skip_header_lines", &TextLineReaderOp::skip_header_lines}});

  Result<Shape> InferShape() const { return Form::HandleShape(); }
  Result<MakeSource> Source() const {
    if (skip_header_lines < 0)
      return InvalidArgument("skip_header_lines must be >= 0 not {}", skip_header_lines);
    return TextLineSource(skip_header_lines);
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeReaderOf<TextLineReaderOp>(request);
  }
};

template <FixedString Name, class Form>
struct TfRecordReaderOp : ReaderNode<Name, Form> {
  std::string compression_type;
  static constexpr std::tuple kAttrs =
      std::tuple_cat(ReaderNode<Name, Form>::kAttrs,
                     std::tuple{Field{"compression_type", &TfRecordReaderOp::compression_type}});

  Result<Shape> InferShape() const { return Form::HandleShape(); }
  Result<MakeSource> Source() const {
    const auto compression = io::ParseCompression(compression_type);
    if (!compression.has_value())
      return InvalidArgument("compression_type must be '', ZLIB or GZIP, got {}",
                             Printable(compression_type));
    return TfRecordSource(*compression);
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeReaderOf<TfRecordReaderOp>(request);
  }
};

template <FixedString Name, class Form>
struct FixedLengthAttrs : ReaderNode<Name, Form> {
  int64_t header_bytes = 0;
  int64_t record_bytes = 0;
  int64_t footer_bytes = 0;
  int64_t hop_bytes = 0;
  static constexpr std::tuple kAttrs =
      std::tuple_cat(ReaderNode<Name, Form>::kAttrs,
                     std::tuple{Field{"header_bytes", &FixedLengthAttrs::header_bytes},
                                Field{"record_bytes", &FixedLengthAttrs::record_bytes}.Required(),
                                Field{"footer_bytes", &FixedLengthAttrs::footer_bytes},
                                Field{"hop_bytes", &FixedLengthAttrs::hop_bytes}});

  Result<MakeSource> SourceOf(const std::string& encoding) const {
    const auto compression = io::ParseCompression(encoding);
    if (!compression.has_value())
      return InvalidArgument("encoding must be '', ZLIB or GZIP, got {}", Printable(encoding));
    const FixedLengthSpec spec{header_bytes, record_bytes, footer_bytes, hop_bytes, *compression};
    TRY(spec.Check());
    return FixedLengthSource(spec);
  }
};
struct FixedLengthRecordReader : FixedLengthAttrs<"FixedLengthRecordReader", ByReference> {
  Result<Shape> InferShape() const { return ByReference::HandleShape(); }
  Result<MakeSource> Source() const { return SourceOf(""); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeReaderOf<FixedLengthRecordReader>(request);
  }
};
struct FixedLengthRecordReaderV2 : FixedLengthAttrs<"FixedLengthRecordReaderV2", ByResource> {
  std::string encoding;
  static constexpr std::tuple kAttrs =
      std::tuple_cat(FixedLengthAttrs<"FixedLengthRecordReaderV2", ByResource>::kAttrs,
                     std::tuple{Field{"encoding", &FixedLengthRecordReaderV2::encoding}});
  Result<Shape> InferShape() const { return ByResource::HandleShape(); }
  Result<MakeSource> Source() const { return SourceOf(encoding); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeReaderOf<FixedLengthRecordReaderV2>(request);
  }
};

using TextLineReader = TextLineReaderOp<"TextLineReader", ByReference>;
using TextLineReaderV2 = TextLineReaderOp<"TextLineReaderV2", ByResource>;
using TfRecordReader = TfRecordReaderOp<"TFRecordReader", ByReference>;
using TfRecordReaderV2 = TfRecordReaderOp<"TFRecordReaderV2", ByResource>;
using WholeFileReader = PlainReaderOp<"WholeFileReader", ByReference, WholeFileSource>;
using WholeFileReaderV2 = PlainReaderOp<"WholeFileReaderV2", ByResource, WholeFileSource>;
using IdentityReader = PlainReaderOp<"IdentityReader", ByReference, IdentitySource>;
using IdentityReaderV2 = PlainReaderOp<"IdentityReaderV2", ByResource, IdentitySource>;

// ---- what is done with a reader ----

Result<std::unique_ptr<Kernel>> MakeReaderReadKernel(bool up_to);
enum class ReaderCount { kRecords, kWorkUnits };
Status ComputeReaderCount(CpuContext& context, const Tensor& handle, ReaderCount what,
                          int64_t* count);
Status ComputeReaderReset(CpuContext& context, const Tensor& handle);
Status ComputeReaderSerialize(CpuContext& context, const Tensor& handle, std::string* state);
Status ComputeReaderRestore(CpuContext& context, const Tensor& handle, const std::string& state);

template <FixedString Name, class Form>
struct ReaderCall {
  static constexpr std::string_view kName = Name.view();
  static constexpr bool kStateful = Form::kStatefulAccess;
  static constexpr bool kNoGradient = true;
};

template <FixedString Name, class Form>
struct ReaderReadOp : ReaderCall<Name, Form> {
  static constexpr bool kAsync = true;
  using Sig = Signature<typename Form::template Input<"reader_handle">,
                        typename Form::template Input<"queue_handle">, Out<"key", std::string>,
                        Out<"value", std::string>>;
  Result<Shape> InferShape(const Shape&, const Shape&) const { return Shape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest&) {
    return MakeReaderReadKernel(false);
  }
};

template <FixedString Name, class Form>
struct ReaderReadUpToOp : ReaderCall<Name, Form> {
  static constexpr bool kAsync = true;
  using Sig = Signature<typename Form::template Input<"reader_handle">,
                        typename Form::template Input<"queue_handle">, In<"num_records", int64_t>,
                        Out<"keys", std::string>, Out<"values", std::string>>;
  Result<Shape> InferShape(const Shape&, const Shape&, const Shape& num_records) const {
    TRY(CheckScalar(num_records, "num_records"));
    return Shape{Shape::kUnknownDim};
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest&) {
    return MakeReaderReadKernel(true);
  }
};

template <FixedString Name, FixedString Output, class Form, ReaderCount What>
struct ReaderCountOp : ReaderCall<Name, Form> {
  using Sig = Signature<typename Form::template Input<"reader_handle">, Out<Output, int64_t>>;
  Result<Shape> InferShape(const Shape&) const { return Shape(); }
  Status ComputeCpu(CpuContext& context, const Tensor& handle, std::span<int64_t> count) const {
    return ComputeReaderCount(context, handle, What, count.data());
  }
};

template <FixedString Name, class Form>
struct ReaderResetOp : ReaderCall<Name, Form> {
  using Sig = Signature<typename Form::template Input<"reader_handle">>;
  Status ComputeCpu(CpuContext& context, const Tensor& handle) const {
    return ComputeReaderReset(context, handle);
  }
};

template <FixedString Name, class Form>
struct ReaderSerializeOp : ReaderCall<Name, Form> {
  using Sig = Signature<typename Form::template Input<"reader_handle">, Out<"state", std::string>>;
  Result<Shape> InferShape(const Shape&) const { return Shape(); }
  Status ComputeCpu(CpuContext& context, const Tensor& handle, Tensor& state) const {
    return ComputeReaderSerialize(context, handle, state.mutable_data<std::string>());
  }
};

template <FixedString Name, class Form>
struct ReaderRestoreOp : ReaderCall<Name, Form> {
  using Sig = Signature<typename Form::template Input<"reader_handle">, In<"state", std::string>>;
  Status ComputeCpu(CpuContext& context, const Tensor& handle, const Tensor& state) const {
    TRY(CheckScalar(state.shape(), "state"));
    return ComputeReaderRestore(context, handle, state.scalar<std::string>());
  }
};

using ReaderRead = ReaderReadOp<"ReaderRead", ByReference>;
using ReaderReadV2 = ReaderReadOp<"ReaderReadV2", ByResource>;
using ReaderReadUpTo = ReaderReadUpToOp<"ReaderReadUpTo", ByReference>;
using ReaderReadUpToV2 = ReaderReadUpToOp<"ReaderReadUpToV2", ByResource>;
using ReaderNumRecordsProduced = ReaderCountOp<"ReaderNumRecordsProduced", "records_produced",
                                               ByReference, ReaderCount::kRecords>;
using ReaderNumRecordsProducedV2 = ReaderCountOp<"ReaderNumRecordsProducedV2", "records_produced",
                                                 ByResource, ReaderCount::kRecords>;
using ReaderNumWorkUnitsCompleted = ReaderCountOp<"ReaderNumWorkUnitsCompleted", "units_completed",
                                                  ByReference, ReaderCount::kWorkUnits>;
using ReaderNumWorkUnitsCompletedV2 =
    ReaderCountOp<"ReaderNumWorkUnitsCompletedV2", "units_completed", ByResource,
                  ReaderCount::kWorkUnits>;
using ReaderReset = ReaderResetOp<"ReaderReset", ByReference>;
using ReaderResetV2 = ReaderResetOp<"ReaderResetV2", ByResource>;
using ReaderSerializeState = ReaderSerializeOp<"ReaderSerializeState", ByReference>;
using ReaderSerializeStateV2 = ReaderSerializeOp<"ReaderSerializeStateV2", ByResource>;
using ReaderRestoreState = ReaderRestoreOp<"ReaderRestoreState", ByReference>;
using ReaderRestoreStateV2 = ReaderRestoreOp<"ReaderRestoreStateV2", ByResource>;

}  // namespace penstock::ops
