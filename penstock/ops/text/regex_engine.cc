#include "penstock/ops/text/regex_engine.h"

#ifdef PENSTOCK_RE2

#include <re2/re2.h>

namespace penstock::ops {
namespace {

RE2::Options QuietOptions() {
  RE2::Options options;
  options.set_log_errors(false);
  return options;
}

class Re2Regex final : public Regex {
 public:
  explicit Re2Regex(const std::string& pattern) : re_(pattern, QuietOptions()) {}
  const RE2& re() const { return re_; }

  bool MatchesAll(std::string_view text) const override {
    return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), re_);
  }
  void Replace(std::string_view rewrite, bool all, std::string* text) const override {
    const re2::StringPiece by(rewrite.data(), rewrite.size());
    if (all) {
      RE2::GlobalReplace(text, re_, by);
    } else {
      RE2::Replace(text, re_, by);
    }
  }

 private:
  const RE2 re_;
};

}  // namespace

Result<std::shared_ptr<const Regex>> Regex::Compile(const std::string& pattern) {
  auto regex = std::make_shared<Re2Regex>(pattern);
  if (regex->re().ok()) return std::shared_ptr<const Regex>(std::move(regex));
  return InvalidArgument("Invalid pattern: {}, error: {}", Printable(pattern), regex->re().error());
}

}  // namespace penstock::ops

#else

namespace penstock::ops {

Result<std::shared_ptr<const Regex>> Regex::Compile(const std::string&) {
  return Unimplemented("regular expressions need RE2, which this build does not have (libre2-dev)");
}

}  // namespace penstock::ops

#endif
