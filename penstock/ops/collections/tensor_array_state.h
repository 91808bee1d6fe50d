#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/core/mutex.h"
#include "penstock/core/resource.h"
#include "penstock/device/kernel.h"

namespace penstock::ops {

// An array of tensors that belongs to one step: its handles own it. An element is written once and,
// unless told otherwise, read once; the array that gathers gradients adds what is written to one
// place. Elements are shared, never copied.
// Threads: all methods may be called concurrently.
class TensorArray final : public Resource {
 public:
  struct Options {
    std::string name;
    DType dtype = DType::kInvalid;
    Shape element_shape = Shape::Unknown();
    bool dynamic_size = false;
    bool clear_after_read = true;
    bool identical_element_shapes = false;
    bool is_gradient = false;
  };
  static constexpr char kKind[] = "TensorArray";

  TensorArray(Options options, int64_t size)
      : name_(options.name),
        dtype_(options.dtype),
        clear_after_read_(options.clear_after_read),
        identical_element_shapes_(options.identical_element_shapes),
        is_gradient_(options.is_gradient),
        element_shape_(std::move(options.element_shape)),
        dynamic_size_(options.dynamic_size),
        size_(size) {}

  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  Shape element_shape() const;
  // InvalidArgument once closed, as all that follow.
  Result<int64_t> Size() const;
  // Puts `value` at `index`, or adds it there in an array of gradients.
  Status Write(KernelContext& context, int64_t index, Tensor value);
  // The same for values[i] at indices[i]: all or, when an index is out of range, none.
  Status WriteMany(KernelContext& context, std::span<const int32_t> indices,
                   std::vector<Tensor> values);
  // What is at these indices. A place that nobody wrote reads as zeros where its shape is known.
  Result<std::vector<Tensor>> ReadMany(KernelContext& context, std::span<const int32_t> indices);
  // All of them.
  Result<std::vector<Tensor>> ReadAll(KernelContext& context);
  // Checks that an array of fixed size has `count` places.
  Status CheckCount(int64_t count) const;
  // The array that gathers the gradients for `source`, made at the first call; from then on this
  // array does not grow. Its elements have `prefix` before the shape of ours.
  Result<std::shared_ptr<TensorArray>> Gradient(const std::string& source, const Shape& prefix);
  // Lets go of all elements.
  void Close();

  std::string DebugString() const override;
  size_t MemoryBytes() const override;

 private:
  // A place may be written without a tensor: zeros of that shape, in an array of gradients.
  struct Place {
    Tensor tensor;
    Shape shape;
    bool written = false;
    bool read = false;
    bool cleared = false;
  };

  Status CheckOpen() const REQUIRES_LOCK(mu_);
  Status CheckIndex(int64_t index) const REQUIRES_LOCK(mu_);
  Status WriteLocked(KernelContext& context, int64_t index, Tensor value) REQUIRES_LOCK(mu_);
  Status Aggregate(KernelContext& context, int64_t index, Tensor value) REQUIRES_LOCK(mu_);
  Result<Tensor> ReadLocked(KernelContext& context, int64_t index) REQUIRES_LOCK(mu_);
  Status CheckRanks(int prefix) const REQUIRES_LOCK(mu_);
  void TakeShapes(const std::vector<Place>& from, const Shape& prefix);

  // Constant after construction.
  const std::string name_;
  const DType dtype_;
  const bool clear_after_read_;
  const bool identical_element_shapes_;
  const bool is_gradient_;

  mutable Mutex mu_;
  Shape element_shape_ GUARDED_BY(mu_);
  bool dynamic_size_ GUARDED_BY(mu_);
  bool closed_ GUARDED_BY(mu_) = false;
  bool was_aggregated_ GUARDED_BY(mu_) = false;
  int64_t size_ GUARDED_BY(mu_);
  // Those written so far, at most size_: an array of absurd size costs nothing until it is filled.
  std::vector<Place> places_ GUARDED_BY(mu_);
  std::map<std::string, std::shared_ptr<TensorArray>> gradients_ GUARDED_BY(mu_);
};

}  // namespace penstock::ops
