// SPDX-License-Identifier: Apache-2.0
#include "cli/habits.hpp"

#include <gtest/gtest.h>

#include "support/temp_directory.hpp"

namespace podrun::cli {
namespace {

using Words = std::vector<std::string>;

std::string word(Words options, Words words) {
  return answer_to_word({std::move(options), std::move(words)}, std::nullopt);
}

std::string option(const std::string& name, const Words& all) {
  return answer_to_option(name, all).value_or("none");
}

TEST(Habits, TakeEverythingFromTheFirstWordOnAsTheCommand) {
  EXPECT_EQ(word({}, {"ls", "-la"}),
            "\"ls\" is not a podrun command; to run it on every host: podrun -- ls -la");
  EXPECT_TRUE(
      word({"-H", "a"}, {"python", "-c", "print(1)"}).ends_with(": podrun -H a -- python -c 'print(1)'"));
  EXPECT_TRUE(word({}, {"uptime; date"}).ends_with(": podrun -- 'uptime; date'"));
}

TEST(Habits, NeedNoWordForRunning) {
  EXPECT_EQ(word({"-d"}, {"run", "--", "uptime"}), "podrun needs no \"run\": podrun -d -- uptime");
  EXPECT_EQ(word({}, {"run"}), "podrun needs no \"run\": podrun -- COMMAND");
}

TEST(Habits, QuoteWhatOnlyAShellKnows) {
  EXPECT_EQ(word({}, {"cd", "/tmp"}),
            "\"cd\" needs a shell, which one quoted text gets: podrun -- 'cd /tmp'");
  EXPECT_TRUE(word({}, {"source", "venv/bin/activate"}).ends_with(": podrun -- 'source venv/bin/activate'"));
}

TEST(Habits, OfPdshAndClush) {
  EXPECT_EQ(word({"-w"}, {"host[1-8]", "uptime"}),
            "-w runs in the same directory as here; hosts are given by -H: -H 'host[1-8]'");
  EXPECT_EQ(option("-a", {"-a"}), "-a: podrun runs on every host (leave it out)");
}

TEST(Habits, OfGcloud) {
  EXPECT_EQ(option("--command=uptime -p", {"--worker=all", "--command=uptime -p"}),
            "--command: the command stands after --: podrun --worker=all -- 'uptime -p'");
  EXPECT_EQ(option("--command", {"--command", "uptime"}),
            "--command: the command stands after --: podrun -- uptime");
  EXPECT_NE(option("--zone", {"--zone", "z"}).find("podrun -H - hosts --save"), std::string::npos);
}

TEST(Habits, OfAnsible) {
  const std::string answer = "-m shell -a is Ansible's; podrun runs shell text: podrun -- 'uptime -p'";
  EXPECT_EQ(word({}, {"all", "-m", "shell", "-a", "uptime -p"}), answer);
  EXPECT_EQ(option("-m", {"-m", "shell", "-a", "uptime -p"}), answer);
}

TEST(Habits, KnowNoOtherOptions) { EXPECT_EQ(option("--frobnicate", {"--frobnicate"}), "none"); }

TEST(Habits, WriteDedupWithItsValue) {
  EXPECT_EQ(word({"--dedup"}, {"log", "uptime"}), "--dedup log: write --dedup=log");
}

TEST(Habits, OfToolsWithJobsAndCopies) {
  EXPECT_EQ(
      word({}, {"status"}),
      "\"status\" is not a podrun command; the jobs and their state: podrun ps; the hosts: podrun check; "
      "to run it on every host: podrun -- status");
  EXPECT_NE(word({}, {"scp", "a", "b"}).find("; to copy files to all hosts: podrun push SRC DEST; "),
            std::string::npos);
  EXPECT_NE(word({}, {"cp", "a", "b"}).find("from them: podrun pull SRC DEST; "), std::string::npos);
  EXPECT_NE(word({}, {"restart"}).find("podrun --restarts N -- COMMAND; "), std::string::npos);
  EXPECT_NE(word({}, {"tail", "-f", "log"}).find("podrun logs -f NAME; "), std::string::npos);
  EXPECT_TRUE(word({"-d"}, {"tail", "-f", "log"}).ends_with(": podrun -d -- tail -f log"));
}

TEST(Habits, PutTheCommandOfAJobAfterDashes) {
  EXPECT_EQ(answer_to_missing_dashes({{"start", "train"}, {"python", "train.py", "--steps", "10"}}),
            "the command stands after --: podrun start train -- python train.py --steps 10");
}

class HabitsWithFiles : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return directory_.write(name, "content\n"); }

  test::TempDirectory directory_{};
};

TEST_F(HabitsWithFiles, RunALocalScript) {
  const std::string script = file("setup.sh");
  EXPECT_EQ(word({"-d"}, {script, "--fast"}), "\"" + script +
                                                  "\" is a file here; to run it on every host as a script: "
                                                  "podrun -d -s " +
                                                  script + " -- --fast");
}

TEST_F(HabitsWithFiles, GiveAKeyByItsOwnOption) {
  const std::string key = file("id_ed25519");
  EXPECT_EQ(word({"-i"}, {key, "uptime"}), "-i includes this machine; a key is given by --identity " + key);
}

TEST_F(HabitsWithFiles, GiveAFileOfHostsByItsOwnOption) {
  const std::string list = file("good.txt");
  EXPECT_EQ(word({"-h"}, {list, "uptime"}), "-h prints help; a file of hosts is read by --hostfile " + list);
}

}  // namespace
}  // namespace podrun::cli
