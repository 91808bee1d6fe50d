#pragma once

// All that a program needs: graphs, typed ops, variables, sessions, optimizers.

#include "penstock/client/array.h"
#include "penstock/client/array_ops.h"
#include "penstock/client/build_scope.h"
#include "penstock/client/constant.h"
#include "penstock/client/control_flow.h"
#include "penstock/client/custom_gradient.h"
#include "penstock/client/derivatives.h"
#include "penstock/client/error.h"
#include "penstock/client/function.h"
#include "penstock/client/gradients.h"
#include "penstock/client/operators.h"
#include "penstock/client/ops.h"
#include "penstock/client/output.h"
#include "penstock/client/recompute.h"
#include "penstock/client/session.h"
#include "penstock/client/variable.h"
#include "penstock/train/optim/moving_averages.h"
#include "penstock/train/optim/optimizers.h"
#include "penstock/train/optim/schedules.h"
#include "penstock/train/parameters.h"
