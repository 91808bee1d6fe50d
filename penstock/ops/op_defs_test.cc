#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "penstock/device/kernel.h"
#include "penstock/graph/op_def_proto.h"
#include "penstock/graph/registry.h"

namespace penstock::ops {
namespace {

// TensorFlow's definitions, where they lie beside the repository.
constexpr char kTheirs[] = "../shared/op_defs/ops.pbtxt.gz";

bool IsOurOwn(const std::string& name) { return name.starts_with("_"); }

std::string Unpacked(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(("gzip -dc " + path).c_str(), "r"),
                                                   &pclose);
  std::string text;
  char buffer[1 << 16];
  while (pipe != nullptr) {
    const size_t n = fread(buffer, 1, sizeof buffer, pipe.get());
    if (n == 0) break;
    text.append(buffer, n);
  }
  return text;
}

TEST(OpDefs, AreThoseOfTensorFlow) {
  if (!std::filesystem::exists(kTheirs)) GTEST_SKIP() << kTheirs << " is not here";
  const Result<std::vector<OpDef>> parsed = ParseOpListText(Unpacked(kTheirs));
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  std::map<std::string, const OpDef*> theirs;
  for (const OpDef& def : *parsed) theirs[def.name] = &def;
  ASSERT_GT(theirs.size(), 1000u);
  for (const std::string& name : StandardOps().Names()) {
    if (!theirs.contains(name)) {
      if (IsOurOwn(name)) continue;
      ADD_FAILURE() << name << " is no op of TensorFlow";
      continue;
    }
    for (const std::string& what : CompareOpDefs(StandardOps().Find(name)->def, *theirs[name])) {
      ADD_FAILURE() << name << ": " << what;
    }
  }
}

TEST(OpDefs, EachOpSaysWhetherItHasAGradient) {
  for (const std::string& name : StandardOps().Names()) {
    const OpInfo& info = *StandardOps().Find(name);
    EXPECT_NE(info.gradient != nullptr, info.no_gradient)
        << name << " must have either a Gradient or kNoGradient";
  }
}

TEST(OpDefs, EachOpDecodesAndInfersShapes) {
  for (const std::string& name : StandardOps().Names()) {
    const OpInfo& info = *StandardOps().Find(name);
    EXPECT_NE(info.decode, nullptr) << name;
    if (!info.def.outputs.empty() && !IsOurOwn(name)) {
      EXPECT_NE(info.infer, nullptr) << name << " has no shape rule";
    }
  }
}

TEST(OpDefs, ArgumentsNameAttributesThatExist) {
  for (const std::string& name : StandardOps().Names()) {
    const OpDef& def = StandardOps().Find(name)->def;
    for (const std::vector<ArgDef>* args : {&def.inputs, &def.outputs}) {
      for (const ArgDef& arg : *args) {
        for (const std::string& attr : {arg.type_attr, arg.number_attr, arg.type_list_attr}) {
          EXPECT_TRUE(attr.empty() || def.FindAttr(attr) != nullptr)
              << name << ": argument " << arg.name << " names attribute " << attr;
        }
      }
    }
  }
}

}  // namespace
}  // namespace penstock::ops
