// SPDX-License-Identifier: Apache-2.0
#include "podrun/top/once_text.hpp"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>

#include "podrun/base/text.hpp"

#include "unit/top/golden.hpp"
#include "unit/top/pods.hpp"

namespace podrun::top {
namespace {

using output::Charset;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(OnceText, Shows256Hosts) {
  const FakePod pod = mock_up_a(true);
  expect_golden("once_256.txt", once_lines(pod.pod, Charset::utf8));
  expect_golden("once_256_ascii.txt", once_lines(pod.pod, Charset::ascii));
}

TEST(OnceText, AHostThatDoesNotAnswer) {
  FakePod pod(2);
  pod.lose(1, 0);
  pod.pod.judge(pod.now, std::chrono::seconds(2));
  const std::vector<std::string> lines = once_lines(pod.pod, Charset::utf8);
  EXPECT_EQ(lines.front(), "2 hosts: 0 up, 1 lost, 1 not answered yet");
}

TEST(OnceText, HostsWithTheSameReasonAreOneLine) {
  FakePod pod(9, {}, true);
  pod.hosts[2].pressure = pod.hosts[5].pressure = 40;
  pod.steps(2);
  EXPECT_THAT(once_lines(pod.pod, Charset::utf8), testing::Contains("2,5  memory pressure 40 %"));
}

TEST(OnceText, FewHostsWithoutAccelerators) {
  FakePod pod(1, {.gpus = {}, .nvidia = 0, .pci = 0, .net = 0, .disk = 0, .holders = {}});
  pod.steps(2);
  EXPECT_THAT(once_lines(pod.pod, Charset::utf8),
              ElementsAre("1 host: 1 up", "           min  median    max   farthest",
                          "CPU %       22      22     22", "RAM %       44      44     44",
                          "net          0       0      0", "disk         0       0      0",
                          "/ %         34      34     34", "[0]: CPU 22 %, RAM 44 %, / 34 %"));
}

/// Names of hosts, GPUs, users, processes and file systems, and what nvidia-smi says.
FakePod hostile_pod() {
  const std::string evil =
      "\x1b[31m\x07\xc2\x9b"
      "1mé日\xff\r\x7f";
  FakePod pod(3, {.gpu_name = "NVIDIA " + evil}, true, "h" + evil);
  pod.hosts[0].extra = "m 1 ext4 /" + evil + "\nd 1 1 rw x 1 100 0 100% /" + evil + "\n";
  pod.hosts[0].holders.push_back(
      {.pid = 9, .uid = 7, .user = evil, .name = evil, .devices = {"/dev/nvidia" + evil}});
  pod.hosts[1].extra = "g 100001 " + evil + "\n";
  pod.hosts[1].gpus.clear();
  pod.hosts[2].links = "N" + evil + "," + evil + "," + evil;
  pod.steps(3);
  return pod;
}

TEST(OnceText, HasNoControlCharactersOfHosts) {
  const FakePod pod = hostile_pod();
  const std::string text = join(once_lines(pod.pod, Charset::utf8), "|");
  EXPECT_TRUE(std::ranges::none_of(text, is_control)) << text;
  EXPECT_THAT(text, Not(HasSubstr("\xc2\x9b")));
  EXPECT_THAT(text, HasSubstr("\\x1b[31m"));
  EXPECT_THAT(text, HasSubstr("é日"));
}

TEST(OnceText, IsAsciiForATerminalWithoutUtf8) {
  const FakePod pod = hostile_pod();
  const std::string text = join(once_lines(pod.pod, Charset::ascii), "|");
  EXPECT_TRUE(std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; })) << text;
}

TEST(InCharset, HasAWordForEverySign) {
  EXPECT_EQ(in_charset("64 °C · 8 × H100…", Charset::utf8), "64 °C · 8 × H100…");
  EXPECT_EQ(in_charset("64 °C · 8 × H100…", Charset::ascii), "64 C - 8 x H100...");
  EXPECT_EQ(in_charset("日é", Charset::ascii), "??");
}

}  // namespace
}  // namespace podrun::top
