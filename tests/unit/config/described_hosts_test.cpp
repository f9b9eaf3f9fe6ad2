// SPDX-License-Identifier: Apache-2.0
#include "podrun/config/described_hosts.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/base/text.hpp"

#include "support/usage_error.hpp"

namespace podrun::config {
namespace {

using testing::HasSubstr;

constexpr const char* kYaml = R"(acceleratorConfig:
  topology: 2x2x2
  type: V4
acceleratorType: v4-16
apiVersion: V2
cidrBlock: 10.130.0.0/20
createTime: '2026-08-26T21:52:13.123456789Z'
health: HEALTHY
id: '6502082742571311568'
metadata:
  ssh-keys: |
    me:ssh-ed25519 AAAA me
name: projects/my-project/locations/us-central2-b/nodes/my-tpu
networkConfig:
  enableExternalIps: true
  network: projects/my-project/global/networks/default
networkEndpoints:
- accessConfig:
    externalIp: 34.1.2.3
  ipAddress: 10.130.0.27
  port: 8470
- accessConfig: {}
  ipAddress: 10.130.0.26
  port: 8470
runtimeVersion: tpu-ubuntu2204-base
state: READY
)";

constexpr const char* kJson = R"({
  "acceleratorType": "v4-16",
  "health": "UNHEALTHY_MAINTENANCE",
  "name": "projects/my-project/locations/us-central2-b/nodes/my-tpu",
  "networkEndpoints": [
    {"accessConfig": {"externalIp": "34.1.2.3"}, "ipAddress": "10.130.0.27", "port": 8470},
    {"ipAddress": "10.130.0.26", "port": 8470}
  ],
  "state": "READY"
}
)";

/// The list; nothing for a text that is none of these.
std::optional<std::string> list_of(const std::string& text, Addresses which = Addresses::internal) {
  const auto described = hosts_of_description(text, which);
  return described ? std::optional(described->list) : std::nullopt;
}

std::string hosts_error(const std::string& text) {
  return usage_error([&] { hosts_of_description(text); });
}

TEST(Description, IsReadAsYamlAndAsJson) {
  EXPECT_EQ(list_of(kYaml), "10.130.0.27\n10.130.0.26\n");
  EXPECT_EQ(list_of(kJson), "10.130.0.27\n10.130.0.26\n");
}

TEST(Description, MayNameFieldsOfGcloudInAText) {
  constexpr const char* kScript = "gcloud x --format='value(networkEndpoints[].ipAddress)'";
  EXPECT_EQ(list_of(fmt::format(R"({{"metadata": {{"startup-script": "{}"}},)"
                                R"("networkEndpoints": [{{"ipAddress": "10.0.0.2"}}], "state": "READY"}})",
                                kScript)),
            "10.0.0.2\n");
  for (const std::string script : {kScript, "networkInterfaces[0].networkIP", "networkEndpoints[0].x: y"}) {
    EXPECT_EQ(list_of(fmt::format("metadata:\n  startup-script: |\n    {}\nnetworkEndpoints:\n"
                                  "- ipAddress: 10.0.0.2\nstate: READY\n",
                                  script)),
              "10.0.0.2\n");
  }
}

TEST(Description, MayBeAListOfTpus) {
  const std::string second = "name: b\nnetworkEndpoints:\n- ipAddress: 10.0.0.9\n";
  const std::string all = "10.130.0.27\n10.130.0.26\n10.0.0.9\n";
  EXPECT_EQ(list_of("---\n" + std::string(kYaml) + "---\n" + second), all);
  EXPECT_EQ(list_of("[\n" + std::string(trim_space(kJson)) +
                    R"(,{"name":"b","networkEndpoints":[{"ipAddress":"10.0.0.9"}]}])"),
            all);
}

TEST(Description, OfSeveralNetworksHasThePrimaryAddressOfEachWorker) {
  EXPECT_EQ(list_of("networkConfigs:\n- network: a\n- network: b\nnetworkEndpoints:\n"
                    "- ipAddress: 10.0.0.1\n- ipAddress: 10.1.0.1\n"
                    "- ipAddress: 10.0.0.2\n- ipAddress: 10.1.0.2\n"),
            "10.0.0.1\n10.0.0.2\n");
}

TEST(Description, IsNoListOfHosts) {
  for (const char* list :
       {"", "\n", "a\nb:22\n", "# state: x\na\n", "[2001:db8::1]:22\n", "2001:db8::1\n", "tpu-[0-3]\n",
        "[0-3].zone\n", "user@host\n", "host slots=8\n", "networkEndpoints\n"}) {
    EXPECT_EQ(list_of(list), std::nullopt) << list;
  }
}

TEST(Description, WithoutHostsIsAnError) {
  EXPECT_EQ(hosts_error("name: projects/p/nodes/my-tpu\nstate: CREATING\n"),
            "standard input: no networkEndpoints of \"my-tpu\", its state is CREATING "
            "(expected the output of "
            "gcloud compute tpus tpu-vm describe for a TPU that is READY)");
  EXPECT_THAT(hosts_error("networkEndpoints: []\n"),
              HasSubstr("standard input: no networkEndpoints (expected"));
  EXPECT_THAT(hosts_error("networkEndpoints:\n- port: 8470\n"),
              HasSubstr("standard input: no ipAddress of worker 0"));
  EXPECT_THAT(hosts_error("networkEndpoints:\n- 10.0.0.1\n"), HasSubstr("no ipAddress of worker 0"));
  EXPECT_THAT(hosts_error("{}"), HasSubstr("no list of hosts in this YAML or JSON"));
  EXPECT_THAT(hosts_error("[]"), HasSubstr("no TPU in it"));
}

