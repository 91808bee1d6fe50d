#include "penstock/ops/readers/readers.h"

#include "penstock/ops/readers/reader_state.h"
#include "penstock/ops/shared_state.h"

namespace penstock::ops {
namespace {

class ReaderKernel final : public Kernel {
 public:
  ReaderKernel(std::string container, std::string name, const WorkOpener& open)
      : state_(std::move(container), std::move(name), "Reader",
               [open] { return std::make_shared<ReaderState>(open); }) {}

  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(Tensor handle, state_.GetHandle(context));
    context.SetOutput(0, std::move(handle));
    return OkStatus();
  }

 private:
  SharedState<ReaderState> state_;
};

class ReadKernel final : public WaitingKernel {
 public:
  explicit ReadKernel(bool many) : many_(many) {}

 private:
  Status Begin(KernelContext& context, Done& done) override {
    int64_t limit = 1;
    if (many_) {
      TRY(CheckScalar(context.input(2).shape(), "num_records"));
      limit = context.input(2).scalar<int64_t>();
      if (limit <= 0) return InvalidArgument("num_records must be positive, got {}", limit);
    }
    std::shared_ptr<Resource> keep_reader, keep_queue;
    TRY_ASSIGN(ReaderState * reader,
               FindShared<ReaderState>(context, context.input(0), "reader", &keep_reader));
    TRY_ASSIGN(Queue * queue, FindShared<Queue>(context, context.input(1), "queue", &keep_queue));
    reader->Read(
        context, *queue, limit,
        [this, &context, keep_queue, done = std::move(done)](Result<ReaderState::Records> records) {
          done(records.ok() ? Deliver(context, *std::move(records)) : records.status());
        });
    return OkStatus();
  }

  Status Deliver(KernelContext& context, ReaderState::Records records) const {
    const Shape shape = many_ ? Shape{static_cast<int64_t>(records.keys.size())} : Shape();
    for (const int i : {0, 1}) {
      std::vector<std::string>& texts = i == 0 ? records.keys : records.values;
      TRY_ASSIGN(Tensor tensor, context.Allocate(DType::kString, shape));
      std::move(texts.begin(), texts.end(), tensor.mutable_data<std::string>());
      context.SetOutput(i, std::move(tensor));
    }
    return OkStatus();
  }

  const bool many_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakeReaderKernel(const KernelRequest& request, WorkOpener open,
                                                 const std::string& container,
                                                 const std::string& shared_name) {
  return std::unique_ptr<Kernel>(std::make_unique<ReaderKernel>(
      container, shared_name.empty() ? request.node : shared_name, open));
}

Result<std::unique_ptr<Kernel>> MakeReadKernel(bool many) {
  return std::unique_ptr<Kernel>(std::make_unique<ReadKernel>(many));
}

Result<WorkOpener> CheckedRecordOpener(const std::string& compression_type) {
  if (compression_type.empty()) return RecordOpener();
  if (compression_type != "GZIP" && compression_type != "ZLIB")
    return InvalidArgument("unknown compression_type '{}'", Printable(compression_type));
  return Unimplemented("files that are compressed as a whole ({}) are not read", compression_type);
}

Result<WorkOpener> CheckedFixedLengthOpener(int64_t header, int64_t record, int64_t footer,
                                            int64_t hop, const std::string& encoding) {
  if (header < 0 || record <= 0 || footer < 0 || hop < 0) {
    return InvalidArgument(
        "header_bytes, footer_bytes and hop_bytes must be >= 0 and record_bytes > 0, got {}, {}, "
        "{} and {}",
        header, footer, hop, record);
  }
  if (!encoding.empty() && encoding != "ZLIB")
    return InvalidArgument("unknown encoding '{}'", Printable(encoding));
  if (!encoding.empty())
    return Unimplemented("files that are compressed as a whole ({}) are not read", encoding);
  return FixedLengthOpener(header, record, footer, hop == 0 ? record : hop);
}

Status ComputeReaderCount(CpuContext& context, const Tensor& handle, bool units, int64_t* count) {
  std::shared_ptr<Resource> keep;
  TRY_ASSIGN(ReaderState * reader, FindShared<ReaderState>(context, handle, "reader", &keep));
  *count = units ? reader->units_completed() : reader->records_produced();
  return OkStatus();
}

Status ResetReader(CpuContext& context, const Tensor& handle) {
  std::shared_ptr<Resource> keep;
  TRY_ASSIGN(ReaderState * reader, FindShared<ReaderState>(context, handle, "reader", &keep));
  reader->Reset();
  return OkStatus();
}

void RegisterReaders(Registrar& registrar) {
  registrar
      .AddAll<IdentityReader, IdentityReaderV2, WholeFileReader, WholeFileReaderV2, TextLineReader,
              TextLineReaderV2, TFRecordReader, TFRecordReaderV2, FixedLengthRecordReader,
              FixedLengthRecordReaderV2, ReaderRead, ReaderReadV2, ReaderReadUpTo, ReaderReadUpToV2,
              ReaderNumRecordsProduced, ReaderNumRecordsProducedV2, ReaderNumWorkUnitsCompleted,
              ReaderNumWorkUnitsCompletedV2, ReaderReset, ReaderResetV2>();
}

}  // namespace penstock::ops
