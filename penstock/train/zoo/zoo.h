#pragma once

// Models to train, and to measure.

#include "penstock/train/zoo/alexnet.h"
#include "penstock/train/zoo/digits.h"
#include "penstock/train/zoo/googlenet.h"
#include "penstock/train/zoo/inception_v3.h"
#include "penstock/train/zoo/lstm_lm.h"
#include "penstock/train/zoo/overfeat.h"
#include "penstock/train/zoo/oxfordnet.h"
#include "penstock/train/zoo/resnet.h"
#include "penstock/train/zoo/skip_gram.h"
#include "penstock/train/zoo/transformer_lm.h"
