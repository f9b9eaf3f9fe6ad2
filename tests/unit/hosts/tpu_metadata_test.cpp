// SPDX-License-Identifier: Apache-2.0
#include "podrun/hosts/tpu_metadata.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/hosts/discovery.hpp"

#include "support/fake_probe.hpp"
#include "support/usage_error.hpp"

namespace podrun::hosts {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Pages = std::map<std::string, std::string>;
using Texts = std::vector<std::string>;

// Values of real machines.
const std::string kOld =
    "t1v-n-0f996b37-w-0:12345:10.130.0.26,t1v-n-0f996b37-w-1:12346:10.130.0.27,"
    "t1v-n-0f996b37-w-2:12347:10.130.0.25,t1v-n-0f996b37-w-3:12348:10.130.0.28";
const std::string kOldEnvironment =
    "ACCELERATOR_TYPE: 'v4-32'\nCHIPS_PER_HOST_BOUNDS: '2,2,1'\nHOST_BOUNDS: '1,1,4'\nNODE_ID: 'my-tpu-1'\n"
    "PREEMPTIBLE: 'false'\nTOPOLOGY: '2x2x4'\nTYPE: 'V4'\nWORKER_ID: '2'\nZONE: 'us-central2-b'\n";
const std::string kNewEnvironment =
    "TPU_ACCELERATOR_TYPE: 'v6e-1'\nHOST_BOUNDS: '1,1,1'\nNODE_ID: 'v6e'\nTPU_WORKER_ID: '0'\n";

HttpAnswer page(const std::string& body) { return {.status = 200, .flavor = "Google", .body = body}; }

/// A machine with the address 10.130.0.25 where every key but these is missing.
FakeProbe google(const Pages& pages, const std::string& host = "169.254.169.254") {
  FakeProbe probe;
  probe.variables["HOME"] = "/home/me";
  probe.files["/sys/class/dmi/id/product_name"] = "Google Compute Engine\n";
  probe.names = {"localhost", "127.0.0.1", "::1", "10.130.0.25"};
  const std::string base = "http://" + host + "/computeMetadata/v1/instance/attributes/";
  for (const char* key :
       {"worker-network-endpoints", "agent-worker-number", "worker-id", "tpu-env", "accelerator-type"}) {
    const auto found = pages.find(key);
    probe.pages[base + key] = found == pages.end()
                                  ? HttpAnswer{.status = 404, .flavor = "Google", .body = "Not Found"}
                                  : page(found->second);
  }
  return probe;
}

Texts found(const FakeProbe& probe, IncludeLocal include = IncludeLocal::no) {
  HostQuery query;
  query.include_local = include;
  Texts texts;
  for (const Host& host : discover(query, probe).hosts) {
    texts.push_back(std::to_string(host.worker) + " " + host.name +
                    (host.kind == HostKind::local ? "!" : ""));
  }
  return texts;
}

std::string error_of(const FakeProbe& probe) {
  return usage_error([&] { discover({}, probe); });
}

/// The last source that was tried, if there are no hosts.
TriedSource last_tried(const FakeProbe& probe) {
  try {
    discover({}, probe);
  } catch (const NoHosts& error) {
    return error.tried.back();
  }
  return {};
}

TEST(Metadata, HasTheHostsInTheOrderOfTheirWorkers) {
  const FakeProbe probe = google({{"worker-network-endpoints", kOld},
                                  {"agent-worker-number", "2"},
                                  {"tpu-env", kOldEnvironment},
                                  {"accelerator-type", "v4-32"}});
  EXPECT_THAT(found(probe), ElementsAre("0 10.130.0.26", "1 10.130.0.27", "3 10.130.0.28"));
  EXPECT_THAT(found(probe, IncludeLocal::yes),
              ElementsAre("0 10.130.0.26", "1 10.130.0.27", "2 10.130.0.25!", "3 10.130.0.28"));
  const Discovery discovery = discover({}, probe);
  EXPECT_EQ(discovery.tried.back(), (TriedSource{"metadata server 169.254.169.254", "4 hosts of a v4-32"}));
  EXPECT_EQ(discovery.hosts[0].source, "metadata server 169.254.169.254");
  EXPECT_THAT(discovery.notes, IsEmpty());
}

TEST(Metadata, HasANewFormatOfNamesAlone) {
  const FakeProbe probe = google({{"worker-network-endpoints", "v7x-w-1,v7x-w-0\n"}, {"worker-id", "1"}});
  EXPECT_THAT(found(probe), ElementsAre("0 v7x-w-1"));
  EXPECT_THAT(found(probe, IncludeLocal::yes), ElementsAre("0 v7x-w-1", "1 v7x-w-0!"));
}

TEST(Metadata, OfOneHostNeedsThisMachine) {
  const FakeProbe probe =
      google({{"worker-network-endpoints", "instance-20260826-215213"}, {"tpu-env", kNewEnvironment}});
  EXPECT_THAT(found(probe, IncludeLocal::yes), ElementsAre("0 instance-20260826-215213!"));
  EXPECT_EQ(
      error_of(probe),
      "metadata server 169.254.169.254: no other host in it (this machine takes part with -i; other hosts: "
      "-H LIST)");
  HostQuery query;
  query.include_local = IncludeLocal::yes;
  EXPECT_EQ(discover(query, probe).tried.back().result, "1 host of a v6e-1");
}

TEST(Metadata, KnowsThisMachineByItsNumber) {
  FakeProbe probe = google({{"worker-network-endpoints", kOld}, {"tpu-env", kOldEnvironment}});
  probe.names = {"localhost"};
  EXPECT_THAT(found(probe), ElementsAre("0 10.130.0.26", "1 10.130.0.27", "3 10.130.0.28"));
  probe = google({{"worker-network-endpoints", kOld}});
  probe.names = {"localhost"};
  EXPECT_THAT(found(probe), SizeIs(4)) << "which of them it is cannot be told";
}

TEST(Metadata, IsAskedOnlyWhereItCanBe) {
  FakeProbe probe = google({{"worker-network-endpoints", kOld}});
  probe.files.clear();
  EXPECT_EQ(last_tried(probe), (TriedSource{"metadata server", "not asked (this is no Google machine)"}));
  EXPECT_THAT(probe.asked, IsEmpty());
  probe.files["/sys/class/dmi/id/bios_vendor"] = "Google\n";
  EXPECT_THAT(found(probe), SizeIs(3));
  probe.variables["TPU_SKIP_MDS_QUERY"] = "1";
  EXPECT_EQ(last_tried(probe), (TriedSource{"metadata server", "not asked (TPU_SKIP_MDS_QUERY)"}));
}

TEST(Metadata, IsAskedWhereTheEnvironmentSays) {
  FakeProbe probe = google({{"worker-network-endpoints", "a,b"}}, "127.0.0.1:8080");
  probe.files.clear();
  probe.variables["GCE_METADATA_IP"] = "127.0.0.1:8080";
  EXPECT_THAT(found(probe), SizeIs(2));
  probe.variables["GCE_METADATA_HOST"] = "127.0.0.2";
  EXPECT_THAT(error_of(probe), HasSubstr("metadata server 127.0.0.2: connection refused"));
}

TEST(Metadata, IsIgnoredWhereItHasNoHosts) {
  const std::string url =
      "http://169.254.169.254/computeMetadata/v1/instance/attributes/worker-network-endpoints";
  EXPECT_THAT(
      error_of(google({})),
      HasSubstr("metadata server 169.254.169.254: no worker-network-endpoints, so this is no TPU VM"));
  FakeProbe probe = google({});
  probe.pages[url] = {.status = 200, .body = "<html>Please log in</html>"};
  EXPECT_THAT(error_of(probe),
              HasSubstr("HTTP status 200 without \"Metadata-Flavor: Google\", so it is something else"));
  probe.pages[url] = {.status = 503, .flavor = "Google"};
  EXPECT_THAT(error_of(probe), HasSubstr("metadata server 169.254.169.254: HTTP status 503)"));
  probe.pages[url] = {.error = "no answer within 1000 ms"};
  EXPECT_THAT(error_of(probe), HasSubstr("no answer within 1000 ms"));
}

TEST(Metadata, IsAnErrorWhereItIsWrong) {
  EXPECT_EQ(error_of(google({{"worker-network-endpoints", "a:b"}})),
            "metadata server 169.254.169.254: worker-network-endpoints: bad endpoint \"a:b\" (expected "
            "name:id:address, or an address)");
  EXPECT_THAT(error_of(google({{"worker-network-endpoints", "a,,b"}})), HasSubstr("bad host \"\""));
  EXPECT_EQ(error_of(google({{"worker-network-endpoints", "a,b"}, {"agent-worker-number", "2"}})),
            "metadata server 169.254.169.254: worker number of this machine: \"2\" does not fit its list of "
            "2 hosts "
            "(expected 0-1)");
}

TEST(Metadata, SaysWhatTheUserShouldKnow) {
  FakeProbe probe = google(
      {{"worker-network-endpoints", kOld}, {"tpu-env", "HOST_BOUNDS: '2,2,8'\nMEGASCALE_NUM_SLICES: '2'\n"}});
  EXPECT_THAT(discover({}, probe).notes,
              ElementsAre("metadata server 169.254.169.254 lists 4 hosts, but HOST_BOUNDS '2,2,8' are 32",
                          HasSubstr("knows only this one of 2 slices")));
}

TEST(Endpoints, AreRead) {
  const auto names = [](const std::string& text) {
    Texts texts;
    for (const Host& host : parse_endpoints(text, "x")) texts.push_back(host.name);
    return texts;
  };
  EXPECT_THAT(names("unknown:unknown:10.164.0.41, unknown:unknown:10.164.0.22"),
              ElementsAre("10.164.0.41", "10.164.0.22"));
  EXPECT_THAT(names("10.0.0.1,host-1,fd20::2:1"), ElementsAre("10.0.0.1", "host-1", "fd20::2:1"));
  for (const char* wrong : {"", "a:b", "a:b:c:d", "a:b:", "a:b:-x", "a b"}) {
    EXPECT_NE(usage_error([&] { parse_endpoints(wrong, "x"); }), "no error") << wrong;
  }
}

TEST(Endpoints, HaveNoByteAfterTheAddress) {
  using namespace std::string_view_literals;
  for (const std::string_view text : {"::1\0x"sv, "a:1:b\0"sv, "10.0.0.1\0"sv})
    EXPECT_THAT(usage_error([&] { parse_endpoints(text, "x"); }), HasSubstr("x: bad "));
}

TEST(TpuEnv, HasTwoSpellings) {
  EXPECT_EQ(parse_tpu_env("TPU_WORKER_ID: '0'\nWORKER_X: 1\r\n no value\n: \nA: 'it''s: x'"),
            (Pages{{"WORKER_ID", "0"}, {"WORKER_X", "1"}, {"", ""}, {"A", "it''s: x"}}));
  EXPECT_THAT(parse_tpu_env(""), IsEmpty());
}

}  // namespace
}  // namespace podrun::hosts
