#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "penstock/core/dtype.h"
#include "penstock/core/shape.h"

namespace penstock {

// State that nodes share: a variable, a queue, a table. Owned by a container of the state registry
// and by the handles that point at it.
class Resource {
 public:
  virtual ~Resource() = default;
  // What a person sees in a dump: "variable float [3,2]".
  virtual std::string DebugString() const = 0;
  // Bytes held, for the memory report of a container.
  virtual size_t MemoryBytes() const { return 0; }
};

// An element of a resource tensor: names the state by device, container and name, and points at it
// once it was found.
class ResourceHandle {
 public:
  std::string device;
  std::string container;
  std::string name;
  std::string type_name;  // "Variable", "FIFOQueue": checked before the pointer is used
  DType dtype = DType::kInvalid;
  Shape shape = Shape::Unknown();  // what its maker declared of the value
  std::shared_ptr<Resource> resource;

  std::string ToString() const { return container + "/" + name; }
};

// An element of a variant tensor: a value of any copyable type, such as a list of tensors.
class Variant {
 public:
  // What a value inside a Variant offers.
  class Value {
   public:
    virtual ~Value() = default;
    virtual std::string TypeName() const = 0;
  };

  Variant() = default;
  explicit Variant(std::shared_ptr<const Value> value) : value_(std::move(value)) {}
  const std::shared_ptr<const Value>& value() const { return value_; }
  // The value as a V, or null when it holds something else.
  template <class V>
  const V* As() const {
    return dynamic_cast<const V*>(value_.get());
  }

 private:
  std::shared_ptr<const Value> value_;
};

}  // namespace penstock
