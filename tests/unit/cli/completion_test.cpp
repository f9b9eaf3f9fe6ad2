// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_line.hpp"
#include "cli/help.hpp"
#include "commands/commands.hpp"

namespace podrun::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

class Completion : public ::testing::Test {
 protected:
  /// Without their descriptions.
  std::vector<std::string> words(const std::vector<std::string>& typed) const {
    std::vector<std::string> found;
    for (const std::string& line : completions(typed, rows_, line_.table(), sources_))
      found.push_back(line.substr(0, line.find('\t')));
    return found;
  }

  const std::span<const CommandRow> rows_ = commands::command_table();
  const CommandLine line_{rows_};
  const CompletionSources sources_{[] {
                                     return std::vector<std::string>{"tpu-0", "tpu-1"};
                                   },
                                   [] {
                                     return std::vector<std::string>{"0", "1"};
                                   },
                                   [] {
                                     return std::vector<std::string>{"train", "test"};
                                   },
                                   [] {
                                     return std::vector<std::string>{"mlp", "probe"};
                                   }};
};

TEST_F(Completion, OfCommands) {
  EXPECT_THAT(words({"ho"}), ElementsAre("hosts"));
  EXPECT_THAT(words({"-d", "-H", "a", "ch"}), ElementsAre("check"));
  EXPECT_THAT(words({""}), Not(Contains("run"))) << "it goes without its name";
}

TEST_F(Completion, OfOptionsThatTheCommandTakes) {
  EXPECT_THAT(words({"--dedup"}), ElementsAre("--dedup", "--dedup-ignore"));
  EXPECT_THAT(words({"--worker"}), ElementsAre("--workers")) << "without the alias";
  EXPECT_THAT(words({"hosts", "--sa"}), ElementsAre("--save"));
  EXPECT_THAT(words({"hosts", "--ded"}), IsEmpty());
  for (const CommandRow& row : rows_) {
    const std::vector<std::string> found = words({row.runs_users_command ? "-" : std::string(row.name), "-"});
    if (row.runs_users_command) continue;
    for (const OptionEntry& option : line_.table().entries()) {
      const std::string name = "--" + option.key();
      EXPECT_EQ(std::find(found.begin(), found.end(), name) != found.end(), row.takes_option(option))
          << row.name << " " << name;
    }
  }
}

TEST_F(Completion, OfValues) {
  EXPECT_THAT(words({"--label", "h"}), ElementsAre("host"));
  EXPECT_THAT(words({"--label=h"}), ElementsAre("--label=host"));
  EXPECT_THAT(words({"--label", "=", "h"}), ElementsAre("host")) << "as bash breaks it";
  EXPECT_THAT(words({"--dedup=l"}), ElementsAre("--dedup=log"));
  EXPECT_THAT(words({"--dedup", "="}), ElementsAre("log", "numbers"));
  EXPECT_THAT(words({"--dedup", "=", "n"}), ElementsAre("numbers"));
  EXPECT_THAT(words({"--label", "=", "x"}), ElementsAre(":nothing"));
  EXPECT_THAT(words({"-p", "x"}), ElementsAre(":nothing")) << "no file is a pod";
  EXPECT_THAT(words({"--outdir", "x"}), IsEmpty());
  EXPECT_THAT(words({"-p", "t"}), ElementsAre("train", "test"));
  EXPECT_THAT(words({"-dp", "tr"}), ElementsAre("train"));
  EXPECT_THAT(words({"-H", ""}), ElementsAre("tpu-0", "tpu-1"));
  EXPECT_THAT(words({"-H", "tpu-1,t"}), ElementsAre("tpu-1,tpu-0", "tpu-1,tpu-1"));
  EXPECT_THAT(words({"--workers", ""}), ElementsAre("failed", "silent", "0", "1"));
  EXPECT_THAT(words({"-s", "set"}), IsEmpty()) << "files are the shell's";
}

TEST_F(Completion, OfOperands) {
  EXPECT_THAT(words({"ssh", "t"}), ElementsAre("tpu-0", "tpu-1"));
  EXPECT_THAT(words({"ssh", ""}), ElementsAre("0", "1", "tpu-0", "tpu-1"));
  EXPECT_THAT(words({"ssh", "tpu-0", "t"}), IsEmpty());
  EXPECT_THAT(words({"logs", "-f", "m"}), ElementsAre("mlp"));
  EXPECT_THAT(words({"stop", ""}), ElementsAre("mlp", "probe"));
  EXPECT_THAT(words({"ps", "x"}), ElementsAre(":nothing"));
  EXPECT_THAT(words({"help", "ch"}), ElementsAre("check", "check-schema"));
  EXPECT_THAT(words({"completion", ""}), ElementsAre("bash", "zsh", "fish"));
}

TEST_F(Completion, LeavesTheUsersCommandToTheShell) {
  EXPECT_THAT(words({"--", "ho"}), IsEmpty());
  EXPECT_THAT(words({"-d", "--", "ls", "-"}), IsEmpty());
}

TEST_F(Completion, KnowsTheSameOptionsAsTheManPage) {
  const std::string page = man_page(rows_, line_.table());
  for (const OptionEntry& option : line_.table().entries()) {
    std::string name = option.shown;
    for (std::size_t dash; (dash = name.find('-')) != name.npos;) name.replace(dash, 1, "\x01");
    for (std::size_t mark; (mark = name.find('\x01')) != name.npos;) name.replace(mark, 1, "\\-");
    EXPECT_NE(page.find(".B " + name + "\n"), page.npos) << option.shown;
  }
  for (const CommandRow& row : rows_) {
    if (row.runs_users_command) continue;
    EXPECT_NE(page.find(".B " + std::string(row.name) + "\n"), page.npos) << row.name;
  }
}

}  // namespace
}  // namespace podrun::cli
