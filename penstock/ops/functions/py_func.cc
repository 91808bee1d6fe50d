#include "penstock/ops/functions/py_func.h"

namespace penstock::ops {

Result<std::unique_ptr<Kernel>> RefusePython(std::string_view op) {
  return Unimplemented(
      "{} calls a function of the Python process that built the graph, which cannot "
      "be reached from here",
      op);
}

void RegisterPyFunc(Registrar& registrar) {
  registrar.AddAll<PyFunc, PyFuncStateless, EagerPyFunc>();
}

}  // namespace penstock::ops
