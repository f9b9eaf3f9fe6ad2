// SPDX-License-Identifier: Apache-2.0
#include "podrun/hosts/host_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/hosts/host_name.hpp"
#include "podrun/hosts/host_pattern.hpp"
#include "podrun/hosts/host_words.hpp"

#include "support/fake_probe.hpp"
#include "support/temp_directory.hpp"
#include "support/usage_error.hpp"

namespace podrun::hosts {
namespace {

using Texts = std::vector<std::string>;

/// `worker user@name:port slots=8 ansible_host=ADDRESS source`, what is not given left out.
Texts describe(const std::vector<Host>& hosts) {
  Texts texts;
  for (const Host& host : hosts) {
    std::string text = std::to_string(host.worker) + " ";
    if (host.kind == HostKind::local) text += "(local) ";
    if (!host.user.empty()) text += host.user + "@";
    text += host.name;
    if (host.port != 0) text += ":" + std::to_string(host.port);
    texts.push_back(text + words_of(host) + " " + host.source);
  }
  return texts;
}

Texts list(const std::string& value, const FakeProbe& probe = {}) {
  return describe(parse_host_list({value}, "-H", probe).hosts);
}

Texts file(const std::string& text, const FakeProbe& probe = {}) {
  return describe(parse_hosts_file(text, "hosts", probe).hosts);
}

std::string list_error(const std::string& value) {
  return usage_error([&] { list(value); });
}

std::string file_error(const std::string& text) {
  return usage_error([&] { file(text); });
}

TEST(HostList, ReadsNamesUsersAndPorts) {
  EXPECT_EQ(list("tpu-1"), Texts{"0 tpu-1 -H"});
  EXPECT_EQ(list("me@tpu-1:2222, 10.0.0.2 ,a_b.c."),
            (Texts{"0 me@tpu-1:2222 -H", "1 10.0.0.2 -H", "2 a_b.c. -H"}));
  EXPECT_EQ(list("me@corp.com@tpu-1"), Texts{"0 me@corp.com@tpu-1 -H"});
}

TEST(HostList, ReadsIpv6) {
  EXPECT_EQ(list("2001:db8::1,[2001:db8::2],[2001:db8::3]:22"),
            (Texts{"0 2001:db8::1 -H", "1 2001:db8::2 -H", "2 2001:db8::3:22 -H"}));
  EXPECT_EQ(list("me@[fe80::1%eth0]:22"), Texts{"0 me@fe80::1%eth0:22 -H"});
  EXPECT_EQ(list("2001:db8::[1-2]"), (Texts{"0 2001:db8::1 -H", "1 2001:db8::2 -H"}));
}

TEST(HostList, SplitsAtCommasOutsideOfBracketsOnly) {
  EXPECT_EQ(list("a[1,3],b"), (Texts{"0 a1 -H", "1 a3 -H", "2 b -H"}));
}

TEST(HostList, KnowsThisMachineByTheWordLocal) {
  EXPECT_EQ(list("local"), Texts{"0 (local) local -H"});
  EXPECT_EQ(list("local[0-1],localhost"),
            (Texts{"0 (local) local0 -H", "1 (local) local1 -H", "2 localhost -H"}));
  EXPECT_EQ(list_error("me@local"),
            "-H: \"me@local\" has a user or a port (\"local\" is this machine without ssh; for ssh to it: "
            "localhost)");
}

TEST(HostList, ReadsFilesAndStandardInput) {
  FakeProbe probe;
  probe.files["pod"] = "b\n\nc\n";
  probe.standard_input = "d\n";
  EXPECT_EQ(list("a,^pod,z", probe), (Texts{"0 a -H", "1 b pod:1", "2 c pod:3", "3 z -H"}));
  EXPECT_EQ(list("-", probe), Texts{"0 d standard input:1"});
  EXPECT_EQ(describe(read_hosts_file("pod", probe).hosts), (Texts{"0 b pod:1", "1 c pod:3"}));
  EXPECT_EQ(list_error("^nowhere"), "cannot read \"nowhere\": no such file (expected a list of hosts)");
}

TEST(HostList, TakesSemicolonsBlanksAndNewlinesForCommas) {
  const Texts both{"0 a -H", "1 b1 -H", "2 b2 -H"};
  for (const char* text :
       {"a;b[1,2]", "a b[1,2]", " a , b[1,2] ", "a\nb[1,2]\n", "a; b[1,2]", "a \t\r\n b[1,2]"})
    EXPECT_EQ(list(text), both) << text;
}

TEST(HostList, NamesTheBadPart) {
  EXPECT_EQ(list_error("tpu-1:22x"), "-H: bad port \"22x\" in \"tpu-1:22x\" (expected 1-65535)");
  EXPECT_EQ(list_error("a,,b"), "-H: bad host \"\" in \"a,,b\" (expected one before and after each comma)");
  EXPECT_EQ(
      list_error("-oProxyCommand=x"),
      "-H: bad word \"-oProxyCommand=x\" (expected a host, and behind it slots=8, user=NAME, port=22 or "
      "Ansible's ansible_host=ADDRESS)");
  EXPECT_EQ(list_error("-l"), "-H: bad host \"-l\" (expected a name or an address)");
  EXPECT_EQ(list_error("a:b:c"),
            "-H: bad address \"a:b:c\" (expected an IPv6 address, in brackets when a port follows)");
  EXPECT_EQ(list_error("a\x1b"), "-H: control character \"\\x1b\" (expected plain text)");
}

TEST(HostList, RefusesWhatNoHostIsCalled) {
  for (const char* bad :
       {"",     " ",       ",",      ",a",     "a,;b", ":22",    "a:",        "a:0",       "a:65536",
        "a:-1", "@a",      "a@",     "-l@a",   "a@-b", "/a",     "+n0",       "$(id)",     "..",
        "[::1", "[::1]22", "[::1]:", "[::g]",  "::1%", "::1%-x", "u@[x@::1]", "a]",        "^",
        "a,-",  "None",    "null",   "<none>", "a*",   "a;b|c",  "a\\b",      "10.0.0.0/8"}) {
    EXPECT_NE(list_error(bad), "no error") << bad;
  }
  EXPECT_NE(list_error(std::string(254, 'a')), "no error");
}

TEST(HostList, TakesNamesThatOnlySomeWaysInKnow) {
  EXPECT_EQ(list("prod/a,a+b,h\xc3\xb6st,a%b"),
            (Texts{"0 prod/a -H", "1 a+b -H", "2 h\xc3\xb6st -H", "3 a%b -H"}));
}

TEST(HostList, ReadsWordsAboutTheHostsBeforeThem) {
  EXPECT_EQ(list("a[1-2] slots=8, b slots = 4 max-slots=6 weight=2"),
            (Texts{"0 a1 slots=8 -H", "1 a2 slots=8 -H", "2 b slots=4 -H"}));
  EXPECT_EQ(list("a 8 b 4"), (Texts{"0 a slots=8 -H", "1 b slots=4 -H"}));
  EXPECT_EQ(list("tpu0 ansible_host=10.0.0.2 ansible_user=me ansible_port=2222"),
            Texts{"0 me@tpu0:2222 ansible_host=10.0.0.2 -H"});
  EXPECT_EQ(list("a user=me port=22"), Texts{"0 me@a:22 -H"});
  for (const char* bad :
       {"slots=8", "a slots=x", "a slots=", "a network=ib", "me@a user=you", "a slots=1 slots=2", "a port=0",
        "a user=-l", "a ansible_host=-x", "local port=22", "a,slots=8,=b"}) {
    EXPECT_NE(list_error(bad), "no error") << bad;
  }
}

TEST(HostList, TakesSmallPortsForProcesses) {
  EXPECT_EQ(list_error("node1:8,node2:8"),
            "-H: \"node1:8\" can be port 8, or 8 processes as for mpiexec (for processes write \"node1 "
            "slots=8\", for the port \"node1 port=8\")");
  EXPECT_EQ(list("node1:8,node2:2222"), (Texts{"0 node1:8 -H", "1 node2:2222 -H"}));
  EXPECT_EQ(list("node1:22"), Texts{"0 node1:22 -H"});
  EXPECT_EQ(list("node1 port=8"), Texts{"0 node1:8 -H"});
}

TEST(HostList, MayEndWithAComma) { EXPECT_EQ(list("a,b,"), (Texts{"0 a -H", "1 b -H"})); }

TEST(HostList, HoldsAtMostTheLimit) {
  EXPECT_EQ(list("a[1-50000],b[1-50000]").size(), kMaxHosts);
  EXPECT_EQ(list_error("a[1-50000],b[0-50000]"),
            "-H: too many hosts with \"b[0-50000]\" (expected at most 100000)");
}

TEST(HostsFile, ReadsOneHostALine) {
  EXPECT_EQ(file("# pod\n\n10.0.0.1\n  me@b:22  # second\nc[1-2]"),
            (Texts{"0 10.0.0.1 hosts:3", "1 me@b:22 hosts:4", "2 c1 hosts:5", "3 c2 hosts:5"}));
  EXPECT_EQ(file(""), Texts{});
  EXPECT_EQ(file("local\n"), Texts{"0 (local) local hosts:1"});
}

TEST(HostsFile, IncludesOthers) {
  FakeProbe probe;
  probe.files["dir/login"] = "l[1-2]\n";
  probe.files["dir/self"] = "#include self\n";
  probe.files["/abs"] = "z\n";
  const auto read = [&probe](const std::string& text) {
    return describe(parse_hosts_file(text, "dir/hosts", probe).hosts);
  };
  EXPECT_EQ(read("a\n#include login\n#include \"/abs\"\n# include is a word\n"),
            (Texts{"0 a dir/hosts:1", "1 l1 dir/login:1", "2 l2 dir/login:1", "3 z /abs:1"}));
  EXPECT_EQ(usage_error([&] { read("#include nowhere\n"); }),
            "dir/hosts:1: cannot read \"dir/nowhere\": no such file (expected a list of hosts)");
  EXPECT_NE(usage_error([&] { read("#include self\n"); }), "no error");
}

TEST(HostsFile, NotesAHeading) {
  const HostList list = parse_hosts_file("IP_ADDRESS\n10.0.0.1\n", "hosts", FakeProbe());
  EXPECT_EQ(describe(list.hosts), Texts{"0 10.0.0.1 hosts:2"});
  EXPECT_EQ(list.notes, Texts{"hosts:1: \"IP_ADDRESS\" is a heading, not a host"});
}

TEST(HostsFile, HasNoHeadingInADescription) {
  const auto read = [](const std::string&, std::string_view) { return Description{"name\na\n"}; };
  const HostList list = parse_hosts_file(R"(["name", "a"])", "hosts", FakeProbe(), read);
  EXPECT_EQ(describe(list.hosts), (Texts{"0 name hosts:1", "1 a hosts:2"}));
}

TEST(HostsFile, ToleratesWindowsLinesAndByteOrderMark) {
  EXPECT_EQ(file("\xEF\xBB\xBF"
                 "a\r\n\r\nb\r\n"),
            (Texts{"0 a hosts:1", "1 b hosts:3"}));
}

TEST(HostsFile, NamesTheLineAndTheBadPart) {
  EXPECT_EQ(file_error("a\nb[9-2]"),
            "hosts:2: bad range \"9-2\" in \"b[9-2]\" (expected numbers from low to high, such as 0-15,20 or "
            "001-128)");
  EXPECT_THAT(file_error("10.0.0.2 tpu0"),
              testing::StartsWith("hosts:1: bad line \"10.0.0.2 tpu0\" (expected one column: "
                                  "value(networkEndpoints[].ipAddress)"));
  EXPECT_EQ(file_error(std::string("a\nb\0", 4)),
            "hosts:2: control character \"\\x00\" (expected plain text)");
  for (const char* bad :
       {"^f", "-", "a#b", "a =8", "a\rb", "\x1b[1m", "[gpu]", "rank 0=a slot=0", "; x\na"}) {
    EXPECT_NE(file_error(bad), "no error") << bad;
  }
}

TEST(HostsFile, RefusesColumnsOfATableWhateverSeparatesThem) {
  for (const char* table : {"a0,10.0.0.2\n",
                            "a0;10.0.0.2\na1;10.0.0.3\n",
                            "a0\t10.0.0.2\n",
                            "a0|10.0.0.2\n",
                            "a0 | 10.0.0.2\n",
                            "\"a0\",\"10.0.0.2\"\n",
                            "10.0.0.2,a0\n",
                            "pod 10.0.0.2;10.0.0.3\n",
                            "10.0.0.2,203.0.113.2\n",
                            "10.0.0.2;10.0.0.3\t203.0.113.2;203.0.113.3\n",
                            "203.0.113.2 10.0.0.2\n",
                            "10.0.0.2,2001:db8::2\n",
                            "me@a0:22,me@10.0.0.2:22\n",
                            "10.0.0.[2-3],203.0.113.[2-3]\n",
                            "name,network_ip\na0,10.0.0.2\n",
                            "a0,a0.zone\n",
                            "a0.zone,a0\n",
                            "a0\na0.zone\na1\na1.zone\n",
                            "a0\na1\na0.zone\na1.zone\n",
                            "127.0.0.1 localhost\n",
                            "::1 localhost\n",
                            "a0,b0\na1,b1\n",
                            "a0\tb0\n",
                            "a0    b0\n"}) {
    EXPECT_THAT(file_error(table), testing::HasSubstr("one column: value(")) << table;
  }
}

TEST(HostsFile, RefusesColumnsWhoseCellsAreLines) {
  for (const char* cells : {"a0\n10.0.0.2\na1\n10.0.0.3\n", "a0\na1\n10.0.0.2\n10.0.0.3\n",
                            "a0,a1\n10.0.0.2,10.0.0.3\n", "a0\n10.0.0.2\n10.0.0.3\na1\n10.0.0.4\n10.0.0.5\n",
                            "10.0.0.2\n203.0.113.2\n", "10.0.0.2;10.0.0.3\n203.0.113.2;203.0.113.3\n",
                            "a0\n10.0.0.2\n203.0.113.2\n", "10.0.0.2\n2001:db8::2\n"}) {
    EXPECT_THAT(file_error(cells), testing::HasSubstr("one column: value(")) << cells;
    EXPECT_EQ(file_error("# podrun: one host a line\n" + std::string(cells)).find("hosts: names beside"),
              std::string::npos);
  }
}

TEST(HostsFile, TakesNamesAndAddressesOfDifferentMachines) {
  for (const char* list : {"localhost\n10.0.0.2\n",
                           "localhost,10.0.0.2\n",
                           "local,10.0.0.2\n",
                           "localhost 203.0.113.2\n",
                           "localhost,a0\n",
                           "localhost\n127.0.0.1\n",
                           "a0.x\na0.y\na00\n",
                           "ZEUS\nnode1\n",
                           "LOGIN\nnode1\n",
                           "vpc-ip\n10.0.0.2\n",
                           "local\n10.0.0.2\nlocal2\n10.0.0.3\n",
                           "login\n10.0.0.2\n10.0.0.3\n",
                           "a0\n10.0.0.2\n",
                           "a0\n10.0.0.2\na1\n",
                           "10.0.0.2\n10.0.0.3\n203.0.113.2\n",
                           "127.0.0.1\n10.0.0.2\n",
                           "a0 ansible_host=10.0.0.2\na1 ansible_host=10.0.0.3\n",
                           "a0 8\nb0 4\n",
                           "a b c\n",
                           "a1 a2\na3 a4\n",
                           "a0,b0\n",
                           "a; b\nc d,e\n",
                           "10.0.0.2 10.0.0.3\n10.0.0.4\n",
                           "# podrun: one host a line\na\n10.0.0.2\nb\n10.0.0.3\n"}) {
    EXPECT_EQ(file_error(list), "no error") << list;
  }
}

TEST(HostsFile, TakesWordsOfAMarkedListForHosts) {
  for (const char* line : {"LOGIN\n10.0.0.2", "NAME\na", "READY\na", "1\n2", "alpha  beta", "a\tb",
                           "a\na.zone", "a 10.0.0.2", "POD NODE", "a\tRUNNING"}) {
    const HostList list = parse_hosts_file("# podrun: mine\n" + std::string(line), "hosts", FakeProbe());
    EXPECT_EQ(list.hosts.size(), 2U) << line;
    EXPECT_TRUE(list.notes.empty()) << line;
  }
}

TEST(HostList, TakesTypedWordsForHosts) {
  EXPECT_EQ(list("a0,10.0.0.2"), (Texts{"0 a0 -H", "1 10.0.0.2 -H"}));
  EXPECT_EQ(list("10.0.0.2 203.0.113.2"), (Texts{"0 10.0.0.2 -H", "1 203.0.113.2 -H"}));
  EXPECT_NE(list_error("a0\t10.0.0.2"), "no error");
  EXPECT_NE(list_error("a0,10.0.0.2\na1,10.0.0.3"), "no error");
}

TEST(HostsFile, KnowsHeadings) {
  for (const char* heading :
       {"network_ip", "NETWORK_IP", "NAT_IP", "nat_ip", "INSTANCE", "POD", "PODIP", "INTERNAL-IP",
        "networkIP", "podIP", "WORKER", "\"ip_address\"", "external_ip"}) {
    const HostList list = parse_hosts_file(std::string(heading) + "\n10.0.0.2\n", "hosts", FakeProbe());
    EXPECT_EQ(describe(list.hosts), Texts{"0 10.0.0.2 hosts:2"}) << heading;
    EXPECT_EQ(list.notes.size(), 1U) << heading;
  }
  EXPECT_EQ(file("POD\nlws-0\nlws-0-1\n").size(), 2U);
  EXPECT_EQ(file("POD\n").size(), 0U);
  EXPECT_EQ(file("ZEUS\nnode1\n").size(), 2U);
  for (const char* list : {"ALPHA\nBRAVO\n", "ZEUS\nnode1\n", "vpc-ip\n10.0.0.2\n", "GPUBOX\n",
                           "head-node\n10.0.0.2\n", "my_host\n10.0.0.2\n"})
    EXPECT_EQ(file(list).front().substr(0, 2), "0 ") << list;
  EXPECT_EQ(file("my_host\n10.0.0.2\n10.0.0.3\n").size(), 3U);
}

TEST(HostsFile, RefusesWhatProgramsPrintInPlaceOfHosts) {
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"10.8.0.510.8.1.5", "a blank or a comma between two addresses"},
      {"127.1\n", "four numbers"},
      {"0x7f000001\n", "four numbers"},
      {"010.0.0.2\n", "four numbers"},
      {"READY\n", "value(name)"},
      {"a0\tRUNNING\na1\tTERMINATED\n", "value(name)"},
      {"t-0-x7k2p   1/1   Running   0   10m\n", "-o name"},
      {"n-1   Ready   <none>   10d   v1.29\n", "-o name"},
      {"No resources found in default namespace.\n", "-n NAMESPACE"},
      {"ERROR: (gcloud.x) NOT_FOUND: a was\n- b\n", "gcloud failed: \"(gcloud.x) NOT_FOUND: a was\""},
      {"API x is off.\nWARNING: y\nERROR: (gcloud.x) z\n", "gcloud failed: \"(gcloud.x) z\""},
      {"Error: no\nsuch: thing\n", "an error message"},
      {"node/n-1\n", "InternalIP"},
      {"job.batch/t\n", "kubectl get pods -l job-name=t -o name"},
      {"jobset.jobset.x-k8s.io/t\n", "-l jobset.sigs.k8s.io/jobset-name=t"},
      {"deployment.apps/t\n", "kubectl get pods"},
      {"ml/t-0\n", "kubectl -n ml exec -i {host} --"},
      {"projects/p/locations/z/nodes/a\t10.0.0.2\n", "one column: value(networkEndpoints[].ipAddress)"},
      {"pod/t-0 condition met\n", "-o name"},
      {";;;\n", "without an address"},
      {"[networkEndpoints.0]\nipAddress = 10.0.0.2\n", "gcloud's config format"},
      {"---\nnetworkEndpoints[0].ipAddress: 10.0.0.2\n", "flattened"},
      {"IP_ADDRESS\n['10.0.0.2', '10.0.0.3']\n", "value(networkEndpoints[].ipAddress)"}};
  for (const auto& [text, advice] : refused)
    EXPECT_THAT(file_error(text), testing::HasSubstr(advice)) << text;
  for (const char* typed : {"10.8.0.510.8.1.5", "127.1", "node/n-1", "job.batch/t", "No resources found"})
    EXPECT_NE(list_error(typed), "no error") << typed;
}

TEST(Exclusions, MayBeNumbersAndAllNamesOfAHost) {
  FakeProbe probe;
  probe.standard_input = "3\n7\na\n10.0.0.2\nb\n10.0.0.3\n";
  EXPECT_EQ(parse_exclusions({"-"}, "-x", probe).size(), 6U);
}

TEST(HostFileName, IsASingleName) {
  EXPECT_EQ(host_file_name({.worker = 3, .name = "tpu-3"}), "3-tpu-3");
  EXPECT_EQ(host_file_name({.worker = 12, .name = "2001:db8::1"}), "12-2001:db8::1");
  EXPECT_EQ(host_file_name({.worker = 0, .name = "../a/b"}), "0-.._a_b");
}

TEST(HostList, RefusesTheNameOfAFile) {
  const test::TempDirectory directory{};
  const std::string list = directory.write("good.txt", "content\n");
  EXPECT_EQ(usage_error([&] { check_is_not_a_file(list); }),
            "\"" + list + "\" is a file (to read the hosts from it: --hostfile " + list + ")");
  check_is_not_a_file("good.txt");
  check_is_not_a_file("tpu-0,tpu-1");
}

}  // namespace
}  // namespace podrun::hosts
