#pragma once

#include <cstdint>
#include <string_view>

namespace penstock::io {

using CrcFunction = uint32_t (*)(std::string_view data, uint32_t crc);

// Crc32c by the processor's instruction for it. Null where there is none.
CrcFunction HardwareCrc32c();

}  // namespace penstock::io
