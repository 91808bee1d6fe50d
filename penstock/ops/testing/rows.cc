#include "penstock/ops/testing/rows.h"

#include <map>

#include "penstock/ops/testing/row_check.h"

namespace penstock::rows {
namespace {

class RowTest : public ::testing::Test {
 public:
  explicit RowTest(Row row) : row_(std::move(row)) {}
  void TestBody() override { CheckRow(row_); }

 private:
  const Row row_;
};

// Rows of one op may stand in several files: the numbers go on.
int NextNumber(const std::string& op) {
  static auto* const next = new std::map<std::string, int>;
  return (*next)[op]++;
}

}  // namespace

double UniformAt(uint64_t seed, uint64_t i) {
  uint64_t z = (seed + 1) * 0x9e3779b97f4a7c15ull + (i + 1) * 0xd1342543de82ef95ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

Row& Row::Attr(std::string_view name, AttrValue value) {
  SetAttr(attrs_, name, std::move(value));
  return *this;
}
Row& Row::EachElement(double (*f)(double)) {
  each_ = [f](double a, double) { return f(a); };
  return *this;
}
Row& Row::EachElement(double (*f)(double, double)) {
  each_ = f;
  return *this;
}
Row& Row::Tolerance(double tolerance) {
  tolerance_ = tolerance;
  return *this;
}
Row& Row::Named(std::string_view name) {
  name_ = name;
  return *this;
}
Row& Row::Fails(Code code, std::string_view text) {
  fails_.emplace(code, text);
  return *this;
}
Row& Row::Gradient() {
  gradient_ = GradientCheck::kAlways;
  return *this;
}
Row& Row::NoGradient() {
  gradient_ = GradientCheck::kNever;
  return *this;
}

void CheckRow(const Row& row) { RowCheck(row).Do(); }

OpRows::OpRows(std::initializer_list<Row> rows, std::source_location at) {
  for (const Row& row : rows) {
    std::string name = std::to_string(NextNumber(row.op()));
    if (!row.name().empty()) name += "_" + row.name();
    ::testing::RegisterTest((row.op() + "Rows").c_str(), name.c_str(), nullptr, nullptr,
                            at.file_name(), static_cast<int>(at.line()),
                            [row]() -> ::testing::Test* { return new RowTest(row); });
  }
}

}  // namespace penstock::rows
