// SPDX-License-Identifier: Apache-2.0
#include "podrun/local/login_environment.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>

#include <gtest/gtest.h>

#include "support/temp_directory.hpp"

namespace podrun::local {
namespace {

using Texts = std::vector<std::string>;

const Account kUser{.name = "ann", .home = "/home/ann", .shell = "/bin/bash", .is_root = false};
const Texts kUserEnvironment = {"HOME=/home/ann", "USER=ann", "LOGNAME=ann", "SHELL=/bin/bash",
                                "PATH=/usr/local/bin:/usr/bin:/bin:/usr/games"};

/// The variables that /etc/environment adds to a login's own.
Texts added(std::string_view etc_environment) {
  const Texts environment = login_environment(kUser, etc_environment);
  EXPECT_TRUE(std::equal(kUserEnvironment.begin(), kUserEnvironment.end(), environment.begin()));
  return {environment.begin() + static_cast<std::ptrdiff_t>(kUserEnvironment.size()), environment.end()};
}

TEST(LoginEnvironment, IsThatOfALogin) {
  EXPECT_EQ(login_environment(kUser, ""), kUserEnvironment);
  const Account root{.name = "root", .home = "/root", .shell = "/bin/sh", .is_root = true};
  EXPECT_EQ(login_environment(root, ""),
            (Texts{"HOME=/root", "USER=root", "LOGNAME=root", "SHELL=/bin/sh",
                   "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}));
}

TEST(LoginEnvironment, TakesTheLinesOfEtcEnvironment) {
  EXPECT_EQ(added("A=1\nB=x=y\n  C = d\nE=\n"), (Texts{"A=1", "B=x=y", "C = d", "E="}));
  EXPECT_EQ(added("export A=1\r\n\texport   B=2"), (Texts{"A=1", "B=2"}));
  EXPECT_EQ(added("A=\"a b\"\nB='c d'\nC=\"'e'\"\nD=\"\nE=''\nF=\"x'"),
            (Texts{"A=a b", "B=c d", "C='e'", "D=\"", "E=", "F=\"x'"}));
}

TEST(LoginEnvironment, IgnoresOtherLines) {
  EXPECT_EQ(added("# A=1\n\n   \n=x\nhello\n  #B=2\nexport\nexport C\nD=1"), Texts{"D=1"});
}

TEST(LoginEnvironment, LetsALaterLineWinAndKeepsOneEntryForEachName) {
  EXPECT_EQ(added("A=1\nAB=2\nA=3"), (Texts{"A=3", "AB=2"}));
  const Texts environment = login_environment(kUser, "PATH=\"/opt/bin:/bin\"\nLANG=C.UTF-8\n");
  EXPECT_EQ(environment, (Texts{"HOME=/home/ann", "USER=ann", "LOGNAME=ann", "SHELL=/bin/bash",
                                "PATH=/opt/bin:/bin", "LANG=C.UTF-8"}));
}

TEST(OwnAccount, IsThatOfThePasswordDatabase) {
  const passwd* entry = ::getpwuid(::getuid());
  ASSERT_NE(entry, nullptr);
  const Account account = own_account("");
  EXPECT_EQ(account.name, entry->pw_name);
  EXPECT_EQ(account.home, entry->pw_dir);
  EXPECT_FALSE(account.shell.empty());
  EXPECT_EQ(account.is_root, ::getuid() == 0);
}

TEST(OwnAccount, CanBeGivenAnotherHome) {
  const Account account = own_account("/elsewhere");
  EXPECT_EQ(account.home, "/elsewhere");
  EXPECT_EQ(account.name, own_account("").name);
}

TEST(HomeDirectory, IsHomeIfItCanBeEntered) {
  const test::TempDirectory directory;
  EXPECT_EQ(home_directory({"A=1", "HOME=" + directory.path()}), directory.path());
  EXPECT_EQ(home_directory({"HOME=" + directory.path("missing")}), "/");
  EXPECT_EQ(home_directory({"HOME=" + directory.write("file", "")}), "/");
  EXPECT_EQ(home_directory({"HOME="}), "/");
  EXPECT_EQ(home_directory({"XHOME=" + directory.path()}), "/");
  EXPECT_EQ(home_directory({}), "/");
}

TEST(HomeDirectory, IsNoFile) { EXPECT_EQ(home_directory({"HOME=/bin/sh"}), "/"); }

}  // namespace
}  // namespace podrun::local
