#pragma once

#include <cmath>

#include "penstock/core/scalar_function.h"
#include "penstock/kernels/math.h"
#include "penstock/kernels/update.h"

// How training moves one element of a variable by its gradient, each rule written once. A rule is
// made from the parameters of its op, in the order of the op's inputs, and called with the gradient
// g and the elements s of the variable (s[0]) and its slots. V is float or double.

namespace penstock::kernels::rules {

template <class V>
PENSTOCK_SCALAR V Sign(V x) {
  return static_cast<V>((x > 0) - (x < 0));
}
// x moved towards 0 by `by`, and no further.
template <class V>
PENSTOCK_SCALAR V Shrink(V x, V by) {
  const V rest = std::fabs(x) - by;
  return rest > 0 ? Sign(x) * rest : V(0);
}

template <class V>
struct Rule {
  explicit Rule(const UpdateParameters& p) : parameters(p) {}
  PENSTOCK_SCALAR V at(int i) const { return static_cast<V>(parameters.values[i]); }
  const UpdateParameters& parameters;
};

// s: variable. alpha.
template <class V>
struct GradientDescent {
  static constexpr int kSlots = 1;
  const V rate;
  explicit GradientDescent(const Rule<V>& p) : rate(p.at(0)) {}
  PENSTOCK_SCALAR void operator()(V g, V* s) const { s[0] -= rate * g; }
};

// alpha, l1, l2.
template <class V>
struct ProximalGradientDescent {
  static constexpr int kSlots = 1;
  const V rate, l1, scale;
  explicit ProximalGradientDescent(const Rule<V>& p)
      : rate(p.at(0)), l1(p.at(1)), scale(1 + p.at(2) * p.at(0)) {}
  PENSTOCK_SCALAR void operator()(V g, V* s) const {
    const V moved = s[0] - rate * g;
    s[0] = (l1 > 0 ? Shrink(moved, rate * l1) : moved) / scale;
  }
};

// s: variable, accumulator. lr, momentum; flag: Nesterov's.
template <class V>
struct Momentum {
  static constexpr int kSlots = 2;
  const V rate, momentum;
  const bool looks_ahead;
  explicit Momentum(const Rule<V>& p)
      : rate(p.at(0)), momentum(p.at(1)), looks_ahead(p.parameters.flag) {}
  PENSTOCK_SCALAR void operator()(V g, V* s) const {
    s[1] = s[1] * momentum + g;
    s[0] -= looks_ahead ? g * rate + s[1] * momentum * rate : s[1] * rate;
  }
};

// The same with the rate inside the accumulator.
template <class V>
struct KerasMomentum {
  static constexpr int kSlots = 2;
  const V rate, momentum;
  const bool looks_ahead;
  explicit KerasMomentum(const Rule<V>& p)
      : rate(p.at(0)), momentum(p.at(1)), looks_ahead(p.parameters.flag) {}
  PENSTOCK_SCALAR void operator()(V g, V* s) const {
    s[1] = s[1] * momentum - g * rate;
    s[0] += looks_ahead ? s[1] * momentum - g * rate : s[1];
  }
};

// s: variable, sum of squares. lr; flag: whether the sum grows.
template <class V>
struct Adagrad {
  static constexpr int kSlots = 2;
  const V rate;
  const bool grows;
  explicit Adagrad(const Rule<V>& p) : rate(p.at(0)), grows(p.parameters.flag) {}
  PENSTOCK_SCALAR void operator()(V g, V* s) const {
    s[1] += grows ? g * g : V(0);
    s[0] -= rate * g / std::sqrt(s[1]);
  }
};

// lr, epsilon.
template <class V>
struct AdagradV2 {
  static constexpr int kSlots = 2;
  const V rate, epsilon;
  const bool grows;
  explicit AdagradV2(const Rule<V>& p)
      : rate(p.at(0)), epsilon(p.at(1)), grows(p.parameters.flag) {}
  PENSTOCK_SCALAR void operator()(V g, V* s) const {
    s[1] += grows ? g * g : V(0);
    s[0] -= rate * g / (std::sqrt(s[1]) + epsilon);
  }
};

// lr, l1, l2.
template <class V>
struct ProximalAdagrad {
  static constexpr int kSlots = 2;
  const V rate, l1, l2;
  explicit ProximalAdagrad(const Rule<V>& p) : rate(p.at(0)), l1(p.at(1)), l2(p.at(2)) {}
  PENSTOCK_SCALAR void operator()(V g, V* s) const {
    s[1] += g * g;
    const V own_rate = rate / std::sqrt(s[1]);
    const V moved = s[0] - own_rate * g;
    s[0] = (l1 > 0 ? Shrink(moved, own_rate * l1) : moved) / (1 + l2 * own_rate);
  }
};

// Dual averaging. s: variable, sum of gradients, sum of squares. lr, l1, l2, the number of the
// step.
template <class V>
struct AdagradDA {
  static constexpr int kSlots = 3;
  const V rate, l1, l2;
  explicit AdagradDA(const Rule<V>& p)
      : rate(p.at(0)), l1(p.at(1) * p.at(3)), l2(p.at(2) * p.at(3) * p.at(0)) {}
  PENSTOCK_SCALAR void operator()(V g, V* s) const {
    s[1] += g;
    s[2] += g * g;
    const V sum = l1 > 0 ? Shrink(s[1], l1) : s[1];
    s[0] = -rate * sum / (l2 + std::sqrt(s[2]));
  }
};

// s: variable, mean of squares, mean of squared updates. lr, rho, epsilon.
template <class V>
struct Adadelta {
  static constexpr int kSlots = 3;
  const V rate, rho, epsilon;
  explicit Adadelta(const Rule<V>& p) : rate(p.at(0)), rho(p.at(1)), epsilon(p.at(2)) {}
  PENSTOCK_SCALAR void operator()(V g, V* s) const {
    s[1] = s[1] * rho + g * g * (1 - rho);
    const V update = std::sqrt(s[2] + epsilon) / std::sqrt(s[1] + epsilon) * g;
    s[0] -= update * rate;
    s[2] = s[2] * rho + update * update * (1 - rho);
  }
};

// s: variable, mean of squares, momentum. lr, rho, momentum, epsilon.
template <class V>
struct RmsProp {
  static constexpr int kSlots = 3;
  const V rate, rho, momentum, epsilon;
  explicit RmsProp(const Rule<V>& p)
      : rate(p.at(0)), rho(p.at(1)), momentum(p.at(2)), epsilon(p.at(3)) {}
  PENSTOCK_SCALAR void operator()(V g, V* s) const {
    s[1] += (g * g - s[1]) * (1 - rho);
    s[2] = s[2] * momentum + rate * g / std::sqrt(s[1] + epsilon);
    s[0] -= s[2];
  }
};

// s: variable, mean, mean of squares, momentum.
template <class V>
struct CenteredRmsProp {
  static constexpr int kSlots = 4;
  const V rate, rho, momentum, epsilon;
  explicit CenteredRmsProp(const Rule<V>& p)
      : rate(p.at(0)), rho(p.at(1)), momentum(p.at(2)), epsilon(p.at(3)) {}
  PENSTOCK_SCALAR void operator()(V g, V* s) const {
    s[2] += (g * g - s[2]) * (1 - rho);
    s[1] += (g - s[1]) * (1 - rho);
    s[3] = s[3] * momentum + rate * g / std::sqrt(s[2] - s[1] * s[1] + epsilon);
    s[0] -= s[3];
  }
};

// s: variable, mean m, mean of squares v. The powers of both betas, lr, beta1, beta2, epsilon;
// flag: Nesterov's.
template <class V>
struct Adam {
  static constexpr int kSlots = 3;
  const V rate, beta1, beta2, epsilon;
  const bool looks_ahead;
  explicit Adam(const Rule<V>& p)
      : rate(p.at(2) * std::sqrt(1 - p.at(1)) / (1 - p.at(0))),
        beta1(p.at(3)),
        beta2(p.at(4)),
        epsilon(p.at(5)),
        looks_ahead(p.parameters.flag) {}
  PENSTOCK_SCALAR void operator()(V g, V* s) const {
    s[1] += (g - s[1]) * (1 - beta1);
    s[2] += (g * g - s[2]) * (1 - beta2);
    const V mean = looks_ahead ? g * (1 - beta1) + s[1] * beta1 : s[1];
    s[0] -= mean * rate / (std::sqrt(s[2]) + epsilon);
  }
};

// s: as Adam. Its numbers, and the decay of weights: apart from the gradient, so that the means do
// not see it.
template <class V>
struct AdamW {
  static constexpr int kSlots = 3;
  const Adam<V> adam;
  const V kept;
  explicit AdamW(const Rule<V>& p) : adam(p), kept(1 - p.at(2) * p.at(6)) {}
  PENSTOCK_SCALAR void operator()(V g, V* s) const {
    s[0] *= kept;
    adam(g, s);
  }
};

// s: as Adam, and the largest v.
template <class V>
struct AdamWithAmsgrad {
  static constexpr int kSlots = 4;
  const V rate, beta1, beta2, epsilon;
  explicit AdamWithAmsgrad(const Rule<V>& p)
      : rate(p.at(2) * std::sqrt(1 - p.at(1)) / (1 - p.at(0))),
        beta1(p.at(3)),
        beta2(p.at(4)),
        epsilon(p.at(5)) {}
  PENSTOCK_SCALAR void operator()(V g, V* s) const {
    s[1] += (g - s[1]) * (1 - beta1);
    s[2] += (g * g - s[2]) * (1 - beta2);
    s[3] = s[3] < s[2] ? s[2] : s[3];
    s[0] -= s[1] * rate / (std::sqrt(s[3]) + epsilon);
  }
};

// s: variable, mean, largest gradient. beta1's power, lr, beta1, beta2, epsilon.
template <class V>
struct AdaMax {
  static constexpr int kSlots = 3;
  const V rate, beta1, beta2, epsilon;
  explicit AdaMax(const Rule<V>& p)
      : rate(p.at(1) / (1 - p.at(0))), beta1(p.at(2)), beta2(p.at(3)), epsilon(p.at(4)) {}
  PENSTOCK_SCALAR void operator()(V g, V* s) const {
    s[1] += (g - s[1]) * (1 - beta1);
    const V decayed = beta2 * s[2], size = std::fabs(g);
    s[2] = decayed < size ? size : decayed;
    s[0] -= rate * (s[1] / (s[2] + epsilon));
  }
};

// s: variable, mean. lr, alpha, sign_decay, beta: further where gradient and mean agree in sign.
template <class V>
struct AddSign {
  static constexpr int kSlots = 2;
  const V rate, alpha, decay, beta;
  explicit AddSign(const Rule<V>& p)
      : rate(p.at(0)), alpha(p.at(1)), decay(p.at(2)), beta(p.at(3)) {}
  PENSTOCK_SCALAR void operator()(V g, V* s) const {
    s[1] = s[1] * beta + g * (1 - beta);
    s[0] -= rate * (alpha + decay * (Sign(g) * Sign(s[1]))) * g;
  }
};

// lr, logbase, sign_decay, beta.
template <class V>
struct PowerSign {
  static constexpr int kSlots = 2;
  const V rate, beta, agree, disagree;
  explicit PowerSign(const Rule<V>& p)
      : rate(p.at(0)),
        beta(p.at(3)),
        agree(std::exp(p.at(1) * p.at(2))),
        disagree(std::exp(-p.at(1) * p.at(2))) {}
  PENSTOCK_SCALAR void operator()(V g, V* s) const {
    s[1] = s[1] * beta + g * (1 - beta);
    const V together = Sign(g) * Sign(s[1]);
    const V scale = together > 0 ? agree : (together < 0 ? disagree : V(1));
    s[0] -= rate * scale * g;
  }
};

// Follow the regularised leader. s: variable, sum of squares, linear term. lr, l1, l2,
// l2_shrinkage, lr_power; flag: the linear term is kept times the rate.
template <class V, bool kByRoot>
struct Ftrl {
  static constexpr int kSlots = 3;
  const V of_linear, over_rate, l1, l2, shrinkage, power;
  explicit Ftrl(const Rule<V>& p)
      : of_linear(p.parameters.flag ? p.at(0) : 1),
        over_rate(p.parameters.flag ? 1 : 1 / p.at(0)),
        l1(p.at(1) * of_linear),
        l2(2 * p.at(2) * of_linear),
        shrinkage(2 * p.at(3)),
        power(-p.at(4)) {}
  PENSTOCK_SCALAR V Raised(V x) const {
    if constexpr (kByRoot) {
      return std::sqrt(x);
    } else {
      return std::pow(x, power);
    }
  }
  PENSTOCK_SCALAR void operator()(V g, V* s) const {
    const V sum = s[1] + g * g;
    const V root = Raised(sum);
    s[2] += (g + shrinkage * s[0]) * of_linear - (root - Raised(s[1])) * over_rate * s[0];
    s[0] = -Shrink(s[2], l1) / (root * over_rate + l2);
    s[1] = sum;
  }
};
template <class V>
using FtrlByRoot = Ftrl<V, true>;
template <class V>
using FtrlByPower = Ftrl<V, false>;

}  // namespace penstock::kernels::rules
