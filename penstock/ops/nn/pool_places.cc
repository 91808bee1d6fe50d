#include "penstock/ops/nn/pool_places.h"

#include <cstring>

namespace penstock::ops {
namespace {

// A window whose places a byte can count.
Status CheckWindow(const PoolWindow& window) {
  TRY(window.Check());
  const int64_t rows = window.ksize[static_cast<size_t>(window.spatial_axis(0))];
  const int64_t columns = window.ksize[static_cast<size_t>(window.spatial_axis(1))];
  // Check has bounded both by 32 bits.
  if (rows * columns <= kernels::kMaxWindowPlaces) return OkStatus();
  return InvalidArgument("expected a window of at most {} places, got {} x {}",
                         kernels::kMaxWindowPlaces, rows, columns);
}

}  // namespace

Result<std::array<Shape, 2>> MaxPoolPlaces::InferShape(const Shape& input) const {
  TRY(CheckWindow(window()));
  TRY_ASSIGN(const Shape pooled, window().OutputShape(input));
  return std::array<Shape, 2>{pooled, pooled};
}
Status MaxPoolPlaces::ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output,
                                 Tensor& places) const {
  if (output.num_elements() == 0) return OkStatus();
  TRY_ASSIGN(const kernels::PoolShape layout, window().Layout(input.shape()));
  kernels::PoolKernelsOf(DType::kFloat)
      .max_window_place(layout, input.raw(), output.mutable_raw(), places.mutable_data<uint8_t>(),
                        context.parallel());
  return OkStatus();
}

Result<Shape> MaxPoolPlacesGrad::InferShape(const Integers& orig_input_shape, const Shape& places,
                                            const Shape& grad) const {
  TRY(CheckWindow(window()));
  TRY(CheckVector(orig_input_shape.shape(), "orig_input_shape"));
  TRY_ASSIGN(const Shape input, orig_input_shape.AsShape());
  TRY_ASSIGN(const Shape pooled, window().OutputShape(input));
  TRY(CheckPooled(pooled, places, "places"));
  TRY(CheckPooled(pooled, grad, "grad"));
  return input.has_rank() ? input : Shape::UnknownOfRank(4);
}
Status MaxPoolPlacesGrad::ComputeCpu(CpuContext& context, const Integers&, const Tensor& places,
                                     const Tensor& grad, Tensor& output) const {
  if (output.num_elements() == 0) return OkStatus();
  if (grad.num_elements() == 0) {
    std::memset(output.mutable_raw(), 0, output.bytes());
    return OkStatus();
  }
  TRY_ASSIGN(const kernels::PoolShape layout, window().Layout(output.shape()));
  kernels::PoolKernelsOf(DType::kFloat)
      .window_place_gradient(layout, places.data<uint8_t>(), grad.raw(), output.mutable_raw(),
                             context.parallel());
  return OkStatus();
}

void RegisterPoolPlaces(Registrar& registrar) {
  registrar.AddAll<MaxPoolPlaces, MaxPoolPlacesGrad>();
}

}  // namespace penstock::ops
