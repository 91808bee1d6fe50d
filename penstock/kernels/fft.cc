#include "penstock/kernels/fft.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

namespace penstock::kernels {
namespace {

constexpr int64_t kMaxRadix = 13;
constexpr std::array<int64_t, 7> kRadices{4, 2, 3, 5, 7, 11, 13};
constexpr int64_t kLines = FftPlan::kLines;

// The factors of n that stages have; their product is n unless a prime is too large.
std::vector<int64_t> Factor(int64_t n) {
  std::vector<int64_t> factors;
  for (const int64_t radix : kRadices) {
    for (; n % radix == 0; n /= radix) factors.push_back(radix);
  }
  return factors;
}

int64_t StageTables(int64_t n) {
  int64_t size = 0, left = n;
  for (const int64_t radix : Factor(n)) {
    left /= radix;
    size += 2 * (left * (radix - 1) + radix);
  }
  return size;
}

bool HasStages(int64_t n) {
  for (const int64_t radix : Factor(n)) n /= radix;
  return n == 1;
}

int64_t PaddedLength(int64_t n) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * n - 1)));
}

// exp(-2 pi i k / n), with k reduced first so that nothing is lost.
void StoreRoot(int64_t k, int64_t n, double* pair) {
  const double angle = 2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
  pair[0] = std::cos(angle);
  pair[1] = -std::sin(angle);
}

struct Planes {
  double* re;
  double* im;
};

// One value of each line.
struct Lane {
  double re[kLines];
  double im[kLines];
};

inline void Load(const Planes& from, int64_t at, Lane& lane) {
  for (int64_t l = 0; l < kLines; ++l) lane.re[l] = from.re[at * kLines + l];
  for (int64_t l = 0; l < kLines; ++l) lane.im[l] = from.im[at * kLines + l];
}

// to[at] = lane * w.
inline void StoreTurned(const Lane& lane, const double* w, const Planes& to, int64_t at) {
  for (int64_t l = 0; l < kLines; ++l) {
    to.re[at * kLines + l] = lane.re[l] * w[0] - lane.im[l] * w[1];
    to.im[at * kLines + l] = lane.re[l] * w[1] + lane.im[l] * w[0];
  }
}

inline void Butterfly2(Lane* a) {
  for (int64_t l = 0; l < kLines; ++l) {
    const double re = a[0].re[l] - a[1].re[l], im = a[0].im[l] - a[1].im[l];
    a[0].re[l] += a[1].re[l];
    a[0].im[l] += a[1].im[l];
    a[1].re[l] = re;
    a[1].im[l] = im;
  }
}

inline void Butterfly4(Lane* a) {
  for (int64_t l = 0; l < kLines; ++l) {
    const double pr = a[0].re[l] + a[2].re[l], pi = a[0].im[l] + a[2].im[l];
    const double qr = a[0].re[l] - a[2].re[l], qi = a[0].im[l] - a[2].im[l];
    const double sr = a[1].re[l] + a[3].re[l], si = a[1].im[l] + a[3].im[l];
    const double tr = a[1].re[l] - a[3].re[l], ti = a[1].im[l] - a[3].im[l];
    a[0].re[l] = pr + sr;
    a[0].im[l] = pi + si;
    a[1].re[l] = qr + ti;
    a[1].im[l] = qi - tr;
    a[2].re[l] = pr - sr;
    a[2].im[l] = pi - si;
    a[3].re[l] = qr - ti;
    a[3].im[l] = qi + tr;
  }
}

// By the definition, for the odd primes.
inline void ButterflyAny(Lane* a, int64_t radix, const double* roots) {
  Lane sums[kMaxRadix];
  for (int64_t k = 0; k < radix; ++k) {
    sums[k] = a[0];
    for (int64_t j = 1; j < radix; ++j) {
      const double* w = roots + 2 * (j * k % radix);
      for (int64_t l = 0; l < kLines; ++l) {
        sums[k].re[l] += a[j].re[l] * w[0] - a[j].im[l] * w[1];
        sums[k].im[l] += a[j].re[l] * w[1] + a[j].im[l] * w[0];
      }
    }
  }
  std::copy_n(sums, radix, a);
}

