// Bytes as a file of safetensors: an error, or tensors that are written and read again as the same.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "penstock/core/check.h"
#include "penstock/io/safetensors.h"

namespace penstock::io {
namespace {

const std::string& Folder() {
  static const std::string* const folder = [] {
    char pattern[] = "/tmp/safetensors_fuzz_XXXXXX";
    CHECK(mkdtemp(pattern) != nullptr);
    return new std::string(pattern);
  }();
  return *folder;
}

void Check(std::string_view bytes) {
  const std::string path = Folder() + "/f";
  Result<File> file = File::Create(path);
  CHECK(file.ok() && file->Append(bytes).ok());
  const Result<SafetensorsReader> reader = SafetensorsReader::Open(path);
  if (!reader.ok()) return;
  std::vector<NamedTensor> tensors;
  for (const std::string& name : reader->Names()) {
    Result<Tensor> tensor = reader->Read(name);
    if (tensor.ok()) tensors.push_back({name, *std::move(tensor)});
  }
  const Status written = WriteSafetensors(Folder() + "/g", tensors, reader->header().metadata);
  CHECK(written.ok()) << written.ToString();
  const Result<SafetensorsReader> again = SafetensorsReader::Open(Folder() + "/g");
  CHECK(again.ok()) << again.status().ToString();
  for (const auto& [name, tensor] : tensors) {
    const Result<Tensor> read = again->Read(name);
    CHECK(read.ok() && read->shape() == tensor.shape() && read->dtype() == tensor.dtype());
    CHECK(tensor.bytes() == 0 || std::memcmp(read->raw(), tensor.raw(), tensor.bytes()) == 0);
  }
}

}  // namespace
}  // namespace penstock::io

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  penstock::io::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
