#include <dnnl.h>
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_THREADPOOL
#include <dnnl_threadpool.h>
#endif

#include <initializer_list>

#include "penstock/kernels/dnn/threading.h"
#include "penstock/kernels/quantized_gemm_block.h"

namespace penstock::kernels {

const char* UnfitForByteGemm() {
  if (const char* why = UnfitThreading()) return why;
  const auto isa = static_cast<unsigned>(dnnl_get_effective_cpu_isa());
  for (const auto exact : {dnnl_cpu_isa_avx512_core_vnni, dnnl_cpu_isa_avx2_vnni}) {
    if ((isa & static_cast<unsigned>(exact)) == static_cast<unsigned>(exact)) return nullptr;
  }
  return "without VNNI it adds pairs of products in 16 bits that saturate";
}

bool OneDnnByteGemm(const ByteGemmBlock& p) {
  const int32_t zero = 0;
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_THREADPOOL
  return dnnl_threadpool_interop_gemm_u8s8s32('N', 'N', 'F', p.rows, p.N, p.K, 1, p.a, p.K, 0, p.b,
                                              p.N, 0, 0, p.c, p.N, &zero,
                                              /*threadpool=*/nullptr) == dnnl_success;
#else
  const SerialOpenMp serial;
  return dnnl_gemm_u8s8s32('N', 'N', 'F', p.rows, p.N, p.K, 1, p.a, p.K, 0, p.b, p.N, 0, 0, p.c,
                           p.N, &zero) == dnnl_success;
#endif
}

}  // namespace penstock::kernels