// The lines of one block: which they are and where each begins.
struct Block {
  int64_t count;
  int64_t begin[kLines];

  Block(const FftLines& lines, int64_t number) {
    const int64_t first = number * kLines;
    count = std::min(kLines, lines.outer * lines.inner - first);
    for (int64_t l = 0; l < kLines; ++l) {
      const int64_t line = first + std::min(l, count - 1);  // the rest repeat the last
      begin[l] = line / lines.inner * lines.length * lines.inner + line % lines.inner;
    }
  }
};

int64_t BlockCount(int64_t lines) { return (lines + kLines - 1) / kLines; }

// Runs body(block number, its scratch), with as many blocks at once as there is scratch for.
template <class Body>
void EachBlock(const FftPlan& plan, int64_t lines, double* scratch, int64_t at_once,
               const ParallelFor& each, Body body) {
  const int64_t blocks = BlockCount(lines);
  const double cost = 4.0 * static_cast<double>(plan.length() * kLines) *
                      std::log2(static_cast<double>(plan.length()) + 1);
  const int64_t share = (blocks + at_once - 1) / at_once;
  each(std::min(at_once, blocks), cost * static_cast<double>(share),
       [&](int64_t begin, int64_t end) {
         for (int64_t s = begin; s < end; ++s) {
           double* own = scratch + s * plan.BlockSize();
           for (int64_t b = s * share; b < std::min(blocks, (s + 1) * share); ++b) body(b, own);
         }
       });
}

}  // namespace

int64_t FftPlan::TableSize(int64_t n) {
  if (HasStages(n)) return StageTables(n);
  const int64_t padded = PaddedLength(n);
  return StageTables(padded) + 2 * n + 2 * padded + 4 * padded * kLines;
}

FftPlan::FftPlan(int64_t n, double* tables) : n_(n) {
  if (HasStages(n)) {
    MakeStages(n, tables);
  } else {
    MakeConvolution(tables);
  }
}

int64_t FftPlan::BlockSize() const {
  return is_convolution() ? 2 * n_ * kLines + 4 * padded_ * kLines : 4 * n_ * kLines;
}

double* FftPlan::MakeStages(int64_t n, double* tables) {
  int64_t left = n;
  for (const int64_t radix : Factor(n)) {
    const int64_t length = left;
    left /= radix;
    Stage stage{radix, left, tables, tables + 2 * left * (radix - 1)};
    for (int64_t p = 0; p < left; ++p) {
      for (int64_t k = 1; k < radix; ++k) {
        StoreRoot(p * k, length, tables);
        tables += 2;
      }
    }
    for (int64_t k = 0; k < radix; ++k, tables += 2) StoreRoot(k, radix, tables);
    stages_.push_back(stage);
  }
  return tables;
}

// x[k] is turned by a chirp exp(-pi i k^2 / n), convolved with the chirp turned back, and turned
// again: then jk = (j^2 + k^2 - (k - j)^2) / 2 makes it the transform.
void FftPlan::MakeConvolution(double* tables) {
  padded_ = PaddedLength(n_);
  tables = MakeStages(padded_, tables);
  double* chirp = tables;
  double* filter = chirp + 2 * n_;
  double* work = filter + 2 * padded_;
  for (int64_t k = 0; k < n_; ++k) {
    const auto square = static_cast<unsigned __int128>(k) * static_cast<unsigned __int128>(k);
    StoreRoot(static_cast<int64_t>(square % static_cast<unsigned __int128>(2 * n_)), 2 * n_,
              chirp + 2 * k);
  }
  std::fill_n(work, 4 * padded_ * kLines, 0.0);
  double* re = work;
  double* im = re + padded_ * kLines;
  for (int64_t k = 0; k < n_; ++k) {
    for (const int64_t at : {k, (padded_ - k) % padded_}) {
      re[at * kLines] = chirp[2 * k];
      im[at * kLines] = -chirp[2 * k + 1];
    }
  }
  RunStages(re, im, im + padded_ * kLines, im + 2 * padded_ * kLines);
  for (int64_t k = 0; k < padded_; ++k) {
    filter[2 * k] = re[k * kLines] / static_cast<double>(padded_);
    filter[2 * k + 1] = im[k * kLines] / static_cast<double>(padded_);
  }
  chirp_ = chirp;
  filter_ = filter;
}

