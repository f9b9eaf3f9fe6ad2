// SPDX-License-Identifier: Apache-2.0
#include "podrun/hosts/sources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/hosts/discovery.hpp"

#include "support/fake_probe.hpp"
#include "support/usage_error.hpp"

namespace podrun::hosts {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Texts = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

/// A machine called tpu-0 with the address 10.0.0.1, no files, and these variables.
FakeProbe machine(const Variables& variables) {
  FakeProbe probe;
  probe.variables = variables;
  probe.variables.emplace("HOME", "/home/me");
  probe.names = {"localhost", "127.0.0.1", "::1", "tpu-0", "10.0.0.1"};
  return probe;
}

HostQuery query_of(IncludeLocal include) {
  HostQuery query;
  query.include_local = include;
  return query;
}

/// `worker name`, with `!` after a host that is reached without ssh.
Texts found(const FakeProbe& probe, IncludeLocal include = IncludeLocal::no) {
  Texts texts;
  for (const Host& host : discover(query_of(include), probe).hosts) {
    texts.push_back(std::to_string(host.worker) + " " + host.name +
                    (host.kind == HostKind::local ? "!" : ""));
  }
  return texts;
}

Texts found_with_local(const FakeProbe& probe) { return found(probe, IncludeLocal::yes); }

std::string error_of(const FakeProbe& probe, IncludeLocal include = IncludeLocal::no) {
  return usage_error([&] { discover(query_of(include), probe); });
}

TEST(Sources, AnswerInTheOrderOfTheManual) {
  FakeProbe probe = machine({{"PODRUN_HOSTS", "a"},
                             {"PODRUN_HOSTFILE", "b.txt"},
                             {"SLURM_JOB_NODELIST", "c"},
                             {"SKYPILOT_NODE_IPS", "d"},
                             {"TPU_PROCESS_ADDRESSES", "e:8471"},
                             {"TPU_WORKER_HOSTNAMES", "f"}});
  probe.files = {{"b.txt", "b"},
                 {"/home/me/podips.txt", "g"},
                 {"/home/me/.config/podrun/podips.txt", "h"},
                 {"/home/me/.config/tpux/podips.txt", "i"}};
  Texts names;
  for (const char* variable : {"PODRUN_HOSTS", "PODRUN_HOSTFILE", "SLURM_JOB_NODELIST", "SKYPILOT_NODE_IPS",
                               "TPU_PROCESS_ADDRESSES", "TPU_WORKER_HOSTNAMES"}) {
    names.push_back(discover({}, probe).hosts[0].name);
    probe.variables[variable] = " ";  // set, but empty
  }
  for (const char* file :
       {"/home/me/podips.txt", "/home/me/.config/podrun/podips.txt", "/home/me/.config/tpux/podips.txt"}) {
    names.push_back(discover({}, probe).hosts[0].name);
    probe.files.erase(file);
  }
  EXPECT_THAT(names, ElementsAre("a", "b", "c", "d", "e", "f", "g", "h", "i"));
  EXPECT_THAT(error_of(probe), HasSubstr("TPU_WORKER_HOSTNAMES: set, but empty)"));
}

TEST(Sources, SayWhatWasTried) {
  EXPECT_EQ(discover({}, machine({{"SKYPILOT_NODE_IPS", "a\nb\n"}})).tried,
            (std::vector<TriedSource>{{"PODRUN_HOSTS", "not set"},
                                      {"PODRUN_HOSTFILE", "not set"},
                                      {"SLURM_JOB_NODELIST", "not set"},
                                      {"SKYPILOT_NODE_IPS", "2 hosts"}}));
  EXPECT_THAT(to_texts({{"A", "not set"}, {"B", "not set"}, {"C", "1 host"}}),
              ElementsAre("A, B: not set", "C: 1 host"));
}

TEST(Sources, SayHowToGoOnWithoutHosts) {
  const std::string tried =
      ": name them with -H tpu-[0-3], --hostfile FILE or one a line in ~/podips.txt; this machine alone is "
      "-H "
      "local (looked in $PODRUN_HOSTS and 13 other places, listed by podrun hosts)";
  EXPECT_EQ(error_of(machine({})), "no hosts" + tried);
  EXPECT_EQ(error_of(machine({}), IncludeLocal::yes), "-i: no list of hosts to add this machine to" + tried);
  EXPECT_THAT(error_of(FakeProbe()), HasSubstr("no hosts: ")) << "no HOME";
}

TEST(PodrunVariables, AreAChoiceLikeTheOptions) {
  const FakeProbe probe = machine({{"PODRUN_HOSTS", "me@tpu-[1-2]:2223,tpu-0"}});
  EXPECT_THAT(found(probe), ElementsAre("0 tpu-1", "1 tpu-2", "2 tpu-0"));
  EXPECT_THAT(found_with_local(probe), ElementsAre("0 tpu-1", "1 tpu-2", "2 tpu-0"));
  EXPECT_THAT(found_with_local(machine({{"PODRUN_HOSTS", "a"}})), ElementsAre("0 local!", "1 a"));
}

TEST(PodrunVariables, AreErrorsWhereTheyAreWrong) {
  EXPECT_EQ(error_of(machine({{"PODRUN_HOSTS", "a:x"}})),
            "PODRUN_HOSTS: bad port \"x\" in \"a:x\" (expected 1-65535)");
  EXPECT_EQ(error_of(machine({{"PODRUN_HOSTS", "-"}})),
            "PODRUN_HOSTS: \"-\" is for -H alone (expected a list such as tpu-[0-3])");
  EXPECT_EQ(error_of(machine({{"PODRUN_HOSTFILE", "gone"}})),
            "PODRUN_HOSTFILE: no such file \"gone\" (unset it, or write one host a line)");
  FakeProbe probe = machine({{"PODRUN_HOSTFILE", "pod.txt"}});
  probe.files["pod.txt"] = "a\nb:x\n";
  EXPECT_EQ(error_of(probe), "pod.txt:2: bad port \"x\" in \"b:x\" (expected 1-65535)");
  probe.files["pod.txt"] = "# nobody\n";
  EXPECT_EQ(error_of(probe), "PODRUN_HOSTFILE: no host in it (expected at least one)");
}

TEST(Slurm, ExpandsItsLists) {
  const auto nodes = [](const std::string& list) { return found(machine({{"SLURM_JOB_NODELIST", list}})); };
  EXPECT_THAT(nodes("nid[00001,00011-00012]"), ElementsAre("0 nid00001", "1 nid00011", "2 nid00012"));
  EXPECT_THAT(nodes("b,a,node[3,1-2]"), ElementsAre("0 b", "1 a", "2 node3", "3 node1", "4 node2"));
  EXPECT_THAT(nodes("r[1-2]n[08-09].zone"),
              ElementsAre("0 r1n08.zone", "1 r1n09.zone", "2 r2n08.zone", "3 r2n09.zone"));
  EXPECT_EQ(nodes("node[001-0015],host2").size(), 16U);
  EXPECT_EQ(nodes("node[001-0015],host2")[14], "14 node015") << "the first number gives the width";
  EXPECT_EQ(nodes("node[9-10]")[1], "1 node10");
}

TEST(Slurm, JoinsTheGroupsOfAHeterogeneousJob) {
  const FakeProbe probe = machine({{"SLURM_JOB_NODELIST", "c[1-2]"},
                                   {"SLURM_JOB_NODELIST_HET_GROUP_0", "c[1-2]"},
                                   {"SLURM_JOB_NODELIST_HET_GROUP_1", "gpu1,c2"},
                                   {"SLURM_JOB_NODELIST_HET_GROUP_3", "other"}});
  EXPECT_THAT(found(probe), ElementsAre("0 c1", "1 c2", "2 gpu1"));
}

TEST(Slurm, TakesThisMachineAsListedWithoutSsh) {
  const FakeProbe probe = machine({{"SLURM_JOB_NODELIST", "a,tpu-0,b"}});
  EXPECT_THAT(found(probe), ElementsAre("0 a", "1 tpu-0!", "2 b"));
  EXPECT_THAT(found_with_local(probe), ElementsAre("0 a", "1 tpu-0!", "2 b"));
  EXPECT_THAT(found_with_local(machine({{"SLURM_JOB_NODELIST", "a"}})), ElementsAre("0 local!", "1 a"));
}

TEST(Slurm, NamesItselfInErrors) {
  EXPECT_EQ(error_of(machine({{"SLURM_JOB_NODELIST", "a[1-"}})),
            "SLURM_JOB_NODELIST: bad range \"[1-\" in \"a[1-\" (expected a closing \"]\")");
  EXPECT_THAT(error_of(machine({{"SLURM_JOB_NODELIST", "a,,b"}})), HasSubstr("SLURM_JOB_NODELIST: bad host"));
  EXPECT_THAT(error_of(machine({{"SLURM_JOB_NODELIST", "a[0-99999],b[0-9]"}})), HasSubstr("too many hosts"));
  EXPECT_THAT(error_of(machine({{"SLURM_JOB_NODELIST_HET_GROUP_0", ""}})),
              HasSubstr("SLURM_JOB_NODELIST_HET_GROUP_0: bad host"));
}

TEST(SkyPilot, GivesOneAddressALine) {
  const FakeProbe probe = machine({{"SKYPILOT_NODE_IPS", "10.0.0.9\n10.0.0.1\r\n\n2001:db8::2\n"}});
  EXPECT_THAT(found(probe), ElementsAre("0 10.0.0.9", "1 10.0.0.1!", "2 2001:db8::2"));
  EXPECT_THAT(error_of(machine({{"SKYPILOT_NODE_IPS", "a\n-oProxyCommand=x"}})),
              HasSubstr("SKYPILOT_NODE_IPS: bad host"));
}

TEST(TpuVariables, TakeThisMachineOnlyOnRequestAndAtItsPlace) {
  const FakeProbe probe = machine({{"TPU_WORKER_HOSTNAMES", "10.0.0.3, 10.0.0.1,10.0.0.2"}});
  EXPECT_THAT(found(probe), ElementsAre("0 10.0.0.3", "2 10.0.0.2"));
  EXPECT_THAT(found_with_local(probe), ElementsAre("0 10.0.0.3", "1 10.0.0.1!", "2 10.0.0.2"));
}

TEST(TpuVariables, KnowThisMachineByItsNumberToo) {
  FakeProbe probe = machine({{"TPU_WORKER_HOSTNAMES", "w-0,w-1,w-2"}, {"TPU_WORKER_ID", "1"}});
  EXPECT_THAT(found(probe), ElementsAre("0 w-0", "2 w-2"));
  EXPECT_THAT(found_with_local(probe), ElementsAre("0 w-0", "1 w-1!", "2 w-2"));
  probe.variables.erase("TPU_WORKER_ID");
  EXPECT_EQ(
      error_of(probe, IncludeLocal::yes),
      "-i: cannot tell which host of TPU_WORKER_HOSTNAMES is this machine (none has its address or name; "
      "choose with -H, where \"local\" is this machine)");
  probe.variables["TPU_WORKER_ID"] = "3";
  EXPECT_EQ(error_of(probe), "TPU_WORKER_ID: \"3\" does not fit its list of 3 hosts (expected 0-2)");
}

TEST(TpuVariables, OfThisMachineAloneDoNotEndTheSearch) {
  FakeProbe probe =
      machine({{"TPU_PROCESS_ADDRESSES", "localhost:8471"}, {"TPU_WORKER_HOSTNAMES", "localhost"}});
  probe.files["/home/me/podips.txt"] = "a\n";
  EXPECT_THAT(found(probe), ElementsAre("1 a"));
}

TEST(SchedulerFiles, CountAHostForEachOfItsProcesses) {
  FakeProbe probe = machine({{"PBS_NODEFILE", "/var/pbs/nodes"}});
  probe.files["/var/pbs/nodes"] = "a\na\nb\nb\n";
  EXPECT_THAT(found(probe), ElementsAre("0 a", "1 b"));
  probe = machine({});
  probe.files["/job/hostfile"] = "worker-0 slots=8\nworker-1 slots=8\n";
  EXPECT_THAT(found(probe), ElementsAre("0 worker-0", "1 worker-1"));
}

TEST(TpuVariables, OfOneHostSayNothing) {
  for (const char* text : {"localhost", "localhost:8471", "localhost:8471,localhost:8472"}) {
    const FakeProbe probe = machine({{"TPU_WORKER_HOSTNAMES", text}, {"TPU_WORKER_ID", "0"}});
    EXPECT_THAT(error_of(probe), HasSubstr("TPU_WORKER_HOSTNAMES: only \"localhost\", which"));
  }
  EXPECT_THAT(error_of(machine({{"TPU_WORKER_HOSTNAMES", "tpu-0"}})),
              HasSubstr("TPU_WORKER_HOSTNAMES: no other host in it (this machine takes part with -i"));
}

TEST(TpuVariables, GiveAddressesOfProcessesWhosePortsAreNotOfSsh) {
  const FakeProbe probe =
      machine({{"TPU_PROCESS_ADDRESSES", "10.0.0.2:8471,10.0.0.2:8472,10.0.0.1:8471,[fd00::1]:8471"},
               {"TPU_WORKER_HOSTNAMES", "other"},
               {"TPU_WORKER_ID", "2"}});
  EXPECT_THAT(found_with_local(probe), ElementsAre("0 10.0.0.2", "1 10.0.0.1!", "2 fd00::1"));
  for (const Host& host : discover({}, probe).hosts) EXPECT_EQ(host.port, 0);
  EXPECT_THAT(found(machine({{"TPU_PROCESS_ADDRESSES", "local"}, {"TPU_WORKER_HOSTNAMES", "a,b"}})),
              ElementsAre("0 a", "1 b"));
}

TEST(TpuVariables, SayWhereTheyKnowOneSliceOfSeveral) {
  FakeProbe probe = machine({{"TPU_WORKER_HOSTNAMES", "a,b"}, {"MEGASCALE_NUM_SLICES", "2"}});
  EXPECT_THAT(discover({}, probe).notes,
              ElementsAre(HasSubstr("TPU_WORKER_HOSTNAMES knows only this one of 2 slices (to join them")));
  probe.variables["MEGASCALE_NUM_SLICES"] = "1";
  EXPECT_THAT(discover({}, probe).notes, ElementsAre());
}

TEST(PodipsPlaces, FollowXdg) {
  FakeProbe probe = machine({{"XDG_CONFIG_HOME", "/etc/mine"}});
  probe.files = {{"/etc/mine/podrun/podips.txt", "a"}, {"/etc/mine/tpux/podips.txt", "b"}};
  EXPECT_THAT(found(probe), ElementsAre("1 a"));
  EXPECT_EQ(discover({}, probe).hosts[0].source, "/etc/mine/podrun/podips.txt:1");
  probe.files.erase("/etc/mine/podrun/podips.txt");
  EXPECT_THAT(found(probe), ElementsAre("1 b"));
  probe.variables["XDG_CONFIG_HOME"] = "relative";  // does not count
  probe.files = {{"relative/podrun/podips.txt", "a"}, {"/home/me/.config/podrun/podips.txt", "c"}};
  EXPECT_EQ(discover({}, probe).hosts[0].source, "~/.config/podrun/podips.txt:1");
}

TEST(PodipsOfAllHosts, CountsFromZero) {
  FakeProbe probe = machine({});
  probe.files["/home/me/podips.txt"] = std::string(kAllHostsLine) + "\na\nb\n";
  EXPECT_THAT(found(probe), ElementsAre("0 a", "1 b"));
  EXPECT_THAT(found_with_local(probe), ElementsAre("0 local!", "1 a", "2 b"));
}

}  // namespace
}  // namespace podrun::hosts
