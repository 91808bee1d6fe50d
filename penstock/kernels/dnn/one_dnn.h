#pragma once

#include <dnnl.hpp>

// What every use of oneDNN shares. Its exceptions stay inside kernels/dnn/.

namespace penstock::kernels {

inline const dnnl::engine& OneDnnEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

// Attributes of a primitive whose scratch memory the caller provides: the library's own belongs to
// the thread that made the primitive, ours run on any.
inline dnnl::primitive_attr CallersScratch() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

}  // namespace penstock::kernels
