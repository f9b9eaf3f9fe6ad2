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
  EXPECT_EQ(make_prompt({0, 1, 2, 7}, {}, {}, " - "), "podrun [0-2,7]> ");
  EXPECT_EQ(make_prompt({0, 1}, line_end({kOk, kOk}), {}, " - "), "podrun [0,1]> ");
}

TEST(Prompt, NamesTheFailuresOfTheLineBefore) {
  EXPECT_EQ(make_prompt({0, 1}, line_end({kOk, link::Exited{1}}), {}, " - "), "podrun [0,1] - [1] exit 1> ");
  EXPECT_EQ(make_prompt({0, 1}, line_end({link::Exited{2}, link::Exited{1}}), {}, " - "),
            "podrun [0,1] - [1] exit 1, [0] exit 2> ");
}

TEST(Prompt, NamesLostHostsOnce) {
  const link::Failure failure{link::Stage::connecting, link::Cause::refused};
  EXPECT_EQ(make_prompt({0}, line_end({kOk, run::Unreachable{failure}}), {1}, " - "),
            "podrun [0] - not connected [1]> ");
  EXPECT_EQ(make_prompt({0, 1}, line_end({kOk, run::Lost{failure}}), {}, " - "), "podrun [0,1] - [1] lost> ");
}

TEST(Prompt, CountsWhatWouldBeTooLong) {
  std::vector<std::size_t> odd;
  std::vector<run::HostOutcome> outcomes;
  for (std::size_t i = 0; i < 40; ++i) {
    odd.push_back(2 * i + 1);
    outcomes.emplace_back(link::Exited{static_cast<int>(i % 7)});
  }
  EXPECT_EQ(make_prompt(odd, line_end(outcomes), odd, " - "),
            "podrun 40 hosts - 34 hosts failed - not connected 40 hosts> ");
}

}  // namespace
}  // namespace podrun::shell
