// SPDX-License-Identifier: Apache-2.0
// The paths that a push ignores, compared with those that git ignores in equal trees.
#include "podrun/transfer/ignore_rules.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/transfer/comparison.hpp"
#include "podrun/transfer/git.hpp"
#include "podrun/transfer/local_tree.hpp"

#include "support/usage_error.hpp"
#include "unit/transfer/source_tree.hpp"

namespace podrun::transfer {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using Names = std::set<std::string>;

class IgnoreRulesTest : public testing::Test {
 protected:
  LocalTree read(const std::string& word, TreeRequest request = {}) const {
    request.sources = {source_.path(word)};
    return LocalTree::read(request);
  }
  /// All paths but that of the target.
  Names sent(const std::string& word, const TreeRequest& request = {}) const {
    Names paths;
    const LocalTree tree = read(word, request);
    for (const Entry& entry : tree.entries()) {
      if (!entry.path.empty()) paths.insert(entry.path);
    }
    return paths;
  }
  Names sent_files(const std::string& word, const TreeRequest& request = {}) const {
    Names paths;
    const LocalTree tree = read(word, request);
    for (const Entry& entry : tree.entries()) {
      if (entry.kind != Kind::directory) paths.insert(entry.path);
    }
    return paths;
  }
  /// The files that a clone of the repository would have, and those that are not added yet.
  Names files_of_git(const std::string& directory) const {
    Names paths;
    const std::string listed = source_.git(directory, {"ls-files", "-z", "-co", "--exclude-standard"});
    for (const std::string& path : test::split_at_nul(listed)) {
      if (fs::exists(fs::symlink_status(source_.path(directory + "/" + path)))) paths.insert(path);
    }
    return paths;
  }
  std::vector<bool> ignored(const std::string& word, const std::vector<HostOnly>& paths,
                            TreeRequest request = {}) const {
    request.sources = {source_.path(word)};
    return ignored_among(paths, request);
  }

