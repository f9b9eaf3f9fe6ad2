// SPDX-License-Identifier: Apache-2.0
#include "podrun/config/config_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_probe.hpp"
#include "support/temp_directory.hpp"
#include "support/usage_error.hpp"

namespace podrun::config {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(ConfigPathTest, IsInTheConfigurationHome) {
  FakeProbe probe;
  EXPECT_EQ(config_path(probe, "/home/me"), "/home/me/.config/podrun/config.yaml");
  probe.variables["XDG_CONFIG_HOME"] = "/etc/mine";
  EXPECT_EQ(config_path(probe, "/home/me"), "/etc/mine/podrun/config.yaml");
  probe.variables["XDG_CONFIG_HOME"] = "relative";
  EXPECT_EQ(config_path(probe, "/home/me"), "/home/me/.config/podrun/config.yaml");
}

TEST(ConfigPathTest, IsShownAsPeopleWriteIt) {
  EXPECT_EQ(short_path("/home/me/.config/x", "/home/me"), "~/.config/x");
  EXPECT_EQ(short_path("/home/meme/x", "/home/me"), "/home/meme/x");
}

class ConfigFileTest : public testing::Test {
 protected:
  std::optional<Configuration> read() const {
    return read_configuration(directory_.path("config.yaml"), directory_.path());
  }
  void write(const std::string& text, mode_t mode) const {
    ::chmod(directory_.write("config.yaml", text).c_str(), mode);
  }
  std::string error() const {
    return usage_error([this] { read(); });
  }

  test::TempDirectory directory_;
};

TEST_F(ConfigFileTest, NoFileIsNoConfiguration) {
  EXPECT_FALSE(read().has_value());
  EXPECT_FALSE(read_configuration("/dev/null/podrun/config.yaml", "/dev/null").has_value());
}

TEST_F(ConfigFileTest, ReadsItAndNamesItInErrors) {
  write("defaults: {grace: 5s}\n", 0644);
  ASSERT_TRUE(read().has_value());
  EXPECT_EQ(read()->defaults.entries.front().key, "grace");
  write("oops\n", 0600);
  EXPECT_THAT(error(), StartsWith("~/config.yaml:1: "));
}

TEST_F(ConfigFileTest, RefusesWhatOthersMayWrite) {
  write("defaults: {}\n", 0646);
  EXPECT_EQ(error(), "~/config.yaml: others may write to it, and it can name programs to run (chmod go-w " +
                         directory_.path("config.yaml") + ")");
}

TEST_F(ConfigFileTest, RefusesWhatBelongsToOthers) {
  const std::string path = directory_.path("config.yaml");
  if (::geteuid() != 0) return;  // who cannot give files away
  write("defaults: {}\n", 0660);
  ASSERT_EQ(::chown(path.c_str(), 0, 54321), 0);
  EXPECT_THAT(error(), HasSubstr("chmod go-w"));
  write("defaults: {}\n", 0600);
  ASSERT_EQ(::chown(path.c_str(), 54321, 0), 0);
  EXPECT_THAT(error(), StartsWith("~/config.yaml: it belongs to another user"));
}

TEST_F(ConfigFileTest, ADirectoryCannotBeRead) {
  ::mkdir(directory_.path("config.yaml").c_str(), 0700);
  EXPECT_THAT(error(), HasSubstr("cannot read"));
}

}  // namespace
}  // namespace podrun::config
