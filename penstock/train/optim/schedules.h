#pragma once

#include <cstdint>
#include <vector>

#include "penstock/train/optim/rate.h"

// Learning rates that change with the number of steps. Each can stand where a Rate is due; where
// TensorFlow has the schedule, the formula is TensorFlow's.

namespace penstock {

// initial * decay_rate ^ (step / decay_steps); by a whole exponent if `staircase`.
struct ExponentialDecay {
  double initial = 0.1;
  int64_t decay_steps = 1000;
  double decay_rate = 0.96;
  bool staircase = false;

  Status Check() const;
  Output<float> operator()(Output<float> step) const;
};

// initial * exp(-decay_rate * step / decay_steps).
struct NaturalExpDecay {
  double initial = 0.1;
  int64_t decay_steps = 1000;
  double decay_rate = 0.5;
  bool staircase = false;

  Status Check() const;
  Output<float> operator()(Output<float> step) const;
};

// initial / (1 + decay_rate * step / decay_steps).
struct InverseTimeDecay {
  double initial = 0.1;
  int64_t decay_steps = 1000;
  double decay_rate = 0.5;
  bool staircase = false;

  Status Check() const;
  Output<float> operator()(Output<float> step) const;
};

// From `initial` to `end` in decay_steps along (1 - step / decay_steps) ^ power. With `cycle`, the
// way is stretched to the next multiple of decay_steps whenever its end is reached.
struct PolynomialDecay {
  double initial = 0.1;
  int64_t decay_steps = 1000;
  double end = 1e-4;
  double power = 1;
  bool cycle = false;

  Status Check() const;
  Output<float> operator()(Output<float> step) const;
};

// values[i] up to step boundaries[i], that step included; the last value after all of them.
struct PiecewiseConstant {
  std::vector<int64_t> boundaries = {};
  std::vector<double> values = {};

  Status Check() const;
  Output<float> operator()(Output<float> step) const;
};

// Half a cosine from `initial` to initial * alpha in decay_steps.
struct CosineDecay {
  double initial = 0.1;
  int64_t decay_steps = 1000;
  double alpha = 0;

  Status Check() const;
  Output<float> operator()(Output<float> step) const;
};

// The same over and over (SGDR): each period t_mul times as long as the one before, beginning at
// m_mul times its height.
struct CosineRestarts {
  double initial = 0.1;
  int64_t first_decay_steps = 1000;
  double t_mul = 2;
  double m_mul = 1;
  double alpha = 0;

  Status Check() const;
  Output<float> operator()(Output<float> step) const;
};

// A cosine of num_periods under a line that falls to 0: initial * ((alpha + line) * cosine + beta).
struct LinearCosineDecay {
  double initial = 0.1;
  int64_t decay_steps = 1000;
  double num_periods = 0.5;
  double alpha = 0;
  double beta = 0.001;

  Status Check() const;
  Output<float> operator()(Output<float> step) const;
};

// A line from `start` to the first rate of `then`, in `steps`; from there on `then`, whose steps
// count from the end of the line.
struct LinearWarmup {
  int64_t steps = 1000;
  Rate then = 0.1;
  double start = 0;

  Status Check() const;
  Output<float> operator()(Output<float> step) const;
};

// "Attention is all you need": scale / sqrt(model_size) * min(n ^ -0.5, n * warmup_steps ^ -1.5),
// where n = step + 1.
struct NoamDecay {
  int64_t model_size = 512;
  int64_t warmup_steps = 4000;
  double scale = 1;

  Status Check() const;
  Output<float> operator()(Output<float> step) const;
};

// `initial` for decay_steps, then falling as 1 / sqrt(step): initial * sqrt(decay_steps / step).
struct InverseSqrtDecay {
  double initial = 0.1;
  int64_t decay_steps = 1000;

  Status Check() const;
  Output<float> operator()(Output<float> step) const;
};

// One cycle of `steps` (Smith; PyTorch's OneCycleLR): half a cosine up from peak / initial_divisor
// to `peak` in the first `rising` part of the steps, half a cosine down to peak / initial_divisor /
// final_divisor in the others.
struct OneCycle {
  double peak = 0.1;
  int64_t steps = 1000;
  double rising = 0.3;
  double initial_divisor = 25;
  double final_divisor = 1e4;

  Status Check() const;
  Output<float> operator()(Output<float> step) const;
};

}  // namespace penstock
