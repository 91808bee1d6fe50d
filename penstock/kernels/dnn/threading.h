#pragma once

#include <dlfcn.h>
#include <dnnl_config.h>

namespace penstock::kernels {

// While it lives, OpenMP regions that the calling thread enters have one thread: no team is
// started, and none spins. OpenMP's functions are asked for at run time, since only oneDNN links
// OpenMP and linkers differ in whether a weak reference of ours finds it there; a oneDNN without
// OpenMP does not bring them, and then none are needed.
class SerialOpenMp {
 public:
  SerialOpenMp() : before_(MaxThreads()) {
    if (before_ != 1) Functions::Get().set_num_threads(1);
  }
  ~SerialOpenMp() {
    if (before_ != 1) Functions::Get().set_num_threads(before_);
  }
  SerialOpenMp(const SerialOpenMp&) = delete;
  SerialOpenMp& operator=(const SerialOpenMp&) = delete;

 private:
  struct Functions {
    int (*get_max_threads)() = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT,
                                                                 "omp_get_max_threads"));
    void (*set_num_threads)(int) = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT,
                                                                         "omp_set_num_threads"));

    static const Functions& Get() {
      static const Functions functions;
      return functions;
    }
  };

  static int MaxThreads() {
    const Functions& omp = Functions::Get();
    return omp.get_max_threads != nullptr && omp.set_num_threads != nullptr ? omp.get_max_threads()
                                                                            : 1;
  }

  const int before_;
};

// Null when oneDNN runs on the threads it is called from; else why it does not.
inline const char* UnfitThreading() {
  constexpr bool kOurThreadsOnly = DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP ||
                                   DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_SEQ ||
                                   DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_THREADPOOL;
  return kOurThreadsOnly
             ? nullptr
             : "this oneDNN starts threads of its own (not an OpenMP, sequential or pool build)";
}

}  // namespace penstock::kernels
