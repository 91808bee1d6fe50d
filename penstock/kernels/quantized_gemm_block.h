#pragma once

#include <cstdint>

namespace penstock::kernels {

// rows x N products of unsigned bytes A [rows, K] and signed bytes B [K, N], on the calling thread.
struct ByteGemmBlock {
  int64_t rows, N, K;
  const uint8_t* a;
  const int8_t* b;
  int32_t* c;
};

// Null when oneDNN multiplies bytes exactly on this machine; else why it does not.
const char* UnfitForByteGemm();
// False when it refused.
bool OneDnnByteGemm(const ByteGemmBlock& block);
// Straight loops.
bool PlainByteGemm(const ByteGemmBlock& block);

}  // namespace penstock::kernels
