#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "penstock/core/parallel.h"

namespace penstock::kernels {

// Discrete Fourier transforms of one length, O(n log n) for every n: Stockham's mixed radix where n
// has no prime factor above 13, else Bluestein's convolution. Written here since the usual
// libraries are either no dependency of ours (FFTW) or quadratic for large primes (Eigen's
// kissfft). Everything is computed in double, whatever the type of the data.
class FftPlan {
 public:
  // How many doubles of tables a plan of this length needs. REQUIRES: 1 <= n <= kMaxLength.
  static int64_t TableSize(int64_t n);
  // `tables` has that size and outlives the plan.
  FftPlan(int64_t n, double* tables);

  static constexpr int64_t kMaxLength = int64_t{1} << 48;
  // How many lines are transformed side by side, so that loops over them are vectors.
  static constexpr int64_t kLines = 8;

  int64_t length() const { return n_; }
  // How many doubles a block of lines needs, the lines included.
  int64_t BlockSize() const;
  // Transforms kLines lines in place: element i of line l is block[i * kLines + l], and its
  // imaginary part lies n * kLines further on. Unscaled.
  void Transform(double* block, bool inverse) const;

 private:
  struct Stage {
    int64_t radix;
    int64_t rest;            // the length that is left after this stage
    const double* twiddles;  // [rest, radix - 1] pairs
    const double* roots;     // of unity, [radix] pairs
  };

  bool is_convolution() const { return padded_ != 0; }
  double* MakeStages(int64_t n, double* tables);
  void MakeConvolution(double* tables);
  void RunStages(double* re, double* im, double* other_re, double* other_im) const;
  void Convolve(double* re, double* im, double* scratch) const;

  int64_t n_;
  int64_t padded_ = 0;              // of a convolution: a power of 2
  std::vector<Stage> stages_;       // of n, or of padded
  const double* chirp_ = nullptr;   // n pairs
  const double* filter_ = nullptr;  // the transformed chirp, padded pairs
};

// How lines lie in an array: line l = o * inner + i begins at o * length * inner + i, and its
// elements are `inner` apart.
struct FftLines {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;
};

// Transforms all lines along one axis; `in` and `out` have one shape and may be the same. Scaled by
// 1 / n when inverse. `scratch` holds BlockSize() doubles for each of `blocks` blocks, which run at
// once. R: float or double.
template <class R>
void Fft(const FftPlan& plan, const std::complex<R>* in, const FftLines& lines, bool inverse,
         std::complex<R>* out, double* scratch, int64_t blocks, const ParallelFor& each);
// Real lines of length n to their first n / 2 + 1 complex values, which determine the others.
template <class R>
void RealFft(const FftPlan& plan, const R* in, int64_t lines, std::complex<R>* out, double* scratch,
             int64_t blocks, const ParallelFor& each);
// And back, scaled.
template <class R>
void InverseRealFft(const FftPlan& plan, const std::complex<R>* in, int64_t lines, R* out,
                    double* scratch, int64_t blocks, const ParallelFor& each);

}  // namespace penstock::kernels