  SourceTree source_;
};

TEST_F(IgnoreRulesTest, SkipDotGit) {
  source_.make_repository("t");
  source_.write("t/x");
  source_.write("t/sub/.git", "gitdir: /nowhere");
  source_.write("t/sub/y");
  EXPECT_EQ(sent("t/"), (Names{"x", "sub", "sub/y"}));
  EXPECT_EQ(read("t/").ignored().size(), 0U);
  EXPECT_TRUE(sent("t/", {.ignore = false}).contains(".git/HEAD"));
}

TEST_F(IgnoreRulesTest, ReadGitignoreInAWorkTreeAndOutside) {
  source_.write("t/.gitignore", "*.o\n/build/\n!keep.o\n");
  source_.write("t/a.o");
  source_.write("t/keep.o");
  source_.write("t/build/x");
  source_.write("t/sub/build/x");
  source_.write("t/sub/.gitignore", "x\n");
  source_.write("t/sub/y");
  const Names expected = {".gitignore", "keep.o", "sub", "sub/.gitignore", "sub/y"};
  EXPECT_EQ(sent("t/"), expected);
  source_.make_repository("t");
  EXPECT_EQ(sent("t/"), expected);
  EXPECT_EQ(read("t/").ignored().size(), 3U) << "a.o, build/ and sub/build/, all of which is ignored";
  EXPECT_TRUE(sent("t/", {.ignore = false}).contains("build/x"));
}

TEST_F(IgnoreRulesTest, OfTheWorkTreeApplyInItsDirectories) {
  source_.make_repository("t");
  source_.write("t/.gitignore", "*.o\n/sub/only\n");
  source_.write("t/.git/info/exclude", "secret\n");
  source_.write("t/sub/a.o");
  source_.write("t/sub/only");
  source_.write("t/sub/secret");
  source_.write("t/sub/x");
  EXPECT_EQ(sent("t/sub/"), (Names{"x"}));
  EXPECT_EQ(sent("t/sub"), (Names{"sub", "sub/x"}));
}

TEST_F(IgnoreRulesTest, NeverIgnorePathsOfTheCommandLine) {
  source_.make_repository("t");
  source_.write("t/.gitignore", "build/\n*.o\n");
  source_.write("t/build/x");
  source_.write("t/a.o");
  EXPECT_EQ(sent("t/build"), (Names{"build", "build/x"}));
  EXPECT_EQ(sent("t/build/"), (Names{"x"}));
  EXPECT_EQ(sent("t/a.o"), (Names{"a.o"}));
}

TEST_F(IgnoreRulesTest, OfGitSpareTrackedFiles) {
  source_.make_repository("t");
  source_.write("t/.gitignore", "*.bin\nbuild/\n");
  source_.write("t/a.bin");
  source_.write("t/b.bin");
  source_.write("t/build/tracked");
  source_.write("t/build/other");
  source_.git("t", {"add", "-f", "a.bin", "build/tracked"});
  EXPECT_EQ(sent("t/"), (Names{".gitignore", "a.bin", "build", "build/tracked"}));
}

TEST_F(IgnoreRulesTest, OfPodrunignoreApplyToTrackedFiles) {
  source_.make_repository("t");
  source_.write("t/.gitignore", "build/\n");
  source_.write("t/.podrunignore", "*.bin\n/docs/\n");
  source_.write("t/a.bin");
  source_.write("t/docs/x");
  source_.write("t/build/b.bin");
  source_.write("t/sub/docs/x");
  source_.git("t", {"add", "-f", "a.bin", "docs/x", "build/b.bin"});
  EXPECT_EQ(sent("t/"), (Names{".gitignore", ".podrunignore", "sub", "sub/docs", "sub/docs/x"}));
}

TEST_F(IgnoreRulesTest, OfPodrunignoreWinAgainstGit) {
  source_.make_repository("t");
  source_.write("t/.gitignore", "*.so\nbuild/\nlogs/\n");
  source_.write("t/.podrunignore", "!/build/\n*.o\n!need.so\n");
  source_.write("t/need.so");
  source_.write("t/other.so");
  source_.write("t/logs/x");
  source_.write("t/build/x.so");
  source_.write("t/build/x.o");
  source_.write("t/build/deep/y");
  EXPECT_EQ(sent_files("t/"),
            (Names{".gitignore", ".podrunignore", "need.so", "build/x.so", "build/deep/y"}));
}

TEST_F(IgnoreRulesTest, OfTheCommandLineStartAtEachSource) {
  source_.write("a/x.log");
  source_.write("a/x");
  source_.write("a/sub/x");
  source_.write("a/#x");
  source_.write("b/x");
  source_.write("b/keep.log");
  TreeRequest request{.excludes = {"/x", "*.log", "!keep.log", "#x"}};
  request.sources = {source_.path("a"), source_.path("b/")};
  Names paths;
  const LocalTree tree = LocalTree::read(request);
  for (const Entry& entry : tree.entries()) paths.insert(entry.path);
  EXPECT_EQ(paths, (Names{"", "a", "a/sub", "a/sub/x", "keep.log"}));
  EXPECT_EQ(usage_error([&] { sent("a", {.excludes = {"x\ny"}}); }),
            "--exclude: a pattern cannot contain a newline (\"?\" matches one)");
}

TEST_F(IgnoreRulesTest, OfTheCommandLineWinAgainstFiles) {
  source_.write("t/.gitignore", "*.log\n!x\n");
  source_.write("t/keep.log");
  source_.write("t/x");
  EXPECT_EQ(sent("t/", {.excludes = {"x", "!keep.log"}}), (Names{".gitignore", "keep.log"}));
  EXPECT_EQ(sent("t/", {.excludes = {"x"}, .ignore = false}), (Names{".gitignore", "keep.log"}));
}

TEST_F(IgnoreRulesTest, OfANestedRepositoryApplyOnlyInIt) {
  for (const std::string outer : {"outer", "plain"}) {
    SCOPED_TRACE(outer);
    if (outer == "outer") source_.make_repository(outer);
    source_.write(outer + "/.gitignore", "*.o\n/ignored/\n");
    source_.write(outer + "/.podrunignore", "*.pt\n");
    source_.make_repository(outer + "/nested");
    source_.write(outer + "/nested/.gitignore", "*.log\n");
    source_.write(outer + "/nested/.git/info/exclude", "/own\n");
    for (const char* const name : {"x", "x.o", "x.log", "x.pt", "own", "tracked.log"})
      source_.write(outer + "/nested/" + name);
    source_.git(outer + "/nested", {"add", "-f", "tracked.log"});
    source_.make_repository(outer + "/ignored");
    source_.write(outer + "/ignored/x");
    source_.write(outer + "/z.o");
    EXPECT_EQ(sent_files(outer + "/"), (Names{".gitignore", ".podrunignore", "nested/.gitignore", "nested/x",
                                              "nested/x.o", "nested/tracked.log"}));
  }
}

TEST_F(IgnoreRulesTest, IgnoreADirectoryWithOnlyIgnoredContents) {
  source_.write("t/.gitignore", "*.pyc\n");
  source_.write("t/venv/.gitignore", "*\n");
  source_.write("t/venv/bin/python");
  source_.write("t/cache/deep/a.pyc");
  source_.write("t/cache/b.pyc");
  source_.make("t/empty");
  const LocalTree tree = read("t/");
  EXPECT_EQ(sent("t/"), (Names{".gitignore", "empty"}));
  EXPECT_EQ(tree.ignored().size(), 2U) << "each directory counts once";
}

TEST_F(IgnoreRulesTest, WorkForAnyName) {
  const std::vector<std::string> names = {":x", ":(top)x", "-n", "a\nb", "\xff", "*", "!x", " ", "\\"};
  source_.write("t/.gitignore", "*.o\n");
  Names expected = {".gitignore"};
  for (const std::string& name : names) {
    source_.write("t/" + name);
    source_.write("t/" + name + ".o");
    source_.write("t/d" + name + "/x.o");
    source_.write("t/d" + name + "/y");
    expected.insert({name, "d" + name + "/y"});
  }
  EXPECT_EQ(sent_files("t/"), expected);
}

TEST_F(IgnoreRulesTest, NeedGitOnlyWhereTheyExist) {
  source_.write("plain/x");
  source_.write("git/.gitignore", "y\n");
  source_.write("podrun/.podrunignore", "y\n");
  source_.make("bin");
  const ScopedVariable path("PATH", source_.path("bin"));
  EXPECT_EQ(sent("plain/"), (Names{"x"}));
  EXPECT_EQ(sent("git/", {.ignore = false}), (Names{".gitignore"}));
  EXPECT_EQ(usage_error([&] { sent("git/"); }), "push: git is needed to obey .gitignore (install git)");
  EXPECT_EQ(usage_error([&] { sent("podrun/"); }), "push: git is needed to obey .podrunignore (install git)");
  EXPECT_EQ(usage_error([&] { sent("plain/", {.excludes = {"x"}}); }),
            "push: git is needed for --exclude (install git)");
}

TEST_F(IgnoreRulesTest, RunNoProgramOfARepository) {
  source_.make_repository("t");
  source_.write("t/x");
  source_.write("t/y.o");
  source_.write("t/.gitignore", "*.o\n");
  source_.write("hook", "#!/bin/sh\ntouch \"" + source_.path("hit") + "\"\n");
  ::chmod(source_.path("hook").c_str(), 0755);
  source_.git("t", {"add", "-f", "."});
  for (const char* const setting : {"core.fsmonitor", "core.pager", "pager.ls-files", "core.editor"})
    source_.git("t", {"config", setting, source_.path("hook")});
  EXPECT_EQ(sent("t/"), (Names{".gitignore", "x", "y.o"}));
  EXPECT_FALSE(fs::exists(source_.path("hit")));
}

TEST_F(IgnoreRulesTest, WorkInAHookOfGit) {
  source_.make_repository("t");
  source_.write("t/.gitignore", "y\n");
  source_.write("t/x");
  source_.write("t/y");
  const ScopedVariable directory("GIT_DIR", source_.path("nowhere"));
  const ScopedVariable index("GIT_INDEX_FILE", source_.path("nowhere"));
  EXPECT_EQ(sent("t/"), (Names{".gitignore", "x"}));
}

TEST_F(IgnoreRulesTest, RemoveTheirTemporaryFiles) {
  source_.make("tmp");
  source_.write("t/.gitignore", "y\n");
  source_.write("t/.podrunignore", "z\n");
  source_.write("t/d/y");
  const ScopedVariable directory("TMPDIR", source_.path("tmp"));
  EXPECT_EQ(sent("t/", {.excludes = {"x"}}), (Names{".gitignore", ".podrunignore"}));
  EXPECT_TRUE(fs::is_empty(source_.path("tmp")));
}

TEST_F(IgnoreRulesTest, KeepTheirFilesWhereOnlyThisUserCanRenameThem) {
  source_.make("shared");
  fs::permissions(source_.path("shared"), fs::perms::all);
  const ScopedVariable directory("TMPDIR", source_.path("shared"));
  EXPECT_FALSE(TempRepository().path("").starts_with(source_.path("shared")));
  fs::permissions(source_.path("shared"), fs::perms::all | fs::perms::sticky_bit);
  EXPECT_TRUE(TempRepository().path("").starts_with(source_.path("shared")));
}

TEST_F(IgnoreRulesTest, SpareIgnoredPathsOfAHost) {
  source_.make_repository("t");
  source_.write("t/.gitignore", "checkpoints/\n*.log\n/out/*\n!/out/keep\n");
  source_.write("t/.podrunignore", "data/\n");
  source_.write("t/src/x");
  const std::vector<HostOnly> paths = {{".git", true},
                                       {".git/HEAD"},
                                       {"checkpoints", true},
                                       {"checkpoints/1", true},
                                       {"checkpoints/1/weights"},
                                       {"data", true},
                                       {"data/a"},
                                       {"data.txt"},
                                       {"old", true},
                                       {"old/b.log"},
                                       {"old/checkpoints", true},
                                       {"old/x"},
                                       {"out", true},
                                       {"out/a"},
                                       {"out/keep"},
                                       {"src/checkpoints"},
                                       {"src/y"},
                                       {"src/y.log"}};
  std::vector<std::string> spared;
  std::vector<bool> result = ignored("t/", paths);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (result[i] && paths[i].path != "out") spared.push_back(paths[i].path);
  }
  EXPECT_THAT(spared,
              ElementsAre(".git", ".git/HEAD", "checkpoints", "checkpoints/1", "checkpoints/1/weights",
                          "data", "data/a", "old/b.log", "old/checkpoints", "out/a", "src/y.log"));
  result = ignored("t/", paths, {.ignore = false});
  EXPECT_EQ(std::count(result.begin(), result.end(), true), 0);
  result = ignored("t/", paths, {.excludes = {"src"}, .ignore = false});
  EXPECT_EQ(std::count(result.begin(), result.end(), true), 3);
}

