// Bytes as a checkpoint: an error, or tensors that are written and read again as the same. The
// first byte says what follows: 0, an index as it lies on the disk; else entries, of which an index
// with good checksums is made, and the data file.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "penstock/core/check.h"
#include "penstock/io/bundle.h"
#include "penstock/io/file_tree.h"
#include "penstock/io/table.h"

namespace penstock::io {
namespace {

const std::string& Folder() {
  static const std::string* const folder = [] {
    char pattern[] = "/tmp/bundle_fuzz_XXXXXX";
    CHECK(mkdtemp(pattern) != nullptr);
    return new std::string(pattern);
  }();
  return *folder;
}

// A byte for the length, then so many bytes.
std::string Take(std::string_view* bytes) {
  if (bytes->empty()) return "";
  const size_t length = std::min<size_t>(static_cast<uint8_t>((*bytes)[0]), bytes->size() - 1);
  std::string part(bytes->substr(1, length));
  bytes->remove_prefix(1 + length);
  return part;
}

// An index of the entries that `bytes` lists, up to an empty key; leaves the data.
std::string MakeIndex(std::string_view* bytes) {
  std::vector<TableEntry> entries{{"", Take(bytes)}};
  while (!bytes->empty()) {
    std::string key = Take(bytes);
    if (key.empty()) break;
    if (key > entries.back().key) entries.push_back({std::move(key), Take(bytes)});
  }
  const Result<std::string> table = BuildTable(entries);
  CHECK(table.ok()) << table.status().ToString();
  return *table;
}

void Check(std::string_view bytes) {
  if (bytes.empty()) return;
  const bool raw = bytes[0] == 0;
  bytes.remove_prefix(1);
  const std::string prefix = Folder() + "/p";
  const std::string index = raw ? std::string(bytes) : MakeIndex(&bytes);
  const Result<BundleIndex> parsed = ParseBundleIndex(index, "fuzz");
  if (!parsed.ok() || parsed->num_shards != 1) return;
  CHECK(WriteFileAtomically(BundleIndexPath(prefix), index).ok());
  CHECK(WriteFileAtomically(BundleDataPath(prefix, 0, 1), raw ? "" : bytes).ok());
  const Result<BundleReader> reader = BundleReader::Open(prefix);
  CHECK(reader.ok()) << reader.status().ToString();
  Result<BundleWriter> writer = BundleWriter::Open(prefix + "_again");
  for (const std::string& name : reader->Names()) {
    const Result<Tensor> tensor = reader->Read(name);
    if (!tensor.ok()) continue;
    const Status added = writer->Add(name, *tensor);
    CHECK(added.ok()) << added.ToString();
  }
}

}  // namespace
}  // namespace penstock::io

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  penstock::io::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
