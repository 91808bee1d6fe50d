#include "penstock/train/data/tiny_shakespeare.h"

#include "penstock/io/file_tree.h"

namespace penstock {

TinyShakespeare::TinyShakespeare(const std::string& folder) {
  const std::string plain = folder + "/input.txt";
  text = ReadText(io::FileExists(plain) ? plain : plain + ".gz");
  vocabulary = Vocabulary::Characters(text);
  const size_t cut = text.size() / 10 * 9;
  train = vocabulary.Encode(std::string_view(text).substr(0, cut));
  valid = vocabulary.Encode(std::string_view(text).substr(cut));
}

}  // namespace penstock
