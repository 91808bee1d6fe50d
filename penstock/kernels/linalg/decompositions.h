#pragma once

#include <complex>
#include <cstdint>

// Decompositions of one dense matrix, row-major. They are Eigen's (kernels/linalg/eigen/); where
// the build did not find it, each answers kMissing and does nothing. T is float, double or a
// std::complex of either, unless said otherwise. Extents are positive: callers deal with nothing.
// Values that are not finite spread, as they do in sums, or are refused (kFailed).

namespace penstock::kernels {

enum class Outcome : uint8_t { kOk, kSingular, kFailed, kOutOfMemory, kMissing };

// out = a^-1, or of a's adjoint. kSingular when a pivot is 0.
template <class T>
Outcome Inverse(const T* a, int64_t n, bool adjoint, T* out);
// a x = b, or with a's adjoint; b and x are [n, columns]. kSingular when a pivot is 0.
template <class T>
Outcome Solve(const T* a, const T* b, int64_t n, int64_t columns, bool adjoint, T* x);
// det(a) = sign * exp(log_abs). Of a singular matrix the sign is 0.
template <class T>
Outcome LogDeterminant(const T* a, int64_t n, T* sign, T* log_abs);
// Row i of l u is row permutation[i] of a; l without its diagonal of ones and u share `lu`.
// kSingular when a pivot is 0.
template <class T>
Outcome Lu(const T* a, int64_t n, T* lu, int64_t* permutation);

// a = l l^H, from a's lower triangle; zeros above. kFailed when a is not positive definite.
template <class T>
Outcome Cholesky(const T* a, int64_t n, T* l);
// The derivative for a of l's, made symmetric. T is real.
template <class T>
Outcome CholeskyGradient(const T* l, const T* dl, int64_t n, T* da);
// Solves with one triangle of a, whose other is not read. Division by 0 gives what it gives.
template <class T>
Outcome TriangularSolve(const T* a, const T* b, int64_t n, int64_t columns, bool lower,
                        bool adjoint, T* x);

// Minimises |a x - b|^2 + l2 |x|^2, for a [rows, cols], b [rows, columns] and x [cols, columns].
// Fast is by the normal equations, which must be positive definite (kSingular); else l2 is not
// used, and x is the shortest solution.
template <class T>
Outcome LeastSquares(const T* a, const T* b, int64_t rows, int64_t cols, int64_t columns, double l2,
                     bool fast, T* x);

// a = q r. Full: q is [rows, rows] and r [rows, cols]; else min(rows, cols) takes the place of the
// inner extent.
template <class T>
Outcome Qr(const T* a, int64_t rows, int64_t cols, bool full, T* q, T* r);

// a = u diag(s) v^H, s decreasing. u is [rows, k] and v [cols, k] with k = min(rows, cols), or
// square when `full`; null: not computed. Of a matrix that is not finite all is NaN.
template <class T>
Outcome Svd(const T* a, int64_t rows, int64_t cols, bool full, T* s, T* u, T* v);

// a v = v diag(e) from the lower triangle of a self-adjoint a, e increasing; v null: not computed.
template <class T>
Outcome SelfAdjointEig(const T* a, int64_t n, T* e, T* v);
// The same of any matrix. T is complex.
template <class T>
Outcome Eig(const T* a, int64_t n, T* e, T* v);

// NaN where the root of a real matrix is not real.
template <class T>
Outcome MatrixSquareRoot(const T* a, int64_t n, T* out);
// T is complex.
template <class T>
Outcome MatrixLogarithm(const T* a, int64_t n, T* out);

}  // namespace penstock::kernels
