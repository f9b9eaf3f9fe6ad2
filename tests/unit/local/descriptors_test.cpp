// SPDX-License-Identifier: Apache-2.0
#include "podrun/local/descriptors.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/usage_error.hpp"

namespace podrun::local {
namespace {

class DescriptorLimits : public testing::Test {
 protected:
  DescriptorLimits() { ::getrlimit(RLIMIT_NOFILE, &before_); }
  ~DescriptorLimits() override { ::setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorLimits(const DescriptorLimits&) = delete;
  DescriptorLimits& operator=(const DescriptorLimits&) = delete;

  static rlim_t soft() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
  }
  void set_soft(rlim_t soft) const {
    const rlimit limit{soft, before_.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  }

  rlimit before_{};
};

TEST_F(DescriptorLimits, StaysWhenItIsEnough) {
  set_soft(256);
  EXPECT_EQ(raise_descriptor_limit({.by_child = 2}).before, 0U);
  EXPECT_EQ(raise_descriptor_limit({.by_ssh = 50}).before, 0U);
  EXPECT_EQ(soft(), 256U);
}

TEST_F(DescriptorLimits, IsRaisedToWhatIsNeededAndTold) {
  set_soft(100);
  EXPECT_EQ(raise_descriptor_limit({.by_child = 20}).before, 100U);
  EXPECT_GE(soft(), 20U * 12);
  EXPECT_EQ(raise_descriptor_limit({.by_child = 20}).before, 0U);
}

/// In a process of its own: a hard limit that was lowered stays.
template <typename Check>
void with_hard_limit(rlim_t hard, Check check) {
  const auto run = [&] {
    const rlimit limit{hard, hard};
    ::setrlimit(RLIMIT_NOFILE, &limit);
    check();
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // other tests have left threads, which hold locks
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

// (Those of the test itself count too.)
TEST_F(DescriptorLimits, LetsAThousandHostsFitIntoAThousand) {
  with_hard_limit(1040, [] { EXPECT_EQ(raise_descriptor_limit({.by_ssh = 1000}).before, 0U); });
}

TEST_F(DescriptorLimits, IsAnErrorWhereTheHardOneIsLower) {
  with_hard_limit(1024, [] {
    EXPECT_THAT(
        usage_error([] { raise_descriptor_limit({.by_ssh = 20, .by_child = 100}); }),
        testing::MatchesRegex("120 hosts need 12[0-9][0-9] open files, the hard limit is 1024 .raise it "
                              "with ulimit -Hn, or take fewer hosts."));
  });
}

TEST_F(DescriptorLimits, LetsFewerHostsConnectAtATimeWhereTheyLogInWithAnAgent) {
  static constexpr HostCount kSixty{.by_ssh = 60, .with_agent = 60, .at_once = 32};
  // Sockets, podrun's own, three for each login; some are the test's.
  with_hard_limit(60 + 24 + 60, [] {
    const std::size_t at_once = raise_descriptor_limit(kSixty).at_once;
    EXPECT_GT(at_once, 10U);
    EXPECT_LE(at_once, 20U);
  });
  with_hard_limit(60 + 24 + 200, [] { EXPECT_EQ(raise_descriptor_limit(kSixty).at_once, 32U); });
  with_hard_limit(60 + 24 + 2, [] {
    EXPECT_THAT(usage_error([] { raise_descriptor_limit(kSixty); }), testing::HasSubstr("60 hosts need "));
  });
}

TEST_F(DescriptorLimits, LeavesRoomForWhatIsOpenAlready) {
  const auto needed = [] {
    const std::string error = usage_error([] { raise_descriptor_limit({.by_ssh = 200}); });
    return std::stoi(error.substr(error.find("need ") + 5));
  };
  with_hard_limit(100, [&] {
    const int before = needed();
    for (int i = 0; i < 30; ++i) ::dup(0);
    EXPECT_EQ(needed(), before + 30);
  });
}

}  // namespace
}  // namespace podrun::local
