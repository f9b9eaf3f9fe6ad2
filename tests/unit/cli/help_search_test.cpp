// SPDX-License-Identifier: Apache-2.0
#include "cli/help_search.hpp"

#include <algorithm>

#include <gmock/gmock.h>

#include "podrun/base/text.hpp"

#include "cli/command_line.hpp"
#include "commands/commands.hpp"

namespace podrun::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::string search(const std::vector<std::string>& words) {
  const CommandLine line(commands::command_table());
  return search_page(words, commands::command_table(), line.table(), 80);
}

TEST(HelpSearch, AnswersWhatPeopleType) {
  for (const char* word :
       {"hang",       "stuck",   "laptop",   "tmux",    "slurm",   "torchrun",   "venv",
        "dedup",      "zombie",  "nan",      "oom",     "preempt", "wandb",      "docker",
        "kubernetes", "bastion", "password", "timeout", "resume",  "checkpoint", "rsync",
        "scp",        "sudo",    "log",      "nohup",   "ray",     "mpi",        "disconnect"}) {
    EXPECT_THAT(search({word}), Not(IsEmpty())) << word;
  }
}

TEST(HelpSearch, TheBestAnswersAreFirst) {
  EXPECT_THAT(search({"torchrun"}), StartsWith("podrun help launchers: torchrun"));
  EXPECT_THAT(search({"stall"}), StartsWith("podrun help restarts: "));
  EXPECT_THAT(search({"zombie"}), StartsWith("podrun help kill: "));
}

TEST(HelpSearch, AllWordsMustBeThere) {
  EXPECT_THAT(search({"slurm", "pyxis-does-not-exist"}), IsEmpty());
  EXPECT_THAT(search({"host", "key"}), HasSubstr("key"));
}

TEST(HelpSearch, FitsAScreen) {
  const std::string page = search({"host"});
  EXPECT_LE(std::ranges::count(page, '\n'), 5 * 3);
  for (const std::string_view line : split(page, '\n')) EXPECT_LE(line.size(), 90U) << line;
}

}  // namespace
}  // namespace podrun::cli
