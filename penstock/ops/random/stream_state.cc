#include "penstock/ops/random/stream_state.h"

#include "penstock/io/wire_reader.h"
#include "penstock/io/wire_writer.h"

namespace penstock::ops {
namespace {

using kernels::Philox;
using Positions = std::map<std::string, Philox>;

bool ParseStream(std::string_view bytes, Positions* positions) {
  std::string name;
  uint64_t numbers[3] = {};
  io::WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.Is(1, io::WireReader::kBytes)) name = reader.bytes();
    for (uint32_t i = 0; i < 3; ++i)
      if (reader.Is(2 + i, io::WireReader::kVarint)) numbers[i] = reader.number();
  }
  positions->insert_or_assign(std::move(name), Philox(numbers[0], numbers[1], numbers[2]));
  return reader.ok();
}

class StreamStateKernel : public Kernel {
 protected:
  Result<std::shared_ptr<RandomStreams>> Streams(KernelContext& context) {
    return streams_.Get(context);
  }

 private:
  SharedState<RandomStreams> streams_{RandomStreams::kContainer, RandomStreams::kResourceName,
                                      "RandomStreams",
                                      [] { return std::make_shared<RandomStreams>(); }};
};

class ReadKernel final : public StreamStateKernel {
 public:
  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(const std::shared_ptr<RandomStreams> streams, Streams(context));
    TRY(context.AllocateOutput(0, DType::kString, Shape()));
    *context.output(0).mutable_data<std::string>() = SerializePositions(streams->Positions());
    return OkStatus();
  }
};

class WriteKernel final : public StreamStateKernel {
 public:
  Status Compute(KernelContext& context) override {
    if (context.input(0).num_elements() != 1)
      return InvalidArgument("state must be a scalar, got shape {}", context.input(0).shape());
    TRY_ASSIGN(const Positions positions, ParsePositions(context.input(0).scalar<std::string>()));
    TRY_ASSIGN(const std::shared_ptr<RandomStreams> streams, Streams(context));
    streams->SetPositions(positions);
    return OkStatus();
  }
};

}  // namespace

std::string SerializePositions(const Positions& positions) {
  io::WireWriter state;
  for (const auto& [name, next] : positions) {
    io::WireWriter stream;
    stream.Bytes(1, name).Varint(2, next.key());
    stream.Varint(3, next.counter_low()).Varint(4, next.counter_high());
    state.Bytes(1, stream.text());
  }
  return state.text();
}

Result<Positions> ParsePositions(std::string_view state) {
  Positions positions;
  io::WireReader reader(state);
  while (reader.Next()) {
    if (reader.Is(1, io::WireReader::kBytes) && !ParseStream(reader.bytes(), &positions))
      return DataLoss("{} bytes are no state of random streams", state.size());
  }
  if (!reader.ok()) return DataLoss("{} bytes are no state of random streams", state.size());
  return positions;
}

Result<std::unique_ptr<Kernel>> ReadRandomStreams::MakeCpuKernel(const KernelRequest&) {
  return std::unique_ptr<Kernel>(std::make_unique<ReadKernel>());
}

Result<std::vector<Shape>> WriteRandomStreams::InferShape(const Shape& state) const {
  TRY(CheckScalar(state, "state"));
  return std::vector<Shape>();
}

Result<std::unique_ptr<Kernel>> WriteRandomStreams::MakeCpuKernel(const KernelRequest&) {
  return std::unique_ptr<Kernel>(std::make_unique<WriteKernel>());
}

void RegisterRandomStreamState(Registrar& registrar) {
  registrar.AddAll<ReadRandomStreams, WriteRandomStreams>();
}

}  // namespace penstock::ops
