// SPDX-License-Identifier: Apache-2.0
#include "podrun/local/descriptors.hpp"

#include <sys/resource.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/usage_error.hpp"

namespace podrun {
namespace {

class DescriptorLimit : public testing::Test {
 protected:
  DescriptorLimit() { ::getrlimit(RLIMIT_NOFILE, &before_); }
  ~DescriptorLimit() override { ::setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

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

TEST_F(DescriptorLimit, StaysWhenItIsEnough) {
  set_soft(256);
  EXPECT_EQ(raise_descriptor_limit(2), 0U);
  EXPECT_EQ(soft(), 256U);
}

TEST_F(DescriptorLimit, IsRaisedToWhatIsNeededAndTold) {
  set_soft(100);
  EXPECT_EQ(raise_descriptor_limit(20), 100U);
  EXPECT_GE(soft(), 20U * 8);
  EXPECT_EQ(raise_descriptor_limit(20), 0U);
}

TEST_F(DescriptorLimit, IsAnErrorWhereTheHardOneIsLower) {
  ASSERT_NE(before_.rlim_max, RLIM_INFINITY);
  const std::size_t hosts = before_.rlim_max / 8;
  EXPECT_EQ(
      usage_error([&] { raise_descriptor_limit(hosts); }),
      fmt::format("{} hosts need {} open files, the hard limit is {} (raise it with ulimit -Hn, or take "
                  "fewer hosts)",
                  hosts, 64 + 12 * hosts, before_.rlim_max));
  EXPECT_EQ(soft(), before_.rlim_cur);
}

}  // namespace
}  // namespace podrun
