// Bytes as arrays of NumPy: an error, or tensors that are written and read again as the same. The
// first byte says what follows: 0, a .npy file; else a .npz file.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "penstock/core/check.h"
#include "penstock/io/npz.h"

namespace penstock::io {
namespace {

constexpr uint64_t kLimit = 16 << 20;

const std::string& Folder() {
  static const std::string* const folder = [] {
    char pattern[] = "/tmp/npz_fuzz_XXXXXX";
    CHECK(mkdtemp(pattern) != nullptr);
    return new std::string(pattern);
  }();
  return *folder;
}

std::vector<NamedTensor> ReadAll(const std::string& path, bool is_array) {
  std::vector<NamedTensor> tensors;
  if (is_array) {
    Result<Tensor> tensor = ReadNpy(path);
    if (tensor.ok()) tensors.push_back({"x", *std::move(tensor)});
    return tensors;
  }
  const Result<NpzReader> reader = NpzReader::Open(path, kLimit);
  if (!reader.ok()) return tensors;
  for (const std::string& name : reader->Names()) {
    Result<Tensor> tensor = reader->Read(name);
    if (tensor.ok()) tensors.push_back({name, *std::move(tensor)});
  }
  return tensors;
}

void Check(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::string path = Folder() + "/f";
  Result<File> file = File::Create(path);
  CHECK(file.ok() && file->Append(bytes.substr(1)).ok());
  const std::vector<NamedTensor> tensors = ReadAll(path, bytes[0] == 0);
  if (tensors.empty()) return;
  const Status written = WriteNpz(Folder() + "/g", tensors);
  CHECK(written.ok()) << written.ToString();
  const Result<NpzReader> again = NpzReader::Open(Folder() + "/g");
  CHECK(again.ok()) << again.status().ToString();
  for (const auto& [name, tensor] : tensors) {
    const Result<Tensor> read = again->Read(name);
    CHECK(read.ok()) << read.status().ToString();
    CHECK_EQ(read->ToString(), tensor.ToString());
  }
}

}  // namespace
}  // namespace penstock::io

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  penstock::io::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
