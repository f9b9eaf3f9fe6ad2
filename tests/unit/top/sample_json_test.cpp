// SPDX-License-Identifier: Apache-2.0
#include "podrun/top/sample_json.hpp"

#include <string>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "unit/top/golden.hpp"
#include "unit/top/pods.hpp"

namespace podrun::top {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const output::WallTime kTime{std::chrono::seconds(1'790'000'000)};

std::string sample(const FakePod& pod, std::size_t host) {
  return sample_event(kTime, pod.pod, host, pod.now);
}

TEST(SampleJson, HasEverythingOfAHost) {
  const FakePod pod = mock_up_a();
  expect_golden("samples.json",
                {sample(pod, 17), sample(pod, 38), sample(pod, 140), state_event(kTime, pod.pod, 140),
                 state_event(kTime, pod.pod, 77), state_event(kTime, pod.pod, 17)});
}

TEST(SampleJson, LeavesOutWhatIsNotKnown) {
  FakePod pod(1);
  pod.feed(0, "f u5\n");
  pod.judge();
  EXPECT_EQ(json::parse(sample(pod, 0)),
            json::parse(R"({"v":1,"event":"sample","time":"2026-09-21T14:13:20.000Z","worker":0,"host":"gpu0",
                            "uptime":5.0,"age":0.0,"cpu":{},"memory":{},"disks":[],"odd":[]})"));
}

TEST(SampleJson, AHostWithoutFiguresHasOnlyItsName) {
  FakePod pod(1);
  EXPECT_EQ(json::parse(sample(pod, 0)).size(), 5U);
}

TEST(SampleJson, NamesTheHoldersAndWhatIsOdd) {
  FakePod pod(1);
  pod.hosts[0].gpus[3] = {.celsius = 88, .mhz = 1110, .slowed_by = 0x44};
  pod.hosts[0].holders.push_back({.pid = 3, .uid = 0, .user = "root", .name = "nvidia-smi"});
  pod.steps(3);
  const json event = json::parse(sample(pod, 0));
  EXPECT_EQ(event["holders"],
            json::parse(R"([{"device":"/dev/nvidia0","pid":41874,"user":"ubuntu","name":"python",
                                               "run":"0e5a3b6d9c1f4e7a","job":"train"}])"));
  EXPECT_EQ(event["gpus"][3]["slowed_by"], json::parse(R"(["power_cap","hw_thermal"])"));
  EXPECT_EQ(event["gpus"][3]["celsius"], 88);
  EXPECT_EQ(event["odd"], json::parse(R"([{"what":"slowed","device":3,"severity":2,"seconds":4.0,
                                           "text":"GPU 3 hot: 88 °C, 1110 MHz"}])"));
}

TEST(SampleJson, HasNoControlCharactersOfHosts) {
  FakePod pod(1, {.gpu_name = "\x1b[31mé\xff"});
  pod.hosts[0].holders.front().name = "a\x1b\"\xfe";
  pod.hosts[0].extra = "m 1 ext4 /\x01\x1b\xff\nd 1 1 rw x 1 100 0 100% /\x01\x1b\xff\n";
  pod.steps(2);
  const std::string text = sample(pod, 0);
  EXPECT_TRUE(json::accept(text));
  for (const char c : text) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << text;
}

}  // namespace
}  // namespace podrun::top
