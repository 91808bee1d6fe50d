#include "penstock/io/open_any.h"

#include <string_view>

namespace penstock::io {

Result<Compression> GuessCompression(const std::string& path) {
  TRY_ASSIGN(const File file, File::OpenToRead(path));
  char begin[3];
  TRY_ASSIGN(const size_t got, file.ReadAt(0, sizeof begin, begin));
  // The third byte says how: there has never been another way than deflate.
  return std::string_view(begin, got) == "\x1f\x8b\x08" ? Compression::kGzip : Compression::kNone;
}

Result<InputStream> OpenAny(const std::string& path) {
  TRY_ASSIGN(const Compression compression, GuessCompression(path));
  return InputStream::Open(path, compression);
}

}  // namespace penstock::io
