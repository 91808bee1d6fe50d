#pragma once

#include <cstddef>

namespace penstock {

// Memory of the host for tensors, aligned for vectors, to be given back with std::free. Large
// blocks lie on huge pages where the system has them: far fewer page faults on the first touch, and
// fewer misses of the address cache on every later one. Null when there is none.
void* AllocateHostMemory(size_t bytes);

}  // namespace penstock
