#pragma once

#include "penstock/graph/scope.h"

// Derivatives of the ops that run functions of the library. Each splits the function in two: the
// forward one returns, besides its results, the values that the backward one reads. The node is
// changed in place: it calls the new forward function and has that many more outputs; those it had
// stay where they were.

namespace penstock {

// PartitionedCall and StatefulPartitionedCall.
void DifferentiateCall(Gradients& g);
// If, StatelessIf, Case, StatelessCase: the derivative makes the same choice.
void DifferentiateBranches(Gradients& g);
// While and StatelessWhile: the loop counts its rounds and keeps what the derivative reads in
// lists; the derivative is a loop of as many rounds that takes it from their ends.
void DifferentiateWhile(Gradients& g);

}  // namespace penstock
