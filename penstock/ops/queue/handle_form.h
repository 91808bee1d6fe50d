#pragma once

#include <string>

#include "penstock/graph/op.h"

namespace penstock::ops {

// The two forms of an op on queues: the older takes its handle by reference to a string, which here
// travels as a handle like any other reference; the V2 takes a resource.
struct ByReference {
  static constexpr bool kStatefulAccess = false;
  template <FixedString Name>
  using Input = In<Name, Ref<std::string>>;
  template <FixedString Name>
  using Output = Out<Name, Ref<std::string>>;
  // TensorFlow's: container and name.
  static Shape HandleShape() { return {2}; }
};
struct ByResource {
  static constexpr bool kStatefulAccess = true;
  template <FixedString Name>
  using Input = In<Name, ResourceHandle>;
  template <FixedString Name>
  using Output = Out<Name, ResourceHandle>;
  static Shape HandleShape() { return {}; }
};

}  // namespace penstock::ops
