#pragma once

#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/queue/handle_form.h"
#include "penstock/ops/readers/work_reader.h"

// Readers: they take the names of files from a queue and give their records, one a step.

namespace penstock::ops {

Result<std::unique_ptr<Kernel>> MakeReaderKernel(const KernelRequest& request, WorkOpener open,
                                                 const std::string& container,
                                                 const std::string& shared_name);
Result<std::unique_ptr<Kernel>> MakeReadKernel(bool many);
Result<WorkOpener> CheckedRecordOpener(const std::string& compression_type);
Result<WorkOpener> CheckedFixedLengthOpener(int64_t header, int64_t record, int64_t footer,
                                            int64_t hop, const std::string& encoding);
Status ComputeReaderCount(CpuContext& context, const Tensor& handle, bool units, int64_t* count);
Status ResetReader(CpuContext& context, const Tensor& handle);

// What the ops that make a reader share.
struct ReaderMaker {
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  std::string container;
  std::string shared_name;
  static constexpr std::tuple kReaderAttrs{Field{"container", &ReaderMaker::container},
                                           Field{"shared_name", &ReaderMaker::shared_name}};
};
template <class Op>
Result<std::unique_ptr<Kernel>> MakeReader(const KernelRequest& request) {
  const Op& op = static_cast<const op_internal::Decoded<Op>*>(request.op.get())->op;
  TRY_ASSIGN(WorkOpener open, op.Opener());
  return MakeReaderKernel(request, std::move(open), op.container, op.shared_name);
}

template <FixedString Name, class Form, WorkOpener (*kOpener)()>
struct PlainReaderOp : ReaderMaker {
  static constexpr auto kName = Name.view();
  using Sig = Signature<typename Form::template Output<"reader_handle">>;
  static constexpr std::tuple kAttrs = kReaderAttrs;
  Result<Shape> InferShape() const { return Form::HandleShape(); }
  Result<WorkOpener> Opener() const { return kOpener(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeReader<PlainReaderOp>(request);
  }
};
using IdentityReader = PlainReaderOp<"IdentityReader", ByReference, &IdentityOpener>;
using IdentityReaderV2 = PlainReaderOp<"IdentityReaderV2", ByResource, &IdentityOpener>;
using WholeFileReader = PlainReaderOp<"WholeFileReader", ByReference, &WholeFileOpener>;
using WholeFileReaderV2 = PlainReaderOp<"WholeFileReaderV2", ByResource, &WholeFileOpener>;

template <FixedString Name, class Form>
struct TextLineReaderOp : ReaderMaker {
  static constexpr auto kName = Name.view();
  int64_t skip_header_lines = 0;
  using Sig = Signature<typename Form::template Output<"reader_handle">>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kReaderAttrs, std::tuple{Field{"skip_header_lines", &TextLineReaderOp::skip_header_lines}});
  Result<Shape> InferShape() const { return Form::HandleShape(); }
  Result<WorkOpener> Opener() const {
    if (skip_header_lines >= 0) return TextLineOpener(skip_header_lines);
    return InvalidArgument("skip_header_lines must be >= 0 not {}", skip_header_lines);
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeReader<TextLineReaderOp>(request);
  }
};
using TextLineReader = TextLineReaderOp<"TextLineReader", ByReference>;
using TextLineReaderV2 = TextLineReaderOp<"TextLineReaderV2", ByResource>;

template <FixedString Name, class Form>
struct TFRecordReaderOp : ReaderMaker {
  static constexpr auto kName = Name.view();
  std::string compression_type;
  using Sig = Signature<typename Form::template Output<"reader_handle">>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kReaderAttrs, std::tuple{Field{"compression_type", &TFRecordReaderOp::compression_type}});
  Result<Shape> InferShape() const { return Form::HandleShape(); }
  Result<WorkOpener> Opener() const { return CheckedRecordOpener(compression_type); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeReader<TFRecordReaderOp>(request);
  }
};
using TFRecordReader = TFRecordReaderOp<"TFRecordReader", ByReference>;
using TFRecordReaderV2 = TFRecordReaderOp<"TFRecordReaderV2", ByResource>;

struct FixedLengthRecordReader : ReaderMaker {
  static constexpr auto kName = "FixedLengthRecordReader";
  int64_t header_bytes = 0;
  int64_t record_bytes = 0;
  int64_t footer_bytes = 0;
  int64_t hop_bytes = 0;
  using Sig = Signature<ByReference::Output<"reader_handle">>;
  static constexpr std::tuple kLayoutAttrs = std::tuple_cat(
      kReaderAttrs,
      std::tuple{Field{"header_bytes", &FixedLengthRecordReader::header_bytes},
                 Field{"record_bytes", &FixedLengthRecordReader::record_bytes}.Required(),
                 Field{"footer_bytes", &FixedLengthRecordReader::footer_bytes},
                 Field{"hop_bytes", &FixedLengthRecordReader::hop_bytes}});
  static constexpr std::tuple kAttrs = kLayoutAttrs;
  Result<Shape> InferShape() const { return ByReference::HandleShape(); }
  Result<WorkOpener> Opener() const {
    return CheckedFixedLengthOpener(header_bytes, record_bytes, footer_bytes, hop_bytes, "");
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeReader<FixedLengthRecordReader>(request);
  }
};

