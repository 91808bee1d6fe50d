// Products of 8-bit numbers. With sums over k,
//   (A - a)(B - b) = AB - b * (row sums of A) - a * (column sums of B) + K a b,
// so that a library multiplies plain bytes and the offsets may be any numbers. It wants A without
// and B with a sign: 128 is taken from B and its offset where B has none.
#include "penstock/kernels/quantized_gemm.h"

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "penstock/kernels/quantized_gemm_block.h"
#include "penstock/kernels/targets.h"
#include "penstock/kernels/verbose.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/quantized_gemm.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {

void PlainBytes(const ByteGemmBlock& p) {
  for (int64_t row = 0; row < p.rows; ++row) {
    int32_t* c = p.c + row * p.N;
    std::fill_n(c, p.N, 0);
    for (int64_t k = 0; k < p.K; ++k) {
      const int32_t a = p.a[row * p.K + k];
      const int8_t* b = p.b + k * p.N;
      for (int64_t n = 0; n < p.N; ++n) {
        c[n] = static_cast<int32_t>(static_cast<uint32_t>(c[n]) + static_cast<uint32_t>(a * b[n]));
      }
    }
  }
}

// c -= b_offset * row sum + (a_offset * column sum - K * a_offset * b_offset)
void Correct(const ByteGemmBlock& p, uint32_t b_offset, const uint32_t* column_terms) {
  for (int64_t row = 0; row < p.rows; ++row) {
    const uint8_t* a = p.a + row * p.K;
    uint32_t sum = 0;
    for (int64_t k = 0; k < p.K; ++k) sum += a[k];
    const uint32_t row_term = b_offset * sum;
    int32_t* c = p.c + row * p.N;
    for (int64_t n = 0; n < p.N; ++n) {
      c[n] = static_cast<int32_t>(static_cast<uint32_t>(c[n]) - row_term - column_terms[n]);
    }
  }
}

}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels {
namespace {

HWY_EXPORT(PlainBytes);
HWY_EXPORT(Correct);

constexpr int64_t Aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// Rows that fit in half of a small second-level cache.
int64_t BlockRows(const QuantizedGemmShape& s) {
  return std::clamp<int64_t>((int64_t{1} << 17) / std::max<int64_t>(s.K, 1), 16, 256);
}
int64_t Blocks(const QuantizedGemmShape& s) { return (s.M + BlockRows(s) - 1) / BlockRows(s); }
int64_t Slots(const QuantizedGemmShape& s, int threads) {
  return std::min<int64_t>(Blocks(s), threads);
}

const char* FitsAll() { return nullptr; }

struct Candidate {
  const char* name;
  const char* (*unfit)();
  bool (*run)(const ByteGemmBlock&);
};
constexpr Candidate kCandidates[] = {
    {"onednn_gemm_u8s8s32", UnfitForByteGemm, OneDnnByteGemm},
    {"plain", FitsAll, PlainByteGemm},
};

const Candidate& Choose(const QuantizedGemmShape& s) {
  for (const Candidate& candidate : kCandidates) {
    const char* why = candidate.unfit();
    if (VerboseKernels()) {
      std::fprintf(stderr, "penstock kernels: quantized gemm [%lld,%lld,%lld]: %s%s%s\n",
                   static_cast<long long>(s.M), static_cast<long long>(s.N),
                   static_cast<long long>(s.K), candidate.name,
                   why == nullptr ? " runs" : " skipped: ", why == nullptr ? "" : why);
    }
    if (why == nullptr) return candidate;
  }
  return *(std::end(kCandidates) - 1);
}

// B as signed bytes [K, N], and the part of the correction that hangs on the column.
void PackColumns(const QuantizedGemmShape& s, const QuantizedMatrix& b, uint32_t a_offset,
                 uint32_t b_offset, int8_t* packed, uint32_t* terms) {
  const auto* from = static_cast<const uint8_t*>(b.data);
  const uint8_t flip = b.is_signed ? 0 : 0x80;
  std::fill_n(terms, s.N, 0u);
  for (int64_t k = 0; k < s.K; ++k) {
    for (int64_t n = 0; n < s.N; ++n) {
      const auto value = static_cast<int8_t>(from[b.transposed ? n * s.K + k : k * s.N + n] ^ flip);
      packed[k * s.N + n] = value;
      terms[n] += static_cast<uint32_t>(value);
    }
  }
  const uint32_t both = static_cast<uint32_t>(s.K) * a_offset * b_offset;
  for (int64_t n = 0; n < s.N; ++n) terms[n] = a_offset * terms[n] - both;
}

}  // namespace

bool PlainByteGemm(const ByteGemmBlock& block) {
  HWY_DYNAMIC_DISPATCH(PlainBytes)(block);
  return true;
}

int64_t QuantizedGemmScratch(const QuantizedGemmShape& s, int threads) {
  return Aligned(s.K * s.N) + Aligned(4 * s.N) + Slots(s, threads) * Aligned(BlockRows(s) * s.K);
}

bool QuantizedGemm(const QuantizedGemmShape& s, const ByteRows& a, int64_t a_offset,
                   const QuantizedMatrix& b, int64_t b_offset, int32_t* c, void* scratch,
                   const ParallelFor& each) {
  if (s.M == 0 || s.N == 0) return true;
  if (s.K == 0) {
    std::fill_n(c, s.M * s.N, 0);
    return true;
  }
  auto* const packed = static_cast<int8_t*>(scratch);
  auto* const terms = reinterpret_cast<uint32_t*>(static_cast<char*>(scratch) + Aligned(s.K * s.N));
  uint8_t* const rows = reinterpret_cast<uint8_t*>(terms) + Aligned(4 * s.N);
  const auto a_zero = static_cast<uint32_t>(a_offset);
  const auto b_zero = static_cast<uint32_t>(b_offset - (b.is_signed ? 0 : 128));
  PackColumns(s, b, a_zero, b_zero, packed, terms);
  const Candidate& candidate = Choose(s);
  const int64_t block_rows = BlockRows(s), blocks = Blocks(s), slots = Slots(s, each.threads());
  std::atomic<int64_t> next{0};
  std::atomic<bool> ok{true};
  const double work = static_cast<double>(s.M) * static_cast<double>(s.N) *
                      static_cast<double>(s.K) / static_cast<double>(slots);
  each(slots, work / 32, [&](int64_t begin, int64_t end) {
    for (int64_t slot = begin; slot < end; ++slot) {
      uint8_t* const buffer = rows + slot * Aligned(block_rows * s.K);
      for (int64_t i = next++; i < blocks; i = next++) {
        const int64_t first = i * block_rows, count = std::min(block_rows, s.M - first);
        a(first, count, buffer);
        const ByteGemmBlock block{count, s.N, s.K, buffer, packed, c + first * s.N};
        if (!candidate.run(block)) ok = false;
        HWY_DYNAMIC_DISPATCH(Correct)(block, b_zero, terms);
      }
    }
  });
  return ok;
}

}  // namespace penstock::kernels
#endif
