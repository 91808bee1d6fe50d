#pragma once

#include <string>

#include "penstock/io/compression.h"

namespace penstock::io {

// How a file that is not itself a compressed format was compressed: by gzip when it begins as gzip
// files do, else not at all.
Result<Compression> GuessCompression(const std::string& path);
// Opens a file, plain or compressed by gzip.
Result<InputStream> OpenAny(const std::string& path);

}  // namespace penstock::io
