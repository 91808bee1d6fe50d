#include "examples/shared/language.h"

#include <penstock/penstock.h>

#include <random>

namespace examples {
namespace {

void CutOff(const std::vector<int32_t>& ids, Language* language) {
  const auto cut = ids.begin() + static_cast<std::ptrdiff_t>(ids.size() - ids.size() / 10);
  language->train.assign(ids.begin(), cut);
  language->held_out.assign(cut, ids.end());
}

}  // namespace

Language ReadLanguage(const std::string& path, int64_t vocabulary) {
  const std::string text = penstock::ReadText(path);
  const auto words = penstock::Vocabulary::Words(text, vocabulary);
  Language language;
  language.vocabulary = words.size();
  for (int64_t i = 0; i < words.size(); ++i) language.words.push_back(words.token(i));
  CutOff(words.Encode(text), &language);
  return language;
}

Language MakeLanguage(int64_t length) {
  constexpr int64_t kGroups = 50, kWords = 20, kFollowers = 5;
  std::mt19937 random(1);
  auto pick = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint32_t>(n)); };
  std::vector<int64_t> followers(kGroups * kFollowers);
  for (int64_t& follower : followers) follower = pick(kGroups);
  std::vector<int32_t> ids;
  int64_t group = 0;
  for (int64_t i = 0; i < length; ++i) {
    ids.push_back(static_cast<int32_t>(group * kWords + pick(kWords)));
    group = followers[static_cast<size_t>(group * kFollowers + pick(kFollowers))];
  }
  Language language;
  language.vocabulary = kGroups * kWords;
  language.group = kWords;
  CutOff(ids, &language);
  return language;
}

Language LanguageOf(const std::string& path) {
  return path.empty() ? MakeLanguage() : ReadLanguage(path, 10000);
}

}  // namespace examples
