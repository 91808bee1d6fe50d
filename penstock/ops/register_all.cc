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
    RegisterMathGradients(registrar, elementwise);
    RegisterDivision(registrar, elementwise);
    RegisterComparison(registrar, elementwise);
    RegisterLogical(registrar, elementwise);
    RegisterActivation(registrar, elementwise);
    RegisterComplex(registrar, elementwise);
    RegisterSelect(registrar, elementwise);
    RegisterCast(registrar);
    RegisterAddN(registrar);
    RegisterDataflow(registrar);
    RegisterFused(registrar);
    RegisterVariables(registrar);
    RegisterResourceVariables(registrar);
    RegisterReductions(registrar);
    RegisterArgMax(registrar);
    RegisterCumulative(registrar);
    RegisterMatMul(registrar);
    RegisterReshape(registrar);
    RegisterAssertions(registrar);
    RegisterBroadcastOps(registrar);
    RegisterFill(registrar);
    RegisterTranspose(registrar);
    RegisterSlice(registrar);
    RegisterConcat(registrar);
    RegisterSplit(registrar);
    RegisterGather(registrar);
    RegisterScatterNd(registrar);
    RegisterPad(registrar);
    RegisterMatrixDiag(registrar);
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
