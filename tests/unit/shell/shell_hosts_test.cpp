// SPDX-License-Identifier: Apache-2.0
#include "podrun/shell/shell_hosts.hpp"

#include <numeric>

#include <gtest/gtest.h>

namespace podrun::shell {
namespace {

LineEnd line_end(const std::vector<run::HostOutcome>& outcomes) {
  LineEnd end{.hosts = {}, .outcomes = outcomes};
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    end.hosts.push_back({.worker = i, .name = "h" + std::to_string(i)});
  return end;
}

const link::Exited kOk{0};

TEST(Prompt, NamesTheHosts) {
  EXPECT_EQ(make_prompt({0, 1, 2, 7}, "~/app", {}, {}, " - "), "podrun [0-2,7] ~/app> ");
  EXPECT_EQ(make_prompt({0, 1}, "/usr", line_end({kOk, kOk}), {}, " - "), "podrun [0,1] /usr> ");
}

TEST(Prompt, NamesTheFailuresOfTheLineBefore) {
  EXPECT_EQ(make_prompt({0, 1}, "/usr", line_end({kOk, link::Exited{1}}), {}, " - "),
            "podrun [0,1] /usr - [1] exit 1> ");
  EXPECT_EQ(make_prompt({0, 1}, "/usr", line_end({link::Exited{2}, link::Exited{1}}), {}, " - "),
            "podrun [0,1] /usr - [1] exit 1, [0] exit 2> ");
}

TEST(Prompt, NamesLostHostsOnce) {
  const link::Failure failure{link::Stage::connecting, link::Cause::refused};
  EXPECT_EQ(make_prompt({0}, "/usr", line_end({kOk, run::Unreachable{failure}}), {1}, " - "),
            "podrun [0] /usr - not connected [1]> ");
  EXPECT_EQ(make_prompt({0, 1}, "/usr", line_end({kOk, run::Lost{failure}}), {}, " - "),
            "podrun [0,1] /usr - [1] lost> ");
}

TEST(Prompt, CountsWhatWouldBeTooLong) {
  std::vector<std::size_t> odd;
  std::vector<run::HostOutcome> outcomes;
  for (std::size_t i = 0; i < 40; ++i) {
    odd.push_back(2 * i + 1);
    outcomes.emplace_back(link::Exited{static_cast<int>(i % 7)});
  }
  EXPECT_EQ(make_prompt(odd, "/usr", line_end(outcomes), odd, " - "),
            "podrun 40 hosts /usr - 34 hosts failed - not connected 40 hosts> ");
}

std::string directory_of(const std::vector<std::string>& directories) {
  std::vector<KeptState> states;
  for (const std::string& directory : directories)
    states.push_back({.directory = directory, .directory_before = "", .variables = {{"HOME", "/home/me"}}});
  std::vector<const KeptState*> pointers;
  for (const KeptState& state : states) pointers.push_back(&state);
  return name_directory(pointers);
}

TEST(Directory, IsNamedAsInOtherShells) {
  EXPECT_EQ(directory_of({"/usr", "/usr"}), "/usr");
  EXPECT_EQ(directory_of({"/home/me", "/home/me"}), "~");
  EXPECT_EQ(directory_of({"/home/me/app"}), "~/app");
  EXPECT_EQ(directory_of({"/home/me2"}), "/home/me2");
  EXPECT_EQ(directory_of({"/usr", "/var", "/usr"}), "2 directories");
  EXPECT_EQ(directory_of({}), "");
}

TEST(Directory, IsTheSameInDifferentHomes) {
  const KeptState one{.directory = "/root", .directory_before = "", .variables = {{"HOME", "/root"}}};
  const KeptState other{.directory = "/home/me", .directory_before = "", .variables = {{"HOME", "/home/me"}}};
  EXPECT_EQ(name_directory({&one, &other}), "~");
}

TEST(Directory, ShowsTheEndOfALongPath) {
  EXPECT_EQ(directory_of({"/mnt/a-long-name/a-longer-name/checkpoints"}), ".../a-longer-name/checkpoints");
  EXPECT_EQ(directory_of({"/a-long-name-ü-without-any-other-places"}), "...-without-any-other-places");
  EXPECT_EQ(directory_of({"/ab\x1b[31m"}), "/ab\\x1b[31m");
}

}  // namespace
}  // namespace podrun::shell
