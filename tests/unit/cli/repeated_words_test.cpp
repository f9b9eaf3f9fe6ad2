// SPDX-License-Identifier: Apache-2.0
#include "cli/repeated_words.hpp"

#include <gmock/gmock.h>

#include "cli/command_line.hpp"
#include "commands/commands.hpp"

namespace podrun::cli {
namespace {

using testing::ElementsAre;

TEST(RepeatedWords, ARunGetsTheOptionsOfItsStart) {
  const CommandLine line(commands::command_table());
  EXPECT_THAT(words_of_run(line.table(), {"-icw", "start", "--restarts", "20", "train", "--log-size", "1M",
                                          "--json", "-H", "a,b", "--stall=30m", "-e", "A=b"}),
              ElementsAre("-icw", "--restarts", "20", "-H", "a,b", "--stall=30m", "-e", "A=b"));
}

}  // namespace
}  // namespace podrun::cli
