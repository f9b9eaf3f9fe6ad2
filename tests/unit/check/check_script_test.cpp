// SPDX-License-Identifier: Apache-2.0
// The script of podrun check, under each shell that may be a host's /bin/sh.
#include <sys/utsname.h>

#include <chrono>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/check/check_reply.hpp"
#include "podrun/check/scripts.hpp"

#include "support/run_shell.hpp"
#include "support/temp_directory.hpp"

namespace podrun::check {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

class CheckScript : public testing::TestWithParam<test::Shell> {
 protected:
  /// Put before the programs of this machine.
  void program(const std::string& name, const std::string& text) {
    const std::string path = home_.write(name, "#!/bin/sh\n" + text + "\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  HostFacts run(const std::string& python = "python3", const std::string& directory = {}) {
    // The system's own python first: another one may be a script that takes long on a busy machine.
    const std::string path = "PATH=\"$HOME:/usr/bin:$PATH\"\n";
    const test::ShellRun ran = test::run_shell(
        GetParam(), {"-c", path + std::string(check::kCheckScript), "podrun", python, directory}, {},
        {"HOME=" + home_.path(), "PODRUN_RUN_ID=n0", "PYTHONPATH=" + home_.path()});
    EXPECT_EQ(ran.exit_status, 0) << ran.output;
    HostFacts facts = parse_check_reply(ran.output, "n0");
    EXPECT_TRUE(facts.is_complete) << ran.output;
    return facts;
  }

  /// As pip installs it.
  void install(const std::string& name, const std::string& version) {
    const std::string directory = fmt::format("{}-{}.dist-info", name, version);
    std::filesystem::create_directory(home_.path(directory));
    home_.write(directory + "/METADATA",
                fmt::format("Metadata-Version: 2.1\nName: {}\nVersion: {}\n", name, version));
  }

  std::string git(const std::string& words, const std::string& directory = "~/app") {
    const test::ShellRun ran = test::run_words(
        {"sh", "-c", fmt::format("cd {} && git -c user.name=n -c user.email=e {}", directory, words)}, {},
        {"HOME=" + home_.path()});
    EXPECT_EQ(ran.exit_status, 0) << words;
    return ran.output;
  }

  test::TempDirectory home_;
};

INSTANTIATE_TEST_SUITE_P(Shells, CheckScript, testing::ValuesIn(test::host_shells()), test::ShellName());

TEST_P(CheckScript, DescribesThisMachine) {
  using std::chrono::system_clock;
  const auto before = system_clock::now().time_since_epoch();
  const HostFacts facts = run();
  const auto after = system_clock::now().time_since_epoch();
  ASSERT_TRUE(facts.clock);
  EXPECT_GE(*facts.clock, before - facts.clock_step);
  EXPECT_LE(*facts.clock, after);
  struct utsname names {};
  ::uname(&names);
  EXPECT_EQ(facts.value("kernel"), fmt::format("{} {}", names.release, names.machine));
  EXPECT_GT(facts.memory_total, facts.memory_available);
  EXPECT_GT(facts.memory_available, 0);
  ASSERT_EQ(facts.disks.size(), 3);
  for (const DiskSpace& disk : facts.disks) {
    EXPECT_THAT(disk.mount, StartsWith("/"));
    EXPECT_GT(disk.size, disk.available);
  }
  EXPECT_THAT(facts.value("open_files"), testing::MatchesRegex("[0-9]+|unlimited"));
  EXPECT_THAT(facts.value("processes"), testing::MatchesRegex("[0-9]+|unlimited"));
  EXPECT_THAT(facts.value("locked_memory"), testing::MatchesRegex("[0-9]+|unlimited"));
  EXPECT_THAT(facts.hangs, IsEmpty());
  EXPECT_THAT(facts.read_only, IsEmpty());
}

TEST_P(CheckScript, ReadsVersionsWithoutImportingPackages) {
  install("jax", "0.4.35");
  install("libtpu", "0.1");
  program("python3", "exec /usr/bin/python3 -S \"$@\"");  // without the packages of this machine
  home_.write("jax.py", "raise SystemExit('imported')\n");
  const HostFacts facts = run();
  EXPECT_THAT(facts.value("python"), StartsWith("3."));
  EXPECT_THAT(facts.value("python_path"), testing::EndsWith("/python3"));
  EXPECT_EQ(facts.value("jax"), "0.4.35");
  EXPECT_EQ(facts.value("libtpu"), "0.1");
  EXPECT_EQ(facts.value("torch"), "");
  EXPECT_EQ(facts.value("python_error"), "");
}

TEST_P(CheckScript, RunsTheNamedPython) {
  program("other", "echo python 9.9; echo jax 7");
  EXPECT_EQ(run("~/other").value("python"), "9.9");
  EXPECT_EQ(run(home_.path("other")).value("jax"), "7");
  EXPECT_EQ(run("~/none").value("python_path"), "");
  program("broken", "exit 3");
  EXPECT_EQ(run("broken").value("python_error"), "ends with status 3");
  program("hanging", "exit 124");
  EXPECT_EQ(run("hanging").value("python_error"), "takes longer than 20 s");
}

TEST_P(CheckScript, NamesADirectoryThatHangs) {
  program("df", "case $3 in /tmp) exit 124 ;; esac; echo head; echo 'x 4 3 1 75% /'");
  const HostFacts facts = run();
  EXPECT_THAT(facts.hangs, ElementsAre("/tmp"));
  EXPECT_EQ(facts.disks.size(), 2);
}

TEST_P(CheckScript, DescribesAGitDirectory) {
  EXPECT_EQ(run("python3", "~/app").value("git_error"), "no such directory");
  std::filesystem::create_directory(home_.path("app"));
  EXPECT_THAT(run("python3", "~/app").value("git_error"), StartsWith("not a git repository"));
  git("init -q -b trunk");
  EXPECT_EQ(run("python3", "~/app").value("git_error"), "Needed a single revision");
  home_.write("app/file", "1\n");
  git("add file");
  git("commit -q -m first");

  HostFacts facts = run("python3", home_.path("app"));
  EXPECT_EQ(facts.value("commit") + "\n", git("rev-parse HEAD"));
  EXPECT_EQ(facts.value("branch"), "trunk");
  EXPECT_EQ(facts.value("changes"), "0");
  EXPECT_EQ(facts.value("git_error"), "");

  home_.write("app/file", "2\n");
  home_.write("app/new", "");
  const std::string changed = run("python3", "~/app").value("changes");
  EXPECT_THAT(changed, StartsWith("2 "));
  EXPECT_EQ(run("python3", "~/app").value("changes"), changed);
  home_.write("app/file", "3\n");
  EXPECT_THAT(run("python3", "~/app").value("changes"), testing::Ne(changed));
  EXPECT_EQ(git("status --porcelain"), " M file\n?? new\n");
}

TEST_P(CheckScript, DoesNotMistakeAWarningOfGitForTheCommit) {
  std::filesystem::create_directory(home_.path("app"));
  git("init -q -b trunk");
  git("commit -q --allow-empty -m first");
  git("update-ref refs/heads/HEAD HEAD");
  EXPECT_EQ(run("python3", "~/app").value("commit") + "\n", git("rev-parse -q --verify HEAD"));
}

TEST_P(CheckScript, PrintsOneDigestForEqualChanges) {
  std::filesystem::create_directory(home_.path("app"));
  git("init -q -b trunk");
  home_.write("app/file", "1\n2\n3\n4\n5\n6\n");
  home_.write("app/moved", "text\n");
  git("add .");
  git("commit -q -m first");
  git("commit -q --allow-empty -m second");
  git("clone -q --depth 1 \"file://$HOME/app\" shallow", "~");
  // The abbreviation grows with the repository: one that is set stands for a large one.
  for (const char* setting : {"core.abbrev 20", "core.quotePath false", "diff.noprefix true",
                              "diff.context 1", "diff.renames false", "status.renames false",
                              "status.showUntrackedFiles no", "diff.algorithm patience", "color.ui always"})
    git(fmt::format("config {}", setting), "~/shallow");
  for (const std::string directory : {"app", "shallow"}) {
    home_.write(directory + "/file", "1\n2\n3\n4\n5\n7\n");
    home_.write(directory + "/n\xc3\xa4her", "");
    git("mv moved there", "~/" + directory);
  }
  const std::string changed = run("python3", "~/app").value("changes");
  EXPECT_THAT(changed, StartsWith("4 "));
  EXPECT_EQ(run("python3", "~/shallow").value("changes"), changed);
}

TEST_P(CheckScript, PrintsNoDigestOfAnIncompleteDiff) {
  std::filesystem::create_directory(home_.path("app"));
  git("init -q -b trunk");
  git("commit -q --allow-empty -m first");
  home_.write("app/new", "");
  program("git",
          "case \" $* \" in *\" diff \"*) echo half; exit 124 ;; esac; PATH=${PATH#*:}; exec git \"$@\"");
  const HostFacts facts = run("python3", "~/app");
  EXPECT_EQ(facts.value("git_error"), "git diff fails, or takes longer than 20 s");
  EXPECT_EQ(facts.value("changes"), "");
}

}  // namespace
}  // namespace podrun::check
