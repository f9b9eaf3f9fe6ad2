// SPDX-License-Identifier: Apache-2.0
// Whole screens, as files of golden/.
#include <string>

#include <gmock/gmock.h>

#include "podrun/base/text.hpp"
#include "podrun/top/screen.hpp"

#include "unit/top/golden.hpp"
#include "unit/top/screens.hpp"

namespace podrun::top {
namespace {

using output::Charset;
using output::ScreenSize;
using testing::HasSubstr;
using testing::Not;

constexpr ScreenSize kSmall = {.columns = 80, .rows = 24};
constexpr ScreenSize kLarge = {.columns = 200, .rows = 50};

TEST(Screen, Shows256Hosts) {
  const FakePod pod = mock_up_a();
  for (const auto& [name, size] : {std::pair{"256_80x24.txt", kSmall}, std::pair{"256_200x50.txt", kLarge},
                                   std::pair{"256_40x12.txt", ScreenSize{.columns = 40, .rows = 12}}}) {
    ScreenState state;
    expect_golden(name, screen(pod, state, size));
  }
}

TEST(Screen, Shows256HostsWithoutUtf8) {
  const FakePod pod = mock_up_a();
  ScreenState state;
  const std::vector<std::string> lines = screen(pod, state, kSmall, Charset::ascii);
  expect_golden("256_80x24_ascii.txt", lines);
  for (const char c : join(lines, "|")) EXPECT_TRUE(c >= 0x20 && c < 0x7f);
}

TEST(Screen, Shows2304Hosts) {
  const FakePod pod = mock_up_c();
  ScreenState small;
  expect_golden("2304_80x24.txt", screen(pod, small, kSmall));
  ScreenState large;
  expect_golden("2304_200x50.txt", screen(pod, large, kLarge));
}

TEST(Screen, Shows8Hosts) {
  const FakePod pod = mock_up_e();
  ScreenState state{.is_folded = false};
  expect_golden("8_80x24.txt", screen(pod, state, kSmall));
}

TEST(Screen, ShowsHelp) {
  const FakePod pod(1);
  ScreenState state{.page = ScreenState::Page::help};
  expect_golden("help_80x24.txt", screen(pod, state, kSmall));
}

TEST(Screen, ShowsOneHost) {
  FakePod pod = mock_up_a();
  pod.hosts[17].extra = "m 1 lustre /data\n";
  pod.step();
  Mount& mount = pod.pod.report(17).mounts[1];
  mount.is_asked = mount.is_silent = true;
  mount.asked_at = pod.hosts[17].uptime - 10;
  pod.step();
  ScreenState state{.page = ScreenState::Page::host, .cursor = 17};
  expect_golden("host_80x24.txt", screen(pod, state, kSmall));
  state.first_line = 1000;
  expect_golden("host_40x12_end.txt", screen(pod, state, {.columns = 40, .rows = 12}));
}

TEST(Screen, NamesPodrunSshOnlyWhereItReachesTheHost) {
  FakePod pod(1);
  pod.step();
  ScreenState state{.page = ScreenState::Page::host};
  ScreenFacts facts = facts_of(pod);
  EXPECT_THAT(join(draw(pod.pod, state, facts, kSmall, {}), "\n"), HasSubstr("ssh 0 -t top"));
  facts.same_hosts.has_ssh = false;
  EXPECT_THAT(join(draw(pod.pod, state, facts, kSmall, {}), "\n"), Not(HasSubstr("ssh 0 -t top")));
}

TEST(Screen, ShowsATpuHost) {
  const FakePod pod(1, {.gpus = {}, .nvidia = 0, .pci = 0, .tpus = 4});
  FakePod one = FakePod(1, {.gpus = {},
                            .nvidia = 0,
                            .pci = 0,
                            .tpus = 4,
                            .holders = {{.devices = {"/dev/accel0", "/dev/accel1"}}}});
  one.steps(3);
  ScreenState state{.page = ScreenState::Page::host};
  expect_golden("tpu_host_80x24.txt", screen(one, state, kSmall));
}

TEST(Screen, ShowsTheBeginning) {
  FakePod pod(20);
  ScreenState state;
  pod.judge();
  expect_golden("begin_80x24.txt", screen(pod, state, kSmall));
}

TEST(Screen, ShowsTheWorstFirstThoughTheListIsLong) {
  FakePod pod(60);
  for (std::size_t host = 10; host < 50; ++host) pod.hosts[host].ahead = 3;
  pod.hosts[55].root = 100;
  pod.steps(2);
  ScreenState state;
  const std::string text = join(screen(pod, state, kSmall), "\n");
  EXPECT_THAT(text, HasSubstr("/ is 100 % full"));
  EXPECT_THAT(text, HasSubstr(" more"));
}

TEST(Screen, ColoursRepeatWhatIsThere) {
  const FakePod pod = mock_up_a();
  for (const ScreenState::Page page :
       {ScreenState::Page::pod, ScreenState::Page::host, ScreenState::Page::help}) {
    for (const ScreenSize size : {kSmall, kLarge}) {
      ScreenState state{.page = page, .cursor = 17};
      const std::vector<std::string> plain = without_styles(draw(pod.pod, state, facts_of(pod), size, {}));
      for (const Palette palette : {Palette::basic, Palette::full}) {
        const std::vector<std::string> coloured =
            draw(pod.pod, state, facts_of(pod), size, {.palette = palette});
        EXPECT_EQ(without_styles(coloured), plain);
        EXPECT_NE(coloured, plain);
      }
    }
  }
}

TEST(Screen, NamesAHostByItsFirstLabel) {
  FakePod pod(8);
  std::vector<hosts::Host> hosts;
  for (std::size_t i = 0; i < 3; ++i)
    hosts.push_back({.worker = i, .name = fmt::format("gpu{}.cluster.example.com", i)});
  hosts.push_back({.worker = 3, .name = "10.128.0.3"});
  const Pod named(hosts, false);
  ScreenState state;
  state.is_folded = false;
  const std::string text = join(draw(named, state, facts_of(pod), kSmall, {}), "\n");
  EXPECT_THAT(text, HasSubstr("gpu1 "));
  EXPECT_THAT(text, Not(HasSubstr("cluster")));
  EXPECT_THAT(text, HasSubstr("10.128.0.3"));
}

TEST(Screen, SaysThatPodrunSeesOnlyOwnProcesses) {
  FakePod pod(2, {.holders = {}});
  pod.lists_holders = false;
  pod.steps(2);
  for (std::size_t host = 0; host < 2; ++host) pod.feed(host, "h 100004 begin\nh 100004 end\n");
  pod.step();
  ScreenState state;
  EXPECT_THAT(join(screen(pod, state, kLarge), "\n"), HasSubstr("only own processes"));
  EXPECT_THAT(join(screen(mock_up_e(), state, kLarge), "\n"), Not(HasSubstr("only own processes")));
}

TEST(Screen, ShowsHostsThatWereLostTogetherInOneRow) {
  FakePod pod(64);
  pod.steps(3);
  for (std::size_t host = 8; host < 24; ++host) pod.lose(host);
  pod.judge();
  ScreenState state;
  const std::string shown = join(screen(pod, state, {.columns = 80, .rows = 24}), "\n");
  EXPECT_THAT(shown, HasSubstr("+16"));
  EXPECT_THAT(shown, HasSubstr("x [8-23]  lost"));
  state.is_folded = false;
  EXPECT_THAT(join(screen(pod, state, {.columns = 80, .rows = 24}), "\n"), Not(HasSubstr("x [8-23]")));
}

}  // namespace
}  // namespace podrun::top