TEST_F(IgnoreRulesTest, SparePathsOutsideOfTheSource) {
  source_.write("t/x");
  EXPECT_EQ(ignored("t", {{"other"}, {"t/y"}, {"t2/y"}, {"t/../x"}}),
            (std::vector<bool>{true, false, true, true}));
  EXPECT_EQ(ignored("t/x", {{"y"}}), (std::vector<bool>{true})) << "the source is no directory";
}

TEST_F(IgnoreRulesTest, DoNotSparePathsThatALinkReplaces) {
  source_.make_repository("t");
  source_.write("t/.gitignore", "*.o\nignored\n");
  source_.link("t/link", "/");
  source_.link("t/ignored", "/");
  EXPECT_EQ(ignored("t/", {{"ignored/a"}, {"link/a.o"}, {"link/sub/b"}}),
            (std::vector<bool>{true, false, false}));
}

// Random trees.

/// Fills a directory with names and patterns that often meet. Equal seeds make equal trees.
class RandomTree {
 public:
  RandomTree(unsigned seed, const SourceTree& source, std::string root, std::string rules)
      : random_(seed), source_(source), root_(std::move(root)), rules_(std::move(rules)) {
    source_.make(root_);
    fill("", 0);
  }

  std::vector<std::string> files;        ///< without the rules
  std::vector<std::string> directories;  ///< without the root