// Stockham: each stage reads one pair of planes and writes the other, in order at the end. At a
// stage, `span` sequences of length radix * rest are interleaved.
void FftPlan::RunStages(double* re, double* im, double* other_re, double* other_im) const {
  Planes from{re, im}, to{other_re, other_im};
  static constexpr double kOne[] = {1, 0};
  int64_t span = 1;
  Lane a[kMaxRadix];
  for (const Stage& stage : stages_) {
    const int64_t radix = stage.radix, rest = stage.rest;
    for (int64_t p = 0; p < rest; ++p) {
      const double* w = stage.twiddles + 2 * p * (radix - 1);
      for (int64_t q = 0; q < span; ++q) {
        for (int64_t j = 0; j < radix; ++j) Load(from, q + span * (p + rest * j), a[j]);
        if (radix == 4) {
          Butterfly4(a);
        } else if (radix == 2) {
          Butterfly2(a);
        } else {
          ButterflyAny(a, radix, stage.roots);
        }
        for (int64_t k = 0; k < radix; ++k) {
          StoreTurned(a[k], k == 0 ? kOne : w + 2 * (k - 1), to, q + span * (radix * p + k));
        }
      }
    }
    std::swap(from, to);
    span *= radix;
  }
  if (from.re != re) {
    std::copy_n(from.re, span * kLines, re);
    std::copy_n(from.im, span * kLines, im);
  }
}

void FftPlan::Convolve(double* re, double* im, double* scratch) const {
  const int64_t plane = padded_ * kLines;
  double* a_re = scratch;
  double* a_im = a_re + plane;
  std::fill_n(a_re, 2 * plane, 0.0);
  auto turn = [](const double* w, const double* xr, const double* xi, double* yr, double* yi) {
    for (int64_t l = 0; l < kLines; ++l) {
      const double real = xr[l] * w[0] - xi[l] * w[1];
      yi[l] = xr[l] * w[1] + xi[l] * w[0];
      yr[l] = real;
    }
  };
  for (int64_t k = 0; k < n_; ++k) {
    const int64_t at = k * kLines;
    turn(chirp_ + 2 * k, re + at, im + at, a_re + at, a_im + at);
  }
  RunStages(a_re, a_im, a_im + plane, a_im + 2 * plane);
  for (int64_t k = 0; k < padded_; ++k) {
    const int64_t at = k * kLines;
    turn(filter_ + 2 * k, a_re + at, a_im + at, a_re + at, a_im + at);
  }
  RunStages(a_im, a_re, a_im + plane, a_im + 2 * plane);  // planes swapped: the inverse
  for (int64_t k = 0; k < n_; ++k) {
    const int64_t at = k * kLines;
    turn(chirp_ + 2 * k, a_re + at, a_im + at, re + at, im + at);
  }
}

void FftPlan::Transform(double* block, bool inverse) const {
  const int64_t plane = n_ * kLines;
  double* re = block;
  double* im = block + plane;
  if (inverse) std::swap(re, im);
  if (is_convolution()) {
    Convolve(re, im, block + 2 * plane);
  } else {
    RunStages(re, im, block + 2 * plane, block + 3 * plane);
  }
}

