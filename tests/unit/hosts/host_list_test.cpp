// SPDX-License-Identifier: Apache-2.0
#include "podrun/hosts/host_list.hpp"

#include <gtest/gtest.h>

#include "podrun/hosts/host_pattern.hpp"

#include "support/fake_probe.hpp"
#include "support/temp_directory.hpp"
#include "support/usage_error.hpp"

namespace podrun::hosts {
namespace {

using Texts = std::vector<std::string>;

/// `worker user@name:port source`, what is not given left out.
Texts describe(const std::vector<Host>& hosts) {
  Texts texts;
  for (const Host& host : hosts) {
    std::string text = std::to_string(host.worker) + " ";
    if (host.kind == HostKind::local) text += "(local) ";
    if (!host.user.empty()) text += host.user + "@";
    text += host.name;
    if (host.port != 0) text += ":" + std::to_string(host.port);
    texts.push_back(text + " " + host.source);
  }
  return texts;
}

Texts list(const std::string& value, const FakeProbe& probe = {}) {
  return describe(parse_host_list({value}, "-H", probe));
}

Texts file(const std::string& text) { return describe(parse_hosts_file(text, "hosts")); }

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
  EXPECT_EQ(describe(read_hosts_file("pod", probe)), (Texts{"0 b pod:1", "1 c pod:3"}));
  EXPECT_EQ(list_error("^nowhere"), "cannot read \"nowhere\": no such file (expected one host a line)");
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
      "-H: bad host \"-oProxyCommand=x\" (expected a name of letters, digits and \"._-\", or an address)");
  EXPECT_EQ(list_error("a:b:c"),
            "-H: bad address \"a:b:c\" (expected an IPv6 address, in brackets when a port follows)");
  EXPECT_EQ(list_error("a\x1b"), "-H: control character \"\\x1b\" (expected plain text)");
}

TEST(HostList, RefusesWhatNoHostIsCalled) {
  for (const char* bad : {"",        " ",           ",",  "a,",   "a,;b",    ":22",    "a:",    "a:0",
                          "a:65536", "a:-1",        "@a", "a@",   "-l@a",    "a@-b",   "a/b",   "a,,b",
                          "$(id)",   "h\xc3\xb6st", "..", "[::1", "[::1]22", "[::1]:", "[::g]", "::1%",
                          "::1%-x",  "u@[x@::1]",   "a]", "^",    "a,-"}) {
    EXPECT_NE(list_error(bad), "no error") << bad;
  }
  EXPECT_NE(list_error(std::string(254, 'a')), "no error");
}

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

TEST(HostsFile, IgnoresSlots) {
  EXPECT_EQ(file("a slots=8\nb\tslots=8 max_slots=16 # mpi\n"), (Texts{"0 a hosts:1", "1 b hosts:2"}));
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
  EXPECT_EQ(file_error("a b"),
            "hosts:1: bad word \"b\" in \"a b\" (expected one host a line, then only words such as slots=8)");
  EXPECT_EQ(file_error(std::string("a\nb\0", 4)),
            "hosts:2: control character \"\\x00\" (expected plain text)");
  for (const char* bad : {"a,b", "^f", "-", "a#b", "a =8", "a slots", "a\rb", "\x1b[1m"}) {
    EXPECT_NE(file_error(bad), "no error") << bad;
  }
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
