#pragma once

#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "penstock/client/c_api.h"
#include "penstock/core/tensor.h"
#include "penstock/graph/graph.h"
#include "penstock/session/session.h"

// What stands behind the handles of the C API, for the files that implement it.

struct PS_Status {
  penstock::Status status;
};
struct PS_Tensor {
  penstock::Tensor tensor;
};
struct PS_Graph {
  penstock::Graph graph;
};
struct PS_NodeBuilder {
  penstock::Graph* graph = nullptr;
  penstock::NodeSpec spec;
  penstock::Status status;
};
struct PS_Session {
  const penstock::Graph* graph = nullptr;
  std::unique_ptr<penstock::SessionBackend> backend;
};

namespace penstock::c_api {

inline void Set(PS_Status* out, Status status) {
  if (out != nullptr) out->status = std::move(status);
}

// Runs `body`, which returns a Status, and keeps exceptions (no memory left) on this side.
template <class F>
bool Guard(PS_Status* out, F&& body) {
  Status status;
  try {
    status = body();
  } catch (const std::bad_alloc&) {
    status = ResourceExhausted("out of memory");
  } catch (const std::exception& error) {
    status = Internal("{}", error.what());
  }
  const bool ok = status.ok();
  Set(out, std::move(status));
  return ok;
}

inline Status NotNull(const void* pointer, const char* what) {
  if (pointer != nullptr) return OkStatus();
  return InvalidArgument("{} must not be NULL", what);
}

}  // namespace penstock::c_api
