#include "penstock/ops/register_all.h"

#include "penstock/core/check.h"

namespace penstock {
namespace {

struct Library {
  OpRegistry ops;
  KernelRegistry kernels;
  ElementwiseTable elementwise;

  Library() {
    Registrar registrar(&ops, &kernels);
    RegisterMathUnary(registrar, elementwise);
    RegisterMathFunctions(registrar, elementwise);
    RegisterMathBinary(registrar, elementwise);
    RegisterDataflow(registrar);
    RegisterVariables(registrar);
    RegisterResourceVariables(registrar);
    CHECK(registrar.status().ok()) << registrar.status().ToString();
  }
};

const Library& StandardLibrary() {
  static const Library* const library = new Library;
  return *library;
}

}  // namespace

const OpRegistry& StandardOps() { return StandardLibrary().ops; }
const KernelRegistry& StandardKernels() { return StandardLibrary().kernels; }
const ElementwiseTable& StandardElementwise() { return StandardLibrary().elementwise; }

}  // namespace penstock
