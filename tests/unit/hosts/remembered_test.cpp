// SPDX-License-Identifier: Apache-2.0
#include "podrun/hosts/remembered.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/base/file_system.hpp"
#include "podrun/hosts/discovery.hpp"

#include "support/fake_probe.hpp"
#include "support/temp_directory.hpp"
#include "support/usage_error.hpp"

namespace podrun::hosts {
namespace {

using testing::MatchesRegex;

std::vector<Host> named(std::vector<std::string> names) {
  std::vector<Host> hosts(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    hosts[i].worker = i;
    hosts[i].name = std::move(names[i]);
  }
  return hosts;
}

FakeProbe with_failed(std::string text) {
  FakeProbe probe;
  probe.variables["XDG_STATE_HOME"] = "/state";
  probe.files["/state/podrun/failed_hosts"] = std::move(text);
  return probe;
}

std::string error_of(Remembered which, const std::vector<Host>& hosts, const FakeProbe& probe) {
  return usage_error([&] { recall(which, hosts, probe); });
}

TEST(Remembered, AreTheHostsThatFailed) {
  const test::TempDirectory directory;
  FakeProbe probe;
  probe.variables["HOME"] = directory.path("home");
  const std::vector<Host> hosts = named({"a", "b", "c", "d"});
  remember(Remembered::failed, {hosts[1], hosts[3]}, probe);
  remember(Remembered::failed, {}, probe);  // a run in which none failed changes nothing
  const std::string file = directory.path("home/.local/state/podrun/failed_hosts");
  probe.files[file] = make_system_probe()->read_file(file).value_or("none");
  const RememberedHosts recalled = recall(Remembered::failed, hosts, probe);
  EXPECT_EQ(recalled.workers, "1,3");
  EXPECT_THAT(recalled.note,
              MatchesRegex(R"(\[1,3\] failed in the run of [0-9]+-[0-9]+-[0-9]+ [0-9]+:[0-9]+)"));
}

TEST(Remembered, AreThoseOfTheRunThatGoesOn) {
  const test::TempDirectory directory;
  FakeProbe probe;
  probe.variables["HOME"] = directory.path("home");
  const std::vector<Host> hosts = named({"a", "b"});
  const std::string file = directory.path("home/.local/state/podrun/silent_hosts");
  remember(Remembered::silent, {hosts[1]}, probe);
  remember_silent_now({hosts[0]}, probe);
  probe.files[file] = make_system_probe()->read_file(file).value_or("none");
  EXPECT_EQ(recall(Remembered::silent, hosts, probe).workers, "0");
  remember_silent_now({}, probe);
  probe.files[file] = make_system_probe()->read_file(file).value_or("none");
  EXPECT_THAT(error_of(Remembered::silent, hosts, probe),
              testing::StartsWith("--workers silent: no host is silent in the run of "));
}

TEST(Remembered, AreNotBelievedIfOthersMayWriteTheFile) {
  const test::TempDirectory directory;
  FakeProbe probe;
  probe.variables["HOME"] = directory.path("home");
  const std::vector<Host> hosts = named({"a", "b"});
  remember(Remembered::failed, {hosts[1]}, probe);
  const std::filesystem::path place = directory.path("home/.local/state/podrun");
  probe.files[place / "failed_hosts"] = "2026-11-21 14:05\n1 b\n";
  for (const std::filesystem::path& path : {place, place / "failed_hosts"}) {
    using std::filesystem::perms;
    std::filesystem::permissions(path, perms::others_write, std::filesystem::perm_options::add);
    EXPECT_THAT(error_of(Remembered::failed, hosts, probe),
                testing::StartsWith(path.string() + ": others may write to it"));
    EXPECT_EQ(recall_state("failed_hosts", probe), "");
    std::filesystem::permissions(path, perms::others_write, std::filesystem::perm_options::remove);
  }
  EXPECT_EQ(recall(Remembered::failed, hosts, probe).workers, "1");
}

TEST(Remembered, ChooseHostsAndSaySo) {
  const FakeProbe probe = with_failed("2026-11-21 14:05\n1 b\n");
  HostQuery query;
  query.lists = {"a,b,c"};
  query.workers = "failed";
  const Discovery found = discover(query, probe);
  ASSERT_EQ(found.hosts.size(), 1U);
  EXPECT_EQ(found.hosts[0].name, "b");
  EXPECT_EQ(found.notes, std::vector<std::string>{"[1] failed in the run of 2026-11-21 14:05"});
}

TEST(Remembered, AreNeverGuessed) {
  const FakeProbe probe = with_failed("2026-11-21 14:05\n1 b\n");
  EXPECT_EQ(error_of(Remembered::failed, named({"a", "x"}), probe),
            "--workers failed: worker 1 was b in the run of 2026-11-21 14:05, and is x here (give the same "
            "hosts, or numbers)");
  EXPECT_EQ(
      error_of(Remembered::failed, named({"a"}), probe),
      "--workers failed: worker 1 was b in the run of 2026-11-21 14:05, and is not among the hosts here "
      "(give the same hosts, or numbers)");
  const std::string none =
      "--workers silent: no run on these hosts is known in which one printed nothing or stopped long before "
      "the others (give numbers)";
  EXPECT_EQ(error_of(Remembered::silent, named({"a"}), probe), none);
  EXPECT_EQ(error_of(Remembered::silent, named({"a"}), FakeProbe()), none) << "without HOME";
  EXPECT_NE(error_of(Remembered::failed, named({"a"}), with_failed("\x1b[2J\nx\n7\n")), "no error");
}

}  // namespace
}  // namespace podrun::hosts