  bool chance(std::size_t percent) { return pick(100) < percent; }
  std::size_t pick(std::size_t below) { return random_() % below; }
  std::string pattern() {
    static const std::vector<std::string> kPatterns = {
        "a",       "b",     "*.o",    "*.log", "/a",   "/build", "build/", "a/",       "/b/",
        "!a",      "!b/",   "!*.o",   "!/a",   "**/b", "a/**",   "a/*",    "b/**/a",   "/*/a",
        "[ab]",    "[!ab]", "?",      "*",     "!*/",  "!/a/",   "\\#a",   "two\\ *",  "*o ",
        "a/b",     "!a/b",  "**/x.o", "-n",    "!-n",  "**",     "/**/",   "build/**", "!build/x.o",
        "a/b/../", "*.o\\", "\xc3*",  "!*",    "b*/",  "/",      "//",     "!",        "[a"};
    return kPatterns[pick(kPatterns.size())];
  }

 private:
  void fill(const std::string& directory, int depth) {
    static const std::vector<std::string> kNames = {"a",         "b",  "build", "x.o",     "y.log",
                                                    "two words", "#a", "-n",    "\xc3\xbc"};
    if (chance(depth == 0 ? 90 : 40)) {
      std::string text = chance(10) ? "# a comment\n\n" : "";
      for (std::size_t count = 1 + pick(4); count > 0; --count)
        text += pattern() + (chance(10) ? "\r\n" : "\n");
      source_.write(root_ + "/" + directory + rules_, text);
    }
    for (const std::string& name : kNames) {
      if (chance(50)) continue;
      if (depth < 3 && chance(45)) {
        directories.push_back(directory + name);
        source_.make(root_ + "/" + directories.back());
        fill(directory + name + "/", depth + 1);
      } else {
        files.push_back(directory + name);
        source_.write(root_ + "/" + files.back());
      }
    }
  }

