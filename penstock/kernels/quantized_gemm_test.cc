#include "penstock/kernels/quantized_gemm.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "penstock/core/thread_pool.h"
#include "penstock/kernels/quantized_gemm_block.h"

namespace penstock::kernels {
namespace {

std::vector<uint8_t> Bytes(int64_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(static_cast<size_t>(n));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

TEST(QuantizedGemm, SubtractsOffsetsExactly) {
  ThreadPool pool(3);
  for (const QuantizedGemmShape s : {QuantizedGemmShape{3, 5, 7}, {700, 33, 129}, {1, 64, 2000}}) {
    for (const bool is_signed : {false, true}) {
      for (const bool transposed : {false, true}) {
        const auto a = Bytes(s.M * s.K, 1), b = Bytes(s.K * s.N, 2);
        const int64_t a_offset = 131, b_offset = is_signed ? -3 : 300;
        std::vector<int32_t> c(static_cast<size_t>(s.M * s.N));
        const std::unique_ptr<void, void (*)(void*)> scratch(
            std::aligned_alloc(64, static_cast<size_t>(QuantizedGemmScratch(s, 3))), std::free);
        ASSERT_TRUE(QuantizedGemm(
            s,
            [&](int64_t begin, int64_t rows, uint8_t* to) {
              std::copy_n(a.data() + begin * s.K, rows * s.K, to);
            },
            a_offset, {b.data(), is_signed, transposed}, b_offset, c.data(), scratch.get(),
            ParallelFor(&pool)));
        for (int64_t m = 0; m < s.M; ++m) {
          for (int64_t n = 0; n < s.N; ++n) {
            int64_t sum = 0;
            for (int64_t k = 0; k < s.K; ++k) {
              const uint8_t byte = b[static_cast<size_t>(transposed ? n * s.K + k : k * s.N + n)];
              const int64_t right = is_signed ? static_cast<int8_t>(byte) : byte;
              sum += (a[static_cast<size_t>(m * s.K + k)] - a_offset) * (right - b_offset);
            }
            ASSERT_EQ(c[static_cast<size_t>(m * s.N + n)], static_cast<int32_t>(sum));
          }
        }
      }
    }
  }
}

TEST(QuantizedGemm, LibraryAgreesWithLoops) {
  if (UnfitForByteGemm() != nullptr) GTEST_SKIP() << UnfitForByteGemm();
  const std::vector<uint8_t> a(70 * 300, 255), b(300 * 90, 0x80);
  std::vector<int32_t> c(70 * 90), d(c);
  ByteGemmBlock block{70, 90, 300, a.data(), reinterpret_cast<const int8_t*>(b.data()), c.data()};
  ASSERT_TRUE(OneDnnByteGemm(block));
  block.c = d.data();
  ASSERT_TRUE(PlainByteGemm(block));
  EXPECT_EQ(c, d);
}

}  // namespace
}  // namespace penstock::kernels
