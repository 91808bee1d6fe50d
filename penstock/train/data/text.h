#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "penstock/train/data/dataset.h"

// Text, for language models.

namespace penstock {

// The lines of a file, plain or compressed by gzip, without their ends.
Dataset<Array<std::string>> TextLines(std::string path);
// All of a file, plain or compressed by gzip. Throws Error.
std::string ReadText(const std::string& path, int64_t limit = int64_t{1} << 32);

// A list of tokens, each with a number. Token 0 of a vocabulary of words stands for all others.
class Vocabulary {
 public:
  // The bytes of the text, in the order of their values.
  static Vocabulary Characters(std::string_view text);
  // The words of the text, between blanks, by how often they come (those that come as often, by
  // their bytes): at most `size` of them, the unknown one included.
  static Vocabulary Words(std::string_view text, int64_t size);

  int64_t size() const { return static_cast<int64_t>(tokens_.size()); }
  const std::string& token(int64_t id) const { return tokens_.at(static_cast<size_t>(id)); }
  // The number of a token; of one that is not there the unknown one's. Throws NotFound where a
  // vocabulary has none.
  int32_t Id(std::string_view token) const;
  std::vector<int32_t> Encode(std::string_view text) const;
  // The text again; words are joined by blanks.
  std::string Decode(const std::vector<int32_t>& ids) const;

 private:
  bool words_ = false;
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, int32_t> ids_;
};

// What a language model learns from: `targets` are the tokens that follow `inputs`.
struct TokenWindow {
  Array<int32_t> inputs;   // [length], or [batch, length]
  Array<int32_t> targets;  // the same
};

// Windows of the tokens that begin every `stride` (0: every `length`) of them.
Dataset<TokenWindow> TokenWindows(std::vector<int32_t> tokens, int64_t length, int64_t stride = 0);
// Batches for models that carry their state from one to the next: the tokens are cut into `batch`
// rows of equal length, and each batch goes on where the one before ended.
Dataset<TokenWindow> TokenStream(std::vector<int32_t> tokens, int64_t batch, int64_t length);

}  // namespace penstock
