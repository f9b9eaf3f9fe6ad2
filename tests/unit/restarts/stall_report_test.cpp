// SPDX-License-Identifier: Apache-2.0
#include "podrun/restarts/stall_report.hpp"

#include <algorithm>

#include <gmock/gmock.h>

namespace podrun::restarts {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::SizeIs;

std::vector<hosts::Host> some_hosts(std::size_t count) {
  std::vector<hosts::Host> hosts(count);
  for (std::size_t i = 0; i < count; ++i) hosts[i].worker = i;
  return hosts;
}

std::string text_of(const std::string& pid, const std::string& state, const std::string& place) {
  return "== pid " + pid + " (python3), state " + state + ", 64 threads\npython3 train.py\nThread " + pid +
         " (" + (state == "R" ? "active" : "idle") + "): \"MainThread\"\n    " + place +
         " (jax.py:7)\n-- wchan\n" + (state == "R" ? "0" : "hrtimer_nanosleep") + "\n-- syscall\n" +
         (state == "R" ? "running" : "35 0x7ffd 0x0") + "\n\n== kernel\n";
}

TEST(StallReport, HasTheSmallestGroupFirst) {
  std::vector<Captured> captured;
  for (std::size_t host = 0; host < 8; ++host)
    captured.push_back(
        {host, text_of(std::to_string(100 + host), "S", host == 6 ? "load_batch" : "all_reduce")});
  const auto shown = describe_captures(some_hosts(8), captured, 40);
  EXPECT_THAT(shown,
              ElementsAre("[6] (1)", "  == pid 106 (python3), state S, 64 threads", "  python3 train.py",
                          "  Thread 106 (idle): \"MainThread\"", "      load_batch (jax.py:7)", "  -- wchan",
                          "  hrtimer_nanosleep", "  == kernel",  //
                          "[0-5,7] (7)", "  == pid 100 (python3), state S, 64 threads", "  python3 train.py",
                          "  Thread 100 (idle): \"MainThread\"", "      all_reduce (jax.py:7)", "  -- wchan",
                          "  hrtimer_nanosleep", "  == kernel"));
}

TEST(StallReport, MakesNoGroupOfAMomentaryState) {
  std::vector<Captured> captured = {{0, "== pid 7 (sh), state S, 1 threads\nsh\n-- syscall\n61 0xff 0x0\n"},
                                    {1, "== pid 8 (sh), state R, 1 threads\nsh\n-- syscall\nrunning\n"},
                                    {2, "== pid 9 (sh), state R, 1 threads\nsh\n-- wchan\n0\n"}};
  EXPECT_THAT(describe_captures(some_hosts(3), captured, 40),
              ElementsAre("[0-2] (3)", "  == pid 7 (sh), state S, 1 threads", "  sh"));
}

TEST(StallReport, ShowsSomethingOfEachGroup) {
  std::vector<Captured> captured;
  for (std::size_t host = 0; host < 4; ++host) {
    std::string text = host == 3 ? "stuck\n" : "waits\n";
    for (int line = 0; line < 200; ++line) text += "frame\n";
    captured.push_back({host, text});
  }
  const auto shown = describe_captures(some_hosts(4), captured, 40);
  EXPECT_EQ(shown[1], "  stuck");
  EXPECT_EQ(shown[20], "  (182 more lines)");
  EXPECT_EQ(shown[21], "[0-2] (3)");
  EXPECT_THAT(shown, SizeIs(42));
}

TEST(StallReport, NamesEveryGroupWhereThereAreMany) {
  std::vector<Captured> captured;
  for (std::size_t host = 0; host < 20; ++host)
    captured.push_back({host, "place " + std::string(host + 1, 'x') + "\n1\n2\n3\n4\n5\n6\n7\n8\n9\n"});
  const auto shown = describe_captures(some_hosts(20), captured, 40);
  EXPECT_THAT(shown, Contains("[19] (1)"));
  EXPECT_THAT(shown, Not(Contains("  place " + std::string(20, 'x'))));
  EXPECT_LT(shown.size(), 70U);
}

}  // namespace
}  // namespace podrun::restarts
