#pragma once

#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"

// Calls into the Python process that built the graph. Here is none: graphs that hold such nodes are
// read, so that the rest of them runs, and the nodes themselves are refused.

namespace penstock::ops {

Result<std::unique_ptr<Kernel>> RefusePython(std::string_view op);

template <FixedString Name, bool kHasEffects>
struct PyFuncForm {
  static constexpr auto kName = Name.view();
  static constexpr bool kStateful = kHasEffects;
  static constexpr bool kNoGradient = true;
  std::string token;
  using Sig = Signature<In<"input", TypeList<"Tin", 0>>, Out<"output", TypeList<"Tout", 0>>>;
  static constexpr std::tuple kAttrs{Field{"token", &PyFuncForm::token}.Required()};

  Result<std::vector<Shape>> InferShape(std::span<const Known>) const {
    return std::vector<Shape>();
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest&) {
    return RefusePython(kName);
  }
};
using PyFunc = PyFuncForm<"PyFunc", true>;
using PyFuncStateless = PyFuncForm<"PyFuncStateless", false>;

struct EagerPyFunc {
  static constexpr auto kName = "EagerPyFunc";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  std::string token;
  bool is_async = false;
  using Sig = Signature<In<"input", TypeList<"Tin", 0>>, Out<"output", TypeList<"Tout", 0>>>;
  static constexpr std::tuple kAttrs{Field{"token", &EagerPyFunc::token}.Required(),
                                     Field{"is_async", &EagerPyFunc::is_async}};

  Result<std::vector<Shape>> InferShape(std::span<const Known>) const {
    return std::vector<Shape>();
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest&) {
    return RefusePython(kName);
  }
};

}  // namespace penstock::ops
