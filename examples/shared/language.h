#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Words to learn a language from.

namespace examples {

struct Language {
  std::vector<int32_t> train, held_out;
  int64_t vocabulary = 0;
  std::vector<std::string> words = {};  // by number; empty for one that was made
  int64_t group = 0;  // of one that was made: words [k * group, (k + 1) * group) mean the same
};

// The words of a text file, plain or compressed by gzip, the most frequent `vocabulary` of them.
// One in ten, at the end, is held out.
Language ReadLanguage(const std::string& path, int64_t vocabulary);

// A language with a grammar: 50 groups of 20 words; a word of a group, any, is followed by one of
// five groups. Whoever knows the grammar guesses with a perplexity of 100, whoever knows nothing
// with 1000.
Language MakeLanguage(int64_t length = 200000);

// A file's, or one that was made when there is none.
Language LanguageOf(const std::string& path);

}  // namespace examples
