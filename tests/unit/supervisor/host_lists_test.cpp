// SPDX-License-Identifier: Apache-2.0
#include "podrun/supervisor/host_lists.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"

#include "support/run_shell.hpp"

namespace podrun::supervisor {
namespace {

using testing::HasSubstr;
using testing::Not;
using Names = std::vector<std::string>;

std::string lines(const Names& names) { return fmt::format("{}", fmt::join(names, "\n")); }
std::string folded(const Names& names) { return fold_values({names.begin(), names.end()}); }
Names numbered(const std::string& format, std::size_t first, std::size_t count) {
  Names names;
  for (std::size_t i = first; i < first + count; ++i) names.push_back(fmt::format(fmt::runtime(format), i));
  return names;
}
/// Without an order in which one follows another.
Names scattered(std::size_t count) {
  std::mt19937 random(3);
  Names names;
  for (std::size_t i = 0; i < count; ++i)
    names.push_back(fmt::format("10.{}.{}.{}", random() % 256, random() % 256, random() % 256));
  return names;
}

TEST(HostLists, FoldNamesInARow) {
  EXPECT_EQ(folded(numbered("tpu-{}", 0, 2304)), "tpu-,0,2303,");
  EXPECT_EQ(folded(numbered("w{}.pod.example", 9, 3)), "w,9,11,.pod.example");
  EXPECT_EQ(folded(numbered("n{:03}", 8, 4)), "n,1008,1011,,p");
  EXPECT_EQ(folded(numbered("n{:02}", 9, 95)), "n,109,199,,p n,100,103,") << "the width changes";
  EXPECT_EQ(folded(numbered("t1v-n-7-w-{}", 0, 5)), "t1v-n-7-w-,0,4,");
  EXPECT_EQ(folded({"10.0.0.254", "10.0.0.255", "10.0.1.0", "10.0.1.1", "10.0.1.2", "10.0.1.3"}),
            "10.0.0.254 10.0.0.255 10.0.1.,0,3,");
  EXPECT_EQ(folded({"8", "8", "8", "8", "4"}), "8,1,4,,x 4");
  EXPECT_EQ(folded({"", "", "", "8"}), ",1,3,,x 8");
  EXPECT_EQ(folded({"a", "b"}), "a b");
  EXPECT_EQ(folded({"a,b", "c"}), "");
}

class HostListsIn : public testing::TestWithParam<test::Shell> {
 protected:
  std::string printed(const Names& names, bool is_wanted = false) const {
    const std::string text = export_lists({{"LIST", lines(names), is_wanted}});
    return test::run_shell(GetParam(), {"-c", std::string(kDefineNewline) + "; " + text + "printenv LIST"},
                           {})
        .output;
  }
};
INSTANTIATE_TEST_SUITE_P(Shells, HostListsIn, testing::ValuesIn(test::shells()), test::ShellName());

TEST_P(HostListsIn, HaveALineForEveryHost) {
  const std::vector<Names> all = {{"one"},
                                  {"a b", "$HOME", "x*", "it's", "-n"},
                                  {"fe80::1%eth0", "fe80::2%eth0", "fe80::3%eth0", "fe80::4%eth0"},
                                  {"a,b", "c,d"},
                                  {"007", "008", "009", "010", "011"},
                                  {"", "", "", "8"},
                                  numbered("tpu-{}", 0, 2304),
                                  numbered("n{:04}.example", 1, 2304),
                                  numbered("n{:02}", 0, 105),
                                  numbered("99999999{}", 990, 20),
                                  Names(2304, "8"),
                                  scattered(100)};
  for (const Names& names : all) {
    EXPECT_EQ(printed(names), lines(names) + '\n') << lines(names).substr(0, 100);
  }
}

TEST_P(HostListsIn, AreWholeHoweverLongWhereTheCommandAsks) {
  EXPECT_EQ(printed(scattered(2304), true), lines(scattered(2304)) + '\n');
  EXPECT_EQ(printed(scattered(2304)), "");
}

TEST(HostLists, StaySmall) {
  Names addresses;
  for (std::size_t i = 2; i < 2306; ++i) addresses.push_back(fmt::format("10.128.{}.{}", i / 256, i % 256));
  const std::string names = lines(numbered("tpu-{}", 0, 2304));
  const std::string slots = lines(Names(2304, "8"));
  const std::string text =
      export_lists({{"NAMES", names}, {"ADDRESSES", lines(addresses)}, {"SLOTS", slots}});
  EXPECT_LT(text.size(), 1400U);
  const std::string mixed = export_lists({{"NAMES", names}, {"ADDRESSES", lines(scattered(2304))}});
  EXPECT_LT(mixed.size(), kMaxLists);
  EXPECT_THAT(mixed, HasSubstr("NAMES"));
  EXPECT_THAT(mixed, Not(HasSubstr("ADDRESSES")));
  EXPECT_LT(export_lists({{"NAMES", lines(scattered(1000))}, {"ADDRESSES", lines(scattered(1000))}}).size(),
            1U);
}

TEST(HostLists, GiveEqualListsOnce) {
  const std::string all = lines(scattered(100));
  EXPECT_THAT(export_lists({{"NAMES", all}, {"ADDRESSES", all}}), HasSubstr("export ADDRESSES=\"$NAMES\"; "));
}

}  // namespace
}  // namespace podrun::supervisor
