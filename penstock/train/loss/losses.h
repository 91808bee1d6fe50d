#pragma once

// All losses and metrics.

#include "penstock/train/loss/classification.h"
#include "penstock/train/loss/metric.h"
#include "penstock/train/loss/regression.h"
#include "penstock/train/loss/regularizer.h"
#include "penstock/train/loss/sampled.h"
