#include "penstock/ops/add_n.h"

#include <algorithm>
#include <cstring>

#include "penstock/ops/collections/tensor_list_value.h"
#include "penstock/ops/elementwise.h"

namespace penstock::ops {
namespace {

Result<Shape> MergeAll(Shape shape, std::span<const Known> inputs) {
  for (const Known& input : inputs) {
    TRY_ASSIGN(shape, MergeShapes(shape, *input.shape));
  }
  return shape;
}

void PassToAll(Gradients& g) {
  for (int i = 0; i < g.num_inputs(); ++i) g.Set(i, g.dy());
}

// Adds from first to last, a tile at a time: partial sums stay in the cache, and `sum` may be any
// of the inputs.
Status Accumulate(CpuContext& context, std::span<Tensor* const> inputs, Tensor& sum) {
  constexpr int64_t kTileBytes = 4096;
  const ElementwiseBlock* block = StandardElementwise().Find("AddV2", sum.dtype());
  if (block == nullptr) return Unimplemented("there is no CPU kernel to add {}", sum.dtype());
  if (inputs.size() == 1) {
    if (sum.bytes() > 0) std::memmove(sum.mutable_raw(), inputs[0]->raw(), sum.bytes());
    return OkStatus();
  }
  const int64_t bytes = static_cast<int64_t>(SizeOf(sum.dtype()));
  const int64_t tile = kTileBytes / bytes;
  const double cost = block->cost * static_cast<double>(inputs.size() - 1);
  context.parallel()(sum.num_elements(), cost, [&](int64_t begin, int64_t end) {
    alignas(64) char partial[kTileBytes];
    for (int64_t at = begin; at < end; at += tile) {
      const int64_t n = std::min(tile, end - at);
      const auto part = [&](size_t i) {
        return static_cast<const char*>(inputs[i]->raw()) + at * bytes;
      };
      const void* left = part(0);
      for (size_t i = 1; i < inputs.size(); ++i) {
        const void* operands[] = {left, part(i)};
        void* out =
            i + 1 < inputs.size() ? partial : static_cast<char*>(sum.mutable_raw()) + at * bytes;
        block->function(operands, 0, out, n);
        left = partial;
      }
    }
  });
  return OkStatus();
}

// Lists are added element by element. `sum` may be any of the inputs.
Status AccumulateVariants(CpuContext& context, std::span<Tensor* const> inputs, Tensor& sum) {
  for (int64_t i = 0; i < sum.num_elements(); ++i) {
    Variant total = inputs[0]->data<Variant>()[i];
    for (size_t k = 1; k < inputs.size(); ++k) {
      TRY_ASSIGN(total, AddVariants(context, total, inputs[k]->data<Variant>()[i]));
    }
    sum.mutable_data<Variant>()[i] = std::move(total);
  }
  return OkStatus();
}

}  // namespace

Result<Shape> AddN::InferShape(std::span<const Known> inputs) const {
  return MergeAll(Shape::Unknown(), inputs);
}
Result<Shape> AccumulateNV2::InferShape(std::span<const Known> inputs) const {
  return MergeAll(shape, inputs);
}

void AddN::Gradient(Gradients& g) const { PassToAll(g); }
void AccumulateNV2::Gradient(Gradients& g) const { PassToAll(g); }

Status AddN::ComputeCpu(CpuContext& context, std::span<Tensor* const> inputs, Tensor& sum) const {
  if (sum.dtype() == DType::kVariant) return AccumulateVariants(context, inputs, sum);
  return Accumulate(context, inputs, sum);
}
Status AccumulateNV2::ComputeCpu(CpuContext& context, std::span<Tensor* const> inputs,
                                 Tensor& sum) const {
  return Accumulate(context, inputs, sum);
}

void RegisterAddN(Registrar& registrar) { registrar.AddAll<AddN, AccumulateNV2>(); }

}  // namespace penstock::ops