template <class R>
void Fft(const FftPlan& plan, const std::complex<R>* in, const FftLines& lines, bool inverse,
         std::complex<R>* out, double* scratch, int64_t blocks, const ParallelFor& each) {
  const int64_t n = plan.length(), plane = n * kLines;
  const double scale = inverse ? 1 / static_cast<double>(n) : 1;
  EachBlock(plan, lines.outer * lines.inner, scratch, blocks, each, [&](int64_t b, double* work) {
    const Block block(lines, b);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t l = 0; l < kLines; ++l) {
        const std::complex<R> x = in[block.begin[l] + i * lines.inner];
        work[i * kLines + l] = x.real();
        work[plane + i * kLines + l] = x.imag();
      }
    }
    plan.Transform(work, inverse);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t l = 0; l < block.count; ++l) {
        out[block.begin[l] + i * lines.inner] = {
            static_cast<R>(work[i * kLines + l] * scale),
            static_cast<R>(work[plane + i * kLines + l] * scale)};
      }
    }
  });
}

template <class R>
void RealFft(const FftPlan& plan, const R* in, int64_t lines, std::complex<R>* out, double* scratch,
             int64_t blocks, const ParallelFor& each) {
  const int64_t n = plan.length(), plane = n * kLines, half = n / 2 + 1;
  EachBlock(plan, lines, scratch, blocks, each, [&](int64_t b, double* work) {
    const Block from({lines, n, 1}, b), to({lines, half, 1}, b);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t l = 0; l < kLines; ++l) work[i * kLines + l] = in[from.begin[l] + i];
    }
    std::fill_n(work + plane, plane, 0.0);
    plan.Transform(work, false);
    for (int64_t i = 0; i < half; ++i) {
      for (int64_t l = 0; l < to.count; ++l) {
        out[to.begin[l] + i] = {static_cast<R>(work[i * kLines + l]),
                                static_cast<R>(work[plane + i * kLines + l])};
      }
    }
  });
}

template <class R>
void InverseRealFft(const FftPlan& plan, const std::complex<R>* in, int64_t lines, R* out,
                    double* scratch, int64_t blocks, const ParallelFor& each) {
  const int64_t n = plan.length(), plane = n * kLines, half = n / 2 + 1;
  const double scale = 1 / static_cast<double>(n);
  EachBlock(plan, lines, scratch, blocks, each, [&](int64_t b, double* work) {
    const Block from({lines, half, 1}, b), to({lines, n, 1}, b);
    for (int64_t i = 0; i < n; ++i) {
      // What is not given is the conjugate of its mirror image; the first value, and the middle one
      // of an even length, count as real.
      const bool given = i < half;
      const bool real = i == 0 || 2 * i == n;
      for (int64_t l = 0; l < kLines; ++l) {
        const std::complex<R> x = in[from.begin[l] + (given ? i : n - i)];
        work[i * kLines + l] = x.real();
        work[plane + i * kLines + l] = real ? 0 : given ? x.imag() : -x.imag();
      }
    }
    plan.Transform(work, true);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t l = 0; l < to.count; ++l) {
        out[to.begin[l] + i] = static_cast<R>(work[i * kLines + l] * scale);
      }
    }
  });
}

#define INSTANTIATE(R)                                                                         \
  template void Fft(const FftPlan&, const std::complex<R>*, const FftLines&, bool,             \
                    std::complex<R>*, double*, int64_t, const ParallelFor&);                   \
  template void RealFft(const FftPlan&, const R*, int64_t, std::complex<R>*, double*, int64_t, \
                        const ParallelFor&);                                                   \
  template void InverseRealFft(const FftPlan&, const std::complex<R>*, int64_t, R*, double*,   \
                               int64_t, const ParallelFor&);
INSTANTIATE(float)
INSTANTIATE(double)

}  // namespace penstock::kernels
