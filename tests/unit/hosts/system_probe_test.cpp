// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/hosts/probe.hpp"

#include "support/usage_error.hpp"

namespace podrun::hosts {
namespace {

TEST(SystemProbe, ReadsFilesAndTellsMissingFromUnreadable) {
  const auto probe = make_system_probe();
  const std::string path = testing::TempDir() + "podrun_system_probe_test";
  std::ofstream(path) << std::string("a\0b\n", 4);
  EXPECT_EQ(probe->read_file(path), std::string("a\0b\n", 4));
  std::filesystem::remove(path);
  EXPECT_EQ(probe->read_file(path), std::nullopt);
  EXPECT_EQ(usage_error([&] { probe->read_file("/"); }), "cannot read \"/\": Is a directory");
}

TEST(SystemProbe, KnowsTheEnvironment) {
  const auto probe = make_system_probe();
  EXPECT_TRUE(probe->env("PATH"));
  EXPECT_EQ(probe->env("PODRUN_TEST_UNSET_VARIABLE"), std::nullopt);
}

TEST(SystemProbe, KnowsItself) {
  EXPECT_THAT(make_system_probe()->own_names(), testing::IsSupersetOf({"localhost", "127.0.0.1", "::1"}));
}

}  // namespace
}  // namespace podrun::hosts