  std::mt19937 random_;
  const SourceTree& source_;
  std::string root_;
  std::string rules_;
};

constexpr unsigned kTrees = 40;

TEST_F(IgnoreRulesTest, SendExactlyTheFilesThatGitLists) {
  for (unsigned seed = 0; seed < kTrees; ++seed) {
    SCOPED_TRACE(seed);
    const std::string root = "t" + std::to_string(seed);
    RandomTree tree(seed, source_, root, ".gitignore");
    source_.make_repository(root);
    std::vector<std::string> add = {"add", "-f", "--"};
    for (const std::string& file : tree.files) {
      if (tree.chance(20)) add.push_back(file);
    }
    if (add.size() > 3) source_.git(root, add);
    for (std::size_t i = 3; i < add.size(); ++i) {
      if (tree.chance(10)) fs::remove(source_.path(root + "/" + add[i]));
    }
    EXPECT_EQ(sent_files(root + "/"), files_of_git(root));
  }
}

TEST_F(IgnoreRulesTest, WorkAlikeOutsideOfWorkTreesAndInPodrunignore) {
  for (unsigned seed = 0; seed < kTrees; ++seed) {
    SCOPED_TRACE(seed);
    const std::string root = "t" + std::to_string(seed);
    const RandomTree in_git(seed, source_, root + "/git", ".gitignore");
    const RandomTree outside(seed, source_, root + "/outside", ".gitignore");
    const RandomTree podrun(seed, source_, root + "/podrun", ".podrunignore");
    source_.make_repository(root + "/git");
    const Names expected = files_of_git(root + "/git");
    EXPECT_EQ(sent_files(root + "/outside/"), expected);
    Names renamed;
    for (std::string path : sent_files(root + "/podrun/")) {
      const std::size_t name = path.rfind('/') + 1;
      if (path.substr(name) == ".podrunignore") path.replace(name, path.npos, ".gitignore");
      renamed.insert(path);
    }
    EXPECT_EQ(renamed, expected);
  }
}

TEST_F(IgnoreRulesTest, OfTheCommandLineWorkLikeAGitignoreAtTheTop) {
  for (unsigned seed = 0; seed < kTrees; ++seed) {
    SCOPED_TRACE(seed);
    const std::string root = "t" + std::to_string(seed);
    RandomTree tree(seed, source_, root, "no_rules");
    TreeRequest request;
    std::string lines;
    for (std::size_t count = 1 + tree.pick(4); count > 0; --count) {
      request.excludes.push_back(tree.pattern());
      lines += request.excludes.back() + "\n";
    }
    const Names sent = sent_files(root + "/", request);
    source_.make_repository(root);
    source_.write(root + "/.gitignore", lines);
    Names expected = files_of_git(root);
    expected.erase(".gitignore");
    EXPECT_EQ(sent, expected);
  }
}

/// The files that were removed here stand for those that only a host has.
TEST_F(IgnoreRulesTest, SpareExactlyTheFilesThatWouldNotBeSent) {
  for (unsigned seed = 0; seed < kTrees; ++seed) {
    SCOPED_TRACE(seed);
    const std::string root = "t" + std::to_string(seed);
    RandomTree tree(seed, source_, root, seed % 2 == 0 ? ".gitignore" : ".podrunignore");
    if (seed % 4 < 2) source_.make_repository(root);
    const Names sent = sent_files(root + "/");
    std::vector<HostOnly> paths;
    for (const std::string& file : tree.files) {
      if (!tree.chance(60)) continue;
      paths.push_back({file});
      fs::remove(source_.path(root + "/" + file));
    }
    for (auto each = tree.directories.rbegin(); each != tree.directories.rend(); ++each) {
      if (!fs::is_empty(source_.path(root + "/" + *each))) continue;
      paths.push_back({*each, true});
      fs::remove(source_.path(root + "/" + *each));
    }
    std::sort(paths.begin(), paths.end(),
              [](const HostOnly& one, const HostOnly& other) { return one.path < other.path; });
    const std::vector<bool> spared = ignored(root + "/", paths);
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (paths[i].is_directory) continue;
      EXPECT_EQ(spared[i], !sent.contains(paths[i].path)) << paths[i].path;
    }
  }
}

}  // namespace
}  // namespace podrun::transfer
