// SPDX-License-Identifier: Apache-2.0
#include "podrun/hosts/discovery.hpp"

#include <gtest/gtest.h>

#include "support/fake_probe.hpp"
#include "support/usage_error.hpp"

namespace podrun::hosts {
namespace {

using Texts = std::vector<std::string>;

/// A machine called tpu-0 with its own address 10.0.0.1.
FakeProbe probe_with_podips(std::optional<std::string> podips = std::nullopt) {
  FakeProbe probe;
  probe.variables["HOME"] = "/home/me";
  if (podips) probe.files["/home/me/podips.txt"] = *podips;
  probe.names = {"localhost", "127.0.0.1", "::1", "TPU-0", "10.0.0.1", "2001:db8::1"};
  return probe;
}

HostQuery hosts(std::vector<std::string> lists) {
  HostQuery query;
  query.lists = std::move(lists);
  return query;
}

HostQuery with_local(HostQuery query = {}) {
  query.include_local = IncludeLocal::yes;
  return query;
}

/// `worker name`, with `!` after a host that is reached without ssh.
Texts found(const HostQuery& query, const FakeProbe& probe = probe_with_podips()) {
  Texts texts;
  for (const Host& host : discover(query, probe).hosts) {
    texts.push_back(std::to_string(host.worker) + " " + host.name +
                    (host.kind == HostKind::local ? "!" : ""));
  }
  return texts;
}

std::string error_of(const HostQuery& query, const FakeProbe& probe = probe_with_podips()) {
  return usage_error([&] { discover(query, probe); });
}

TEST(Discovery, KeepsTheOrderOfTheList) {
  EXPECT_EQ(found(hosts({"c,a", "b"})), (Texts{"0 c", "1 a", "2 b"}));
}

TEST(Discovery, PrefersAnExplicitChoiceToPodips) {
  FakeProbe probe = probe_with_podips("x\n");
  probe.files["pod.txt"] = "a\nb\n";
  HostQuery query;
  query.hostfile = "pod.txt";
  EXPECT_EQ(found(query, probe), (Texts{"0 a", "1 b"}));
  EXPECT_EQ(found(hosts({"y"}), probe), Texts{"0 y"});
}

TEST(Discovery, RefusesTwoKindsOfChoice) {
  HostQuery query = hosts({"a"});
  query.hostfile = "pod.txt";
  EXPECT_EQ(error_of(query),
            "-H and --hostfile are both given (choose one; -H ^FILE puts a hosts file into a list)");
}

TEST(Discovery, NeverTakesAnEmptyChoiceForAll) {
  FakeProbe probe = probe_with_podips("x\n");
  probe.files["empty.txt"] = "# nobody\n";
  HostQuery query;
  query.hostfile = "empty.txt";
  EXPECT_EQ(error_of(query, probe), "empty.txt: no host in it (expected at least one)");
  EXPECT_EQ(error_of(hosts({"^empty.txt"}), probe), "-H: no host in it (expected at least one)");
  EXPECT_EQ(error_of(hosts({"-"}), probe),
            "-H: standard input has no host (did the command before \"|\" fail?)");
  EXPECT_NE(error_of(hosts({""}), probe), "no error");
  query.hostfile = "";
  EXPECT_EQ(error_of(query, probe), "cannot read \"\": no such file (expected a list of hosts)");
}

TEST(Discovery, RefusesWorkerNumbersInPlaceOfHosts) {
  HostQuery query = hosts({"[0-3]"});
  EXPECT_NE(error_of(query).find("--workers"), std::string::npos);
  query.by_via = true;  // a container may have a number for a name
  EXPECT_EQ(found(query).size(), 4U);
  FakeProbe probe;
  for (const char* list : {"4\n", "010\n", "a\n8471\n", "# podrun: one host a line\n1\n"}) {
    probe.files["list"] = list;
    query = {};
    query.hostfile = "list";
    EXPECT_NE(error_of(query, probe).find("not a number"), std::string::npos) << list;
    query.by_via = true;
    EXPECT_EQ(error_of(query, probe), "no error") << list;
  }
}

TEST(Discovery, SaysThatExternalAddressesAreIgnoredForAPlainList) {
  HostQuery query = hosts({"a"});
  EXPECT_TRUE(discover(query, FakeProbe()).notes.empty());
  query.external = true;
  EXPECT_EQ(discover(query, FakeProbe()).notes.size(), 1U);
}

TEST(Discovery, ReadsStandardInputOnce) {
  FakeProbe probe = probe_with_podips();
  probe.standard_input = "a\n";
  HostQuery query = hosts({"b", "-"});
  EXPECT_TRUE(reads_standard_input(query));
  EXPECT_FALSE(reads_standard_input(hosts({"a"})));
  EXPECT_EQ(found(query, probe), (Texts{"0 b", "1 a"}));
  query.exclude = {"-"};
  EXPECT_EQ(error_of(query, probe), "standard input is asked for twice (give one \"-\")");
}

TEST(Podips, HoldsTheOtherHosts) {
  const FakeProbe probe = probe_with_podips("10.0.0.2\n10.0.0.3\n");
  EXPECT_EQ(found({}, probe), (Texts{"1 10.0.0.2", "2 10.0.0.3"}));
  EXPECT_EQ(found(with_local(), probe), (Texts{"0 local!", "1 10.0.0.2", "2 10.0.0.3"}));
}

TEST(Podips, IsAFullListWhenItNamesThisMachine) {
  for (const std::string self : {"10.0.0.1", "tpu-0", "me@Tpu-0:22", "2001:DB8:0::1", "localhost"}) {
    const FakeProbe probe = probe_with_podips("a\n" + self + "\nb\n");
    const Host local = discover(with_local(), probe).hosts[1];
    EXPECT_EQ(found({}, probe), (Texts{"0 a", "2 b"})) << self;
    EXPECT_EQ(found(with_local(), probe), (Texts{"0 a", "1 " + local.name + "!", "2 b"})) << self;
    EXPECT_EQ(local.user + std::to_string(local.port), "0") << "no ssh, no user and no port";
    EXPECT_NE(self.find(local.name), std::string::npos) << "keeps its listed name";
  }
}

TEST(Podips, TakesForwardedPortsForOtherHosts) {
  const FakeProbe probe = probe_with_podips("localhost:2201\n127.0.0.1:2202\n");
  EXPECT_EQ(found(with_local(), probe), (Texts{"0 local!", "1 localhost", "2 127.0.0.1"}));
  EXPECT_EQ(found({}, probe_with_podips("a\n10.0.0.1:2222\n")), Texts{"0 a"})
      << "its own sshd on another port";
}

TEST(Podips, MayBeEmptyWhenThisMachineTakesPart) {
  EXPECT_EQ(found(with_local(), probe_with_podips("")), Texts{"0 local!"});
  for (const char* alone : {"", "tpu-0\n"}) {
    EXPECT_EQ(error_of({}, probe_with_podips(alone)),
              "~/podips.txt: no other host in it (this machine takes part with -i; other hosts: -H LIST)");
  }
}

TEST(Podips, NamesItsBadLine) {
  EXPECT_EQ(error_of({}, probe_with_podips("a\nb:22x\n")),
            "~/podips.txt:2: bad port \"22x\" in \"b:22x\" (expected 1-65535)");
}

TEST(ExplicitList, GetsThisMachineInFrontWhenItIsMissing) {
  EXPECT_EQ(found(with_local(hosts({"a,b"}))), (Texts{"0 local!", "1 a", "2 b"}));
  EXPECT_EQ(found(with_local(hosts({"a,tpu-0"}))), (Texts{"0 a", "1 tpu-0"}));
  EXPECT_EQ(found(with_local(hosts({"a,local"}))), (Texts{"0 a", "1 local!"}));
}

TEST(Repeats, AreAnErrorThatNamesBothPlaces) {
  EXPECT_EQ(error_of({}, probe_with_podips("a\nb\nA.\n")),
            "~/podips.txt:3: host \"A.\" is given twice, first at ~/podips.txt:1 as \"a\" "
            "(remove one; several processes of a host are slots=N; or --allow-repeats)");
  EXPECT_EQ(error_of(hosts({"a,me@a:22"})),
            "-H: host \"a\" is given twice, first at -H (remove one; several processes of a host are "
            "slots=N; or --allow-repeats)");
  EXPECT_NE(error_of(hosts({"local,local"})), "no error");
  EXPECT_NE(error_of(hosts({"2001:db8::9,2001:db8:0:0::9"})), "no error");
  EXPECT_NE(error_of(hosts({"tpu-0,10.0.0.1"})), "no error") << "two names of this machine";
}

TEST(Repeats, AreFineOnOtherPortsAndWhenAllowed) {
  EXPECT_EQ(found(hosts({"a:22,a:23"})), (Texts{"0 a", "1 a"}));
  EXPECT_EQ(found(hosts({"local[0-1]"})), (Texts{"0 local0!", "1 local1!"}));
  HostQuery query = hosts({"a,a"});
  query.repeats = Repeats::allow;
  EXPECT_EQ(found(query), (Texts{"0 a", "1 a"}));
}

TEST(Narrowing, KeepsLabels) {
  HostQuery query = hosts({"tpu-[10-14]"});
  query.exclude = {"tpu-[10-11]"};
  EXPECT_EQ(found(query), (Texts{"2 tpu-12", "3 tpu-13", "4 tpu-14"}));
  query.workers = "4,0-2";
  EXPECT_EQ(found(query), (Texts{"2 tpu-12", "4 tpu-14"}));
  query.workers = "all";
  EXPECT_EQ(found(query).size(), 3U);
}

TEST(Narrowing, ExcludesByWhatTheEntrySays) {
  const std::string list = "a:22,a:2223,me@b,c";
  const auto without = [&](const std::string& entry) {
    HostQuery query = hosts({list});
    query.exclude = {entry};
    return found(query);
  };
  EXPECT_EQ(without("a"), (Texts{"2 b", "3 c"}));
  EXPECT_EQ(without("a:2223"), (Texts{"0 a", "2 b", "3 c"}));
  EXPECT_EQ(without("me@b,C"), (Texts{"0 a", "1 a"}));
}

TEST(Narrowing, ExcludesByNumberWhatIsNoName) {
  HostQuery query = hosts({"a,b,c,d,1"});
  query.by_via = true;
  query.exclude = {"0,2-3"};
  EXPECT_EQ(found(query), (Texts{"1 b", "4 1"}));
  query.exclude = {"1"};  // a host of that name comes first
  EXPECT_EQ(found(query), (Texts{"0 a", "1 b", "2 c", "3 d"}));
  query.exclude = {"3-9"};
  EXPECT_EQ(error_of(query), "-x: \"3-9\" matches no host (--dry-run shows them)");
}

TEST(Narrowing, RefusesWhatMatchesNothing) {
  HostQuery query = hosts({"a,b"});
  query.exclude = {"a,c"};
  EXPECT_EQ(error_of(query), "-x: \"c\" matches no host (--dry-run shows them)");
  query.exclude = {"you@a"};
  EXPECT_NE(error_of(query), "no error");
  query.exclude = {};
  query.workers = "0-2";
  EXPECT_EQ(error_of(query), "--workers: no host has worker number \"2\" (there are 0,1)");
  query.workers = "x";
  EXPECT_EQ(error_of(query),
            "--workers: bad worker number \"x\" (expected numbers and ranges such as 0,3-7)");
  query.workers = "";
  EXPECT_NE(error_of(query), "no error");
}

TEST(Narrowing, RefusesToLeaveNothing) {
  HostQuery query = hosts({"a,b"});
  query.exclude = {"a"};
  query.workers = "0";
  EXPECT_EQ(error_of(query), "no host is left (-x and --workers exclude all of them)");
}

}  // namespace
}  // namespace podrun::hosts
