#include "penstock/ops/files/reader_ops.h"

#include <utility>
#include <vector>

#include "penstock/ops/files/reader.h"
#include "penstock/ops/shared_state.h"

namespace penstock::ops {
namespace {

class ReaderKernel final : public Kernel {
 public:
  ReaderKernel(std::string container, std::string name, std::string shown, MakeSource make)
      : reader_(std::move(container), std::move(name), Reader::kKind,
                [shown, make] { return std::make_shared<Reader>(shown, make); }) {}

  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(Tensor handle, reader_.GetHandle(context));
    context.SetOutput(0, std::move(handle));
    return OkStatus();
  }

 private:
  SharedState<Reader> reader_;
};

// The resource behind a handle, owned.
template <class R>
Result<std::shared_ptr<R>> Owned(KernelContext& context, const Tensor& handle,
                                 std::string_view what) {
  std::shared_ptr<Resource> keep;
  TRY_ASSIGN(R* const found, FindShared<R>(context, handle, what, &keep));
  return std::static_pointer_cast<R>(found->shared_from_this());
}

class ReadKernel final : public WaitingKernel {
 public:
  explicit ReadKernel(bool up_to) : up_to_(up_to) {}

 private:
  Status Begin(KernelContext& context, Done& done) override {
    TRY_ASSIGN(const std::shared_ptr<Reader> reader,
               Owned<Reader>(context, context.input(0), "reader"));
    TRY_ASSIGN(std::shared_ptr<Queue> queue, Owned<Queue>(context, context.input(1), "queue"));
    if (queue->spec().dtypes != std::vector<DType>{DType::kString})
      return InvalidArgument("the queue of a reader must have one component of type string, got {}",
                             ToString(queue->spec().dtypes));
    if (!up_to_) {
      reader->Read(context, std::move(queue), std::move(done));
      return OkStatus();
    }
    TRY(CheckScalar(context.input(2).shape(), "num_records"));
    const int64_t n = context.input(2).scalar<int64_t>();
    if (n <= 0) return InvalidArgument("num_records must be positive, got {}", n);
    reader->ReadUpTo(context, std::move(queue), n, std::move(done));
    return OkStatus();
  }

  const bool up_to_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakeReaderKernel(const KernelRequest& request, MakeSource make,
                                                 const std::string& container,
                                                 const std::string& shared_name) {
  return std::unique_ptr<Kernel>(
      std::make_unique<ReaderKernel>(container, shared_name.empty() ? request.node : shared_name,
                                     ShownName(shared_name, request.node), std::move(make)));
}

Result<std::unique_ptr<Kernel>> MakeReaderReadKernel(bool up_to) {
  return std::unique_ptr<Kernel>(std::make_unique<ReadKernel>(up_to));
}

Status ComputeReaderCount(CpuContext& context, const Tensor& handle, ReaderCount what,
                          int64_t* count) {
  TRY_ASSIGN(const std::shared_ptr<Reader> reader, Owned<Reader>(context, handle, "reader"));
  *count = what == ReaderCount::kRecords ? reader->NumRecordsProduced()
                                         : reader->NumWorkUnitsCompleted();
  return OkStatus();
}

Status ComputeReaderReset(CpuContext& context, const Tensor& handle) {
  TRY_ASSIGN(const std::shared_ptr<Reader> reader, Owned<Reader>(context, handle, "reader"));
  reader->Reset();
  return OkStatus();
}

Status ComputeReaderSerialize(CpuContext& context, const Tensor& handle, std::string* state) {
  TRY_ASSIGN(const std::shared_ptr<Reader> reader, Owned<Reader>(context, handle, "reader"));
  *state = reader->SerializeState();
  return OkStatus();
}

Status ComputeReaderRestore(CpuContext& context, const Tensor& handle, const std::string& state) {
  TRY_ASSIGN(const std::shared_ptr<Reader> reader, Owned<Reader>(context, handle, "reader"));
  return reader->RestoreState(state);
}

void RegisterReaders(Registrar& registrar) {
  registrar.AddAll<TextLineReader, TextLineReaderV2, FixedLengthRecordReader,
                   FixedLengthRecordReaderV2, TfRecordReader, TfRecordReaderV2, WholeFileReader,
                   WholeFileReaderV2, IdentityReader, IdentityReaderV2>();
  registrar
      .AddAll<ReaderRead, ReaderReadV2, ReaderReadUpTo, ReaderReadUpToV2, ReaderNumRecordsProduced,
              ReaderNumRecordsProducedV2, ReaderNumWorkUnitsCompleted,
              ReaderNumWorkUnitsCompletedV2, ReaderReset, ReaderResetV2, ReaderSerializeState,
              ReaderSerializeStateV2, ReaderRestoreState, ReaderRestoreStateV2>();
}

}  // namespace penstock::ops
