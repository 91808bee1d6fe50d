#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/core/tensor.h"

namespace penstock {

class FrameStore;

// The values of one step: a slot for each output of each node, in one block; the arena; and, for
// nodes that run as they become ready, the counters. Constants and arena places are set once and
// stay.
struct StepState {
  std::vector<Tensor> slots;
  std::vector<Tensor*> inputs;  // parallel to Plan::input_slots: where each input is found
  Tensor arena;                 // small arenas stay with the state, large ones live for a step
  std::vector<Tensor> read;     // values read out of variables for the node that runs

  // Of nodes that run in parallel.
  std::unique_ptr<std::atomic<int32_t>[]> waits;    // per node: inputs still to come
  std::unique_ptr<std::atomic<int32_t>[]> readers;  // per slot: inputs still to read it

  // Of a plan with branches or loops.
  std::unique_ptr<FrameStore> frames;

  StepState();
  ~StepState();
};

}  // namespace penstock
