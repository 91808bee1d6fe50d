#pragma once

#include <utility>
#include <vector>

#include "penstock/ops/nn/channels.h"

namespace penstock::ops {

// The tensors of an op whose kernel computes in float, whatever their type: inputs converted,
// outputs with room for floats until Store. The first error is kept.
class Widened {
 public:
  explicit Widened(CpuContext& context) : context_(context) {}

  const float* In(const Tensor& tensor) {
    Result<Tensor> wide = AsFloat(context_, tensor);
    return wide.ok() ? Keep(*std::move(wide)) : Fail(wide.status());
  }
  float* Out(Tensor& tensor) {
    if (tensor.dtype() == DType::kFloat) return tensor.mutable_data<float>();
    float* room = Room(tensor.shape());
    if (room != nullptr || tensor.num_elements() == 0) narrow_.emplace_back(&tensor, kept_.back());
    return room;
  }
  // Scratch.
  float* Room(const Shape& shape) {
    Result<Tensor> room = context_.Allocate(DType::kFloat, shape);
    return room.ok() ? Keep(*std::move(room)) : Fail(room.status());
  }
  const Status& status() const { return status_; }
  void Store() {
    for (auto& [tensor, wide] : narrow_) StoreFloats(context_, wide, *tensor);
  }

 private:
  float* Keep(Tensor tensor) {
    kept_.push_back(std::move(tensor));
    return kept_.back().mutable_data<float>();
  }
  float* Fail(const Status& status) {
    if (status_.ok()) status_ = status;
    return nullptr;
  }

  CpuContext& context_;
  std::vector<Tensor> kept_;
  std::vector<std::pair<Tensor*, Tensor>> narrow_;
  Status status_;
};

}  // namespace penstock::ops