struct FixedLengthRecordReaderV2 : FixedLengthRecordReader {
  static constexpr auto kName = "FixedLengthRecordReaderV2";
  std::string encoding;
  using Sig = Signature<ByResource::Output<"reader_handle">>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kLayoutAttrs, std::tuple{Field{"encoding", &FixedLengthRecordReaderV2::encoding}});
  Result<Shape> InferShape() const { return ByResource::HandleShape(); }
  Result<WorkOpener> Opener() const {
    return CheckedFixedLengthOpener(header_bytes, record_bytes, footer_bytes, hop_bytes, encoding);
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeReader<FixedLengthRecordReaderV2>(request);
  }
};

// The next record of the reader, which takes a file from the queue when it has none.
template <FixedString Name, class Form>
struct ReaderReadOp {
  static constexpr auto kName = Name.view();
  static constexpr bool kStateful = Form::kStatefulAccess;
  static constexpr bool kAsync = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<typename Form::template Input<"reader_handle">,
                        typename Form::template Input<"queue_handle">, Out<"key", std::string>,
                        Out<"value", std::string>>;
  Result<Shape> InferShape(const Shape&, const Shape&) const { return Shape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest&) {
    return MakeReadKernel(false);
  }
};
using ReaderRead = ReaderReadOp<"ReaderRead", ByReference>;
using ReaderReadV2 = ReaderReadOp<"ReaderReadV2", ByResource>;

template <FixedString Name, class Form>
struct ReaderReadUpToOp {
  static constexpr auto kName = Name.view();
  static constexpr bool kStateful = Form::kStatefulAccess;
  static constexpr bool kAsync = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<typename Form::template Input<"reader_handle">,
                        typename Form::template Input<"queue_handle">, In<"num_records", int64_t>,
                        Out<"keys", std::string>, Out<"values", std::string>>;
  Result<Shape> InferShape(const Shape&, const Shape&, const Shape& num_records) const {
    TRY(CheckScalar(num_records, "num_records"));
    return Shape{-1};
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest&) {
    return MakeReadKernel(true);
  }
};
using ReaderReadUpTo = ReaderReadUpToOp<"ReaderReadUpTo", ByReference>;
using ReaderReadUpToV2 = ReaderReadUpToOp<"ReaderReadUpToV2", ByResource>;

template <FixedString Name, FixedString Result_, class Form, bool kUnits>
struct ReaderCountOp {
  static constexpr auto kName = Name.view();
  static constexpr bool kStateful = Form::kStatefulAccess;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<typename Form::template Input<"reader_handle">, Out<Result_, int64_t>>;
  Result<Shape> InferShape(const Shape&) const { return Shape(); }
  Status ComputeCpu(CpuContext& context, const Tensor& reader_handle,
                    std::span<int64_t> count) const {
    return ComputeReaderCount(context, reader_handle, kUnits, count.data());
  }
};
using ReaderNumRecordsProduced =
    ReaderCountOp<"ReaderNumRecordsProduced", "records_produced", ByReference, false>;
using ReaderNumRecordsProducedV2 =
    ReaderCountOp<"ReaderNumRecordsProducedV2", "records_produced", ByResource, false>;
using ReaderNumWorkUnitsCompleted =
    ReaderCountOp<"ReaderNumWorkUnitsCompleted", "units_completed", ByReference, true>;
using ReaderNumWorkUnitsCompletedV2 =
    ReaderCountOp<"ReaderNumWorkUnitsCompletedV2", "units_completed", ByResource, true>;

template <FixedString Name, class Form>
struct ReaderResetOp {
  static constexpr auto kName = Name.view();
  static constexpr bool kStateful = Form::kStatefulAccess;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<typename Form::template Input<"reader_handle">>;
  Result<std::vector<Shape>> InferShape(const Shape&) const { return std::vector<Shape>(); }
  Status ComputeCpu(CpuContext& context, const Tensor& reader_handle) const {
    return ResetReader(context, reader_handle);
  }
};
using ReaderReset = ReaderResetOp<"ReaderReset", ByReference>;
using ReaderResetV2 = ReaderResetOp<"ReaderResetV2", ByResource>;

}  // namespace penstock::ops
