#pragma once

#include "penstock/ops/elementwise.h"
#include "penstock/ops/op_kernel.h"

// One function a family, called in turn by register_all.cc: registration is explicit, since a
// linker drops static initialisers of a static archive.

namespace penstock::ops {

void RegisterMathUnary(Registrar& registrar, ElementwiseTable& table);
void RegisterMathFunctions(Registrar& registrar, ElementwiseTable& table);
void RegisterMathBinary(Registrar& registrar, ElementwiseTable& table);
void RegisterMathGradients(Registrar& registrar, ElementwiseTable& table);
void RegisterDivision(Registrar& registrar, ElementwiseTable& table);
void RegisterComparison(Registrar& registrar, ElementwiseTable& table);
void RegisterLogical(Registrar& registrar, ElementwiseTable& table);
void RegisterActivation(Registrar& registrar, ElementwiseTable& table);
void RegisterComplex(Registrar& registrar, ElementwiseTable& table);
void RegisterSpecial(Registrar& registrar, ElementwiseTable& table);
void RegisterSelect(Registrar& registrar, ElementwiseTable& table);
void RegisterCast(Registrar& registrar);
void RegisterAddN(Registrar& registrar);
void RegisterDataflow(Registrar& registrar);
void RegisterFused(Registrar& registrar);
void RegisterVariables(Registrar& registrar);
void RegisterResourceVariables(Registrar& registrar);
void RegisterReductions(Registrar& registrar);
void RegisterArgMax(Registrar& registrar);
void RegisterCumulative(Registrar& registrar);
void RegisterMatMul(Registrar& registrar);
void RegisterSegment(Registrar& registrar);
void RegisterReshape(Registrar& registrar);
void RegisterAssertions(Registrar& registrar);
void RegisterBroadcastOps(Registrar& registrar);
void RegisterFill(Registrar& registrar);
void RegisterTranspose(Registrar& registrar);
void RegisterSlice(Registrar& registrar);
void RegisterConcat(Registrar& registrar);
void RegisterSplit(Registrar& registrar);
void RegisterGather(Registrar& registrar);
void RegisterScatterNd(Registrar& registrar);
void RegisterPad(Registrar& registrar);
void RegisterMatrixDiag(Registrar& registrar);
void RegisterSendRecv(Registrar& registrar);

}  // namespace penstock::ops
