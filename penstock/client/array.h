#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "penstock/client/error.h"
#include "penstock/core/tensor.h"

namespace penstock {

// A tensor whose element type is known to the compiler: what typed steps take and give. Shares its
// buffer when copied.
template <class T>
class Array {
 public:
  Array() = default;
  // One value.
  Array(T value) : tensor_(Tensor::Scalar(std::move(value))) {}
  // A vector.
  Array(const std::vector<T>& values) : Array(Shape{static_cast<int64_t>(values.size())}, values) {}
  Array(const Shape& shape, const std::vector<T>& values) {
    if (shape.CheckedNumElements() != static_cast<int64_t>(values.size())) {
      throw Error(InvalidArgument("an array of shape {} needs as many values, got {}", shape,
                                  values.size()));
    }
    tensor_ = Tensor(kDTypeOf<T>, shape);
    for (size_t i = 0; i < values.size(); ++i) tensor_.mutable_data<T>()[i] = values[i];
  }
  // Throws when the tensor holds another type.
  explicit Array(Tensor tensor) : tensor_(std::move(tensor)) {
    if (tensor_.dtype() != kDTypeOf<T>) {
      throw Error(InvalidArgument("an array of {} cannot hold a tensor of {}", kDTypeOf<T>,
                                  tensor_.dtype()));
    }
  }

  const Tensor& tensor() const { return tensor_; }
  operator const Tensor&() const { return tensor_; }
  const Shape& shape() const { return tensor_.shape(); }
  int64_t size() const { return tensor_.num_elements(); }
  const T* data() const { return tensor_.data<T>(); }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }
  const T& operator[](int64_t i) const { return data()[i]; }
  // Row-major indexing. REQUIRES: as many indices as dimensions, all in range.
  template <class... I>
  const T& operator()(I... index) const {
    int64_t at = 0;
    int axis = 0;
    ((at = at * shape().dim(axis++) + static_cast<int64_t>(index)), ...);
    return data()[at];
  }
  // The only element; throws when there are more or none.
  operator T() const {
    if (size() != 1) throw Error(InvalidArgument("an array of shape {} is not one value", shape()));
    return data()[0];
  }
  std::vector<T> ToVector() const { return std::vector<T>(begin(), end()); }
  std::string ToString() const { return tensor_.ToString(); }

 private:
  Tensor tensor_;
};

}  // namespace penstock
