#include "penstock/io/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "penstock/io/file_roots.h"
#include "penstock/io/file_tree.h"
#include "penstock/io/glob.h"

namespace penstock::io {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  FileTest() {
    std::string pattern = (fs::temp_directory_path() / "file_test_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~FileTest() override {
    (void)SetFileRoots({});
    fs::remove_all(folder_);
  }
  std::string At(const std::string& name) const { return (folder_ / name).string(); }
  void Limit(const std::string& name) const {
    const std::vector<std::string> roots = {At(name)};
    const Status set = SetFileRoots(roots);
    ASSERT_TRUE(set.ok()) << set.ToString();
  }

  fs::path folder_;
};

TEST_F(FileTest, ReadsWhatWasWrittenAtomically) {
  const std::string bytes(100'000, 'x');
  ASSERT_TRUE(WriteFileAtomically(At("a"), bytes).ok());
  EXPECT_EQ(*ReadWholeFile(At("a")), bytes);
  ASSERT_TRUE(WriteFileAtomically(At("a"), "").ok());
  EXPECT_EQ(*ReadWholeFile(At("a")), "");
  EXPECT_EQ(ListFolder(folder_)->size(), 1u);
  EXPECT_EQ(WriteFileAtomically(At("none/a"), "").code(), Code::kNotFound);
  {
    Result<AtomicFile> left = AtomicFile::Create(At("b"));
    ASSERT_TRUE(left->Append("half").ok());
  }
  EXPECT_EQ(*ListFolder(folder_), std::vector<std::string>{"a"});
}

TEST_F(FileTest, HoldsTheLimitOfAWholeFile) {
  ASSERT_TRUE(WriteFileAtomically(At("a"), "12345").ok());
  EXPECT_EQ(*ReadWholeFile(At("a"), 5), "12345");
  EXPECT_EQ(ReadWholeFile(At("a"), 4).status().code(), Code::kResourceExhausted);
  EXPECT_EQ(ReadWholeFile(At("b")).status().code(), Code::kNotFound);
  EXPECT_EQ(ReadWholeFile(folder_).status().code(), Code::kInvalidArgument);
  EXPECT_FALSE(ReadWholeFile("/proc/self/status")->empty());
}

TEST_F(FileTest, MakesRemovesAndRenames) {
  ASSERT_TRUE(MakeFolders(At("p/q//r/")).ok());
  ASSERT_TRUE(MakeFolders(At("p/q/r")).ok());
  EXPECT_TRUE(StatFile(At("p/q/r"))->is_folder);
  ASSERT_TRUE(WriteFileAtomically(At("p/f"), "1").ok());
  EXPECT_EQ(MakeFolders(At("p/f")).code(), Code::kInvalidArgument);
  EXPECT_EQ(StatFile(At("p/f"))->bytes, 1u);
  ASSERT_TRUE(RenameFile(At("p/f"), At("p/q/g")).ok());
  EXPECT_FALSE(FileExists(At("p/f")));
  EXPECT_EQ(RemoveFolder(At("p/q")).code(), Code::kFailedPrecondition);
  ASSERT_TRUE(RemoveFile(At("p/q/g")).ok());
  EXPECT_EQ(RemoveFile(At("p/q/g")).code(), Code::kNotFound);
  ASSERT_TRUE(RemoveFolder(At("p/q/r")).ok());
  EXPECT_EQ(RemoveFile(At("p/..")).code(), Code::kInvalidArgument);
}

TEST_F(FileTest, MatchesPatterns) {
  for (const char* name : {"a1", "a2", "b1", ".h"})
    ASSERT_TRUE(WriteFileAtomically(At(name), "").ok());
  ASSERT_TRUE(MakeFolders(At("d/a1")).ok());
  ASSERT_TRUE(MakeFolders(At("e/a1")).ok());
  using Paths = std::vector<std::string>;
  EXPECT_EQ(*MatchFiles(At("a*")), (Paths{At("a1"), At("a2")}));
  EXPECT_EQ(*MatchFiles(At("[!ad]1")), Paths{At("b1")});
  EXPECT_EQ(*MatchFiles(At("?/a1")), (Paths{At("d/a1"), At("e/a1")}));
  EXPECT_EQ(*MatchFiles(At("a1")), Paths{At("a1")});
  EXPECT_EQ(*MatchFiles(At("none")), Paths{});
  EXPECT_EQ(*MatchFiles(At("none/*")), Paths{});
  EXPECT_EQ(*MatchFiles(""), Paths{});
}

TEST(Glob, Matches) {
  EXPECT_TRUE(GlobMatches("", ""));
  EXPECT_TRUE(GlobMatches("*", ""));
  EXPECT_TRUE(GlobMatches("a*b*c", "aXbXbXc"));
  EXPECT_FALSE(GlobMatches("a*b*c", "aXbXbX"));
  EXPECT_TRUE(GlobMatches("[]a]", "]"));
  EXPECT_TRUE(GlobMatches("[a-c]?", "bz"));
  EXPECT_FALSE(GlobMatches("[!a-c]", "b"));
  EXPECT_TRUE(GlobMatches("\\*", "*"));
  EXPECT_FALSE(GlobMatches("\\*", "x"));
  EXPECT_TRUE(GlobMatches("[a", "[a"));
  // A matcher that tries every star again would not end.
  EXPECT_FALSE(GlobMatches(std::string(100, '*') + "b", std::string(1000, 'a')));
  std::string many;
  for (int i = 0; i < 50; ++i) many += "a*";
  EXPECT_FALSE(GlobMatches(many + "b", std::string(1000, 'a')));
}

TEST_F(FileTest, StaysWithinTheRoots) {
  ASSERT_TRUE(MakeFolders(At("in/deep")).ok());
  ASSERT_TRUE(WriteFileAtomically(At("out"), "secret").ok());
  ASSERT_TRUE(WriteFileAtomically(At("in/file"), "public").ok());
  fs::create_symlink("../out", At("in/relative"));
  fs::create_symlink(At("out"), At("in/absolute"));
  fs::create_symlink("..", At("in/up"));
  fs::create_symlink("file", At("in/near"));
  Limit("in");
  EXPECT_EQ(*ReadWholeFile(At("in/file")), "public");
  EXPECT_EQ(*ReadWholeFile(At("in/deep/../file")), "public");
  EXPECT_EQ(*ReadWholeFile(At("in/near")), "public");
  for (const char* name :
       {"out", "in/../out", "in/relative", "in/absolute", "in/up/out", "inside"}) {
    EXPECT_EQ(ReadWholeFile(At(name)).status().code(), Code::kPermissionDenied) << name;
    EXPECT_EQ(StatFile(At(name)).status().code(), Code::kPermissionDenied) << name;
    EXPECT_EQ(File::Create(At(name)).status().code(), Code::kPermissionDenied) << name;
  }
  for (const char* name : {"new", "in/../new", "in/up/new"}) {
    EXPECT_EQ(WriteFileAtomically(At(name), "").code(), Code::kPermissionDenied) << name;
    EXPECT_EQ(MakeFolders(At(name)).code(), Code::kPermissionDenied) << name;
    EXPECT_EQ(RenameFile(At("in/file"), At(name)).code(), Code::kPermissionDenied) << name;
    EXPECT_EQ(MatchFiles(At(name) + "/*").status().code(), Code::kPermissionDenied) << name;
  }
  EXPECT_EQ(RemoveFile(At("in/up/out")).code(), Code::kPermissionDenied);
  EXPECT_TRUE(WriteFileAtomically(At("in/deep/new"), "x").ok());
  EXPECT_TRUE(MakeFolders(At("in/a/b")).ok());
  EXPECT_EQ(MatchFiles(At("in/f*"))->size(), 1u);
  EXPECT_EQ(ReadWholeFile(std::string("\0x", 2)).status().code(), Code::kInvalidArgument);
  const std::vector<std::string> none = {At("none")};
  EXPECT_EQ(SetFileRoots(none).code(), Code::kNotFound);
  EXPECT_EQ(FileRoots(), std::vector<std::string>{At("in")});
  ASSERT_TRUE(SetFileRoots({}).ok());
  EXPECT_EQ(*ReadWholeFile(At("out")), "secret");
}

TEST_F(FileTest, OpensByNamesWhereTheSystemCallIsMissing) {
  ASSERT_TRUE(MakeFolders(At("in/deep")).ok());
  ASSERT_TRUE(WriteFileAtomically(At("in/deep/file"), "1").ok());
  fs::create_symlink("file", At("in/deep/link"));
  fs::create_symlink("deep", At("in/folder"));
  const Descriptor root(open(At("in").c_str(), O_PATH | O_DIRECTORY));
  const auto opens = [&](const char* path) {
    return Descriptor(OpenByNames(root.get(), path, O_RDONLY, 0)).valid();
  };
  EXPECT_TRUE(opens("deep/file"));
  EXPECT_TRUE(opens("."));
  for (const char* path : {"deep/link", "folder/file", "deep/../deep/file", "..", "none", "a/b"})
    EXPECT_FALSE(opens(path)) << path;
}

}  // namespace
}  // namespace penstock::io
