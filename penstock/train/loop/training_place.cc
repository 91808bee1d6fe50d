#include "penstock/train/loop/training_place.h"

#include "penstock/client/build_scope.h"
#include "penstock/client/constant.h"

namespace penstock {
namespace {

constexpr char kPosition[] = "training/position";
constexpr char kStreams[] = "training/random_streams";

Result<Tensor> Find(const NamedTensors& tensors, const std::string& name, DType dtype,
                    const Shape& shape) {
  for (const auto& [other, tensor] : tensors) {
    if (other != name) continue;
    if (tensor.dtype() == dtype && tensor.shape() == shape) return tensor;
    return InvalidArgument("{} must be {} of shape {}, got {} of shape {}", name, dtype, shape,
                           tensor.dtype(), tensor.shape());
  }
  return NotFound("there is no {}", name);
}

Output<std::string> AddRead(Graph& graph) {
  const Scope scope = BuildScope::Current(graph, CallSite{});
  const Expr read = scope.Add("_ReadRandomStreams", {}, {}, "training/read_streams");
  OrThrow(scope.status());
  return {graph, read.ref()};
}

Operation AddWrite(Graph& graph, const Output<std::string>& state) {
  const Scope scope = BuildScope::Current(graph, CallSite{});
  NodeSpec spec{.op = "_WriteRandomStreams", .name = "training/write_streams"};
  spec.inputs = {state.ref()};
  return Operation(graph, OrThrow(scope.AddNode(std::move(spec))));
}

}  // namespace

NamedTensors TrainingPlace::ToTensors() const {
  return {{kPosition, Tensor::FromValues<int64_t>({3}, {step, position.epoch, position.batch})},
          {kStreams, Tensor::Scalar(random_streams)}};
}

Result<TrainingPlace> TrainingPlace::FromTensors(const NamedTensors& tensors) {
  TRY_ASSIGN(const Tensor position, Find(tensors, kPosition, DType::kInt64, {3}));
  TRY_ASSIGN(const Tensor streams, Find(tensors, kStreams, DType::kString, Shape()));
  for (const int64_t number : position.values<int64_t>())
    if (number < 0) return InvalidArgument("{} must not be negative, got {}", kPosition, number);
  const int64_t* at = position.data<int64_t>();
  return TrainingPlace{at[0], {at[1], at[2]}, streams.scalar<std::string>()};
}

std::vector<std::string> TrainingPlace::Names() { return {kPosition, kStreams}; }

RandomStreamState::RandomStreamState(Graph& graph)
    : read_(AddRead(graph)),
      fed_(Placeholder<std::string>(graph, Shape(), "training/streams")),
      write_(AddWrite(graph, fed_)) {}

std::string RandomStreamState::Take(Session& session) const { return session.Run(read_)[0]; }

void RandomStreamState::Put(Session& session, const std::string& state) const {
  session.Run({{fed_, state}}, write_);
}

}  // namespace penstock
