#pragma once

#include "penstock/ops/elementwise.h"
#include "penstock/ops/op_kernel.h"

// One function a family, called in turn by register_all.cc: registration is explicit, since a linker drops static
// initialisers of a static archive.

namespace penstock {

void RegisterMathUnary(Registrar& registrar, ElementwiseTable& table);
void RegisterMathFunctions(Registrar& registrar, ElementwiseTable& table);
void RegisterMathBinary(Registrar& registrar, ElementwiseTable& table);
void RegisterDataflow(Registrar& registrar);
void RegisterVariables(Registrar& registrar);
void RegisterResourceVariables(Registrar& registrar);
void RegisterReshape(Registrar& registrar);
void RegisterAssertions(Registrar& registrar);

}  // namespace penstock
