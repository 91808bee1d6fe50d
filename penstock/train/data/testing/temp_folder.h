#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "penstock/io/record.h"
#include "penstock/io/wire_writer.h"

namespace penstock::testing_data {

// A folder that goes away with the test.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "data_test_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    // Emptying a file in place is slow: some file systems then flush it.
    std::filesystem::remove(path_ / name);
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return *this / name;
  }
  std::string Read(const std::string& name) const {
    std::ifstream in(path_ / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

 private:
  std::filesystem::path path_;
};

// A serialized tf.Example {"image": bytes, "label": int64}.
inline std::string MakeExample(const std::string& image, int64_t label) {
  using io::WireWriter;
  const auto entry = [](const std::string& name, int kind, const std::string& list) {
    const std::string feature = WireWriter().Bytes(static_cast<uint32_t>(kind), list).text();
    return WireWriter().Bytes(1, name).Bytes(2, feature).text();
  };
  const std::string features =
      WireWriter()
          .Bytes(1, entry("image", 1, WireWriter().Bytes(1, image).text()))
          .Bytes(1, entry("label", 3, WireWriter().Varint(1, static_cast<uint64_t>(label)).text()))
          .text();
  return WireWriter().Bytes(1, features).text();
}

// Writes Examples 0 to count - 1: image i is `size` bytes of value i % 251, label i % classes.
inline std::string WriteExamples(const TempFolder& folder, const std::string& name, int64_t count,
                                 size_t size = 4, int64_t classes = 10, int64_t first = 0) {
  io::RecordWriter writer = *io::RecordWriter::Open(folder / name);
  for (int64_t i = first; i < first + count; ++i)
    (void)writer.Write(MakeExample(std::string(size, static_cast<char>(i % 251)), i % classes));
  (void)writer.Close();
  return folder / name;
}

}  // namespace penstock::testing_data
