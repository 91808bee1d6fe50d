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
    ops::RegisterMathUnary(registrar, elementwise);
    ops::RegisterMathFunctions(registrar, elementwise);
    ops::RegisterMathBinary(registrar, elementwise);
    ops::RegisterMathGradients(registrar, elementwise);
    ops::RegisterDivision(registrar, elementwise);
    ops::RegisterComparison(registrar, elementwise);
    ops::RegisterLogical(registrar, elementwise);
    ops::RegisterActivation(registrar, elementwise);
    ops::RegisterComplex(registrar, elementwise);
    ops::RegisterSpecial(registrar, elementwise);
    ops::RegisterSelect(registrar, elementwise);
    ops::RegisterCast(registrar);
    ops::RegisterAddN(registrar);
    ops::RegisterDataflow(registrar);
    ops::RegisterFused(registrar);
    ops::RegisterVariables(registrar);
    ops::RegisterResourceVariables(registrar);
    ops::RegisterReductions(registrar);
    ops::RegisterArgMax(registrar);
    ops::RegisterCumulative(registrar);
    ops::RegisterMatMul(registrar);
    ops::RegisterSegment(registrar);
    ops::RegisterReshape(registrar);
    ops::RegisterAssertions(registrar);
    ops::RegisterBroadcastOps(registrar);
    ops::RegisterFill(registrar);
    ops::RegisterTranspose(registrar);
    ops::RegisterSlice(registrar);
    ops::RegisterConcat(registrar);
    ops::RegisterSplit(registrar);
    ops::RegisterGather(registrar);
    ops::RegisterScatterNd(registrar);
    ops::RegisterPad(registrar);
    ops::RegisterMatrixDiag(registrar);
    ops::RegisterSendRecv(registrar);
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
