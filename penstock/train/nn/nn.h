#pragma once

// All layers.

#include "penstock/train/nn/activations.h"
#include "penstock/train/nn/attention.h"
#include "penstock/train/nn/compose.h"
#include "penstock/train/nn/conv.h"
#include "penstock/train/nn/conv_variants.h"
#include "penstock/train/nn/dense.h"
#include "penstock/train/nn/dropout.h"
#include "penstock/train/nn/embedding.h"
#include "penstock/train/nn/initializers.h"
#include "penstock/train/nn/layer.h"
#include "penstock/train/nn/norm.h"
#include "penstock/train/nn/pool.h"
#include "penstock/train/nn/recurrent.h"
#include "penstock/train/nn/reshape.h"
#include "penstock/train/nn/summary.h"
#include "penstock/train/nn/window.h"