TEST(Description, GivesAddressesAlone) {
  for (const char* text :
       {"local", "tpu-[0-3]", "10.0.0.1:22", "me@10.0.0.1", "'# none'", "'10.0.0.1 slots=8'",
        R"("10.0.0.1\n10.0.0.2")", R"("10.0.0.1\0")", R"("::1\0")", "10.0.0", "fe80::1%eth0"}) {
    EXPECT_THAT(
        hosts_error(std::string("networkEndpoints:\n- ipAddress: 10.0.0.1\n- ipAddress: ") + text + '\n'),
        HasSubstr("standard input: bad ipAddress of worker 1"))
        << text;
  }
  EXPECT_EQ(list_of("networkEndpoints:\n- ipAddress: 2001:db8::1\n"), "2001:db8::1\n");
}

TEST(Description, MayBeAListOfNames) {
  EXPECT_EQ(list_of("- a\n- b\n"), "a\nb\n");
  EXPECT_EQ(list_of(R"([["10.0.0.1", "me@b:22"], ["c"]])"), "10.0.0.1\nme@b:22\nc\n");
  for (const char* text :
       {R"(["a b"])", R"(["a,b"])", R"(["a[1-2]"])", R"(["a\nb"])", "[\"a\", null]", R"(["# a"])"})
    EXPECT_NE(hosts_error(text), "no error") << text;
  EXPECT_THAT(hosts_error("- a\n- &b [b, *b]\n"), HasSubstr("with this alias, a value contains itself"));
}

TEST(Description, OfInstancesGivesTheAddressOfEach) {
  const std::string text =
      "name: g\nnetworkInterfaces:\n- accessConfigs:\n  - natIP: 203.0.113.2\n  networkIP: 10.1.0.2\n";
  EXPECT_EQ(list_of(text), "10.1.0.2\n");
  EXPECT_EQ(list_of(text, Addresses::external), "203.0.113.2\n");
}

TEST(Description, OfInstancesWithIpv6AloneGivesThatAddress) {
  const std::string text =
      R"([{"name":"g","networkInterfaces":[{"ipv6Address":"2001:db8::2","ipv6AccessConfigs":[{"externalIpv6":"2001:db8:1::2"}]}]}])";
  EXPECT_EQ(list_of(text), "2001:db8::2\n");
  EXPECT_EQ(list_of(text, Addresses::external), "2001:db8:1::2\n");
  EXPECT_THAT(hosts_error(R"([{"name":"g","networkInterfaces":[{"name":"nic0"}]}])"),
              HasSubstr("an instance with"));
}

TEST(Description, SaysThatATpuHasNoExternalAddress) {
  const std::string tpu = R"({"name":"a","state":"READY","networkEndpoints":[{"ipAddress":"10.0.0.2"}]})";
  EXPECT_THAT(usage_error([&] { hosts_of_description(tpu, Addresses::external); }),
              HasSubstr("of worker 0 of \"a\" (it has no external address: leave out --external)"));
}

TEST(Description, OfAQueuedResourceNeedsNoName) {
  EXPECT_THAT(hosts_error(R"({"tpu":{"nodeSpec":[{"nodeId":"a"}]}})"),
              HasSubstr("standard input: a queued resource has no addresses"));
}

TEST(Description, InOtherFormatsOfGcloudNamesTheRightOne) {
  EXPECT_THAT(hosts_error("name: a\nnetworkEndpoints: [{'ipAddress': '10.0.0.2'}\nstate: b: c\n"),
              HasSubstr("--format json"));
  EXPECT_EQ(list_of("name:  a\nnetworkEndpoints[0].ipAddress:  10.0.0.2\n"), std::nullopt);
  EXPECT_THAT(hosts_error("network_ip: 10.0.0.2\n"), HasSubstr("--format json"));
}

TEST(Description, SaysWhatIsNotReady) {
  const std::string tpu = "networkEndpoints:\n- ipAddress: 10.0.0.1\nstate: ";
  const auto one = hosts_of_description("name: a\n" + tpu + "PREEMPTED\n");
  EXPECT_EQ(one->list, "10.0.0.1\n");
  EXPECT_THAT(one->notes, testing::ElementsAre("standard input: the TPU \"a\" is PREEMPTED"));
  EXPECT_EQ(
      hosts_of_description("- name: a\n  state: PREEMPTED\n  networkEndpoints: [{ipAddress: 10.0.0.1}]\n")
          ->list,
      "10.0.0.1\n");
  const auto two = hosts_of_description("name: a\n" + tpu + "PREEMPTED\n---\nname: b\n" + tpu + "READY\n");
  EXPECT_EQ(two->list, "10.0.0.1\n");
  EXPECT_THAT(two->notes,
              testing::ElementsAre("standard input: the TPU \"a\" is PREEMPTED, so it is left out"));
}

TEST(Description, HasNoMoreHostsThanAnyList) {
  std::string text = "- &a {networkEndpoints: [";
  for (int worker = 0; worker < 1000; ++worker) text += "{ipAddress: 10.0.0.1}, ";
  text += "]}\n";
  for (int tpu = 0; tpu < 100; ++tpu) text += "- *a\n";
  EXPECT_THAT(hosts_error(text), HasSubstr("standard input: too many hosts (expected at most 100000)"));
}

TEST(Description, NamesTheLineOfASlip) {
  EXPECT_THAT(hosts_error("name: a\nnetworkEndpoints: [\n"), HasSubstr("standard input:3: "));
  EXPECT_THAT(hosts_error(std::string(1'000, '{')), HasSubstr("standard input:"));
}

}  // namespace
}  // namespace podrun::config
