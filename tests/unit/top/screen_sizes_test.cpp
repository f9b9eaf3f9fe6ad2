// SPDX-License-Identifier: Apache-2.0
// Any terminal, and hosts that may be named and say anything.
#include <algorithm>
#include <string>

#include <gmock/gmock.h>

#include "podrun/base/text.hpp"

#include "unit/top/screens.hpp"

namespace podrun::top {
namespace {

using output::Charset;
using output::ScreenSize;

FakePod hostile_pod(std::size_t hosts) {
  const std::string evil =
      "日本\x1b[31m\xff\xc2\x9b"
      "1m\u202e é";
  FakePod pod(hosts, {.gpu_name = "NVIDIA " + evil, .holders = {{.user = evil, .name = evil}}}, false, evil);
  pod.hosts[0].extra = "m 1 ext4 /" + evil + "\nd 1 1 rw x 1 100 0 100% /" + evil + "\n";
  pod.hosts[1].holders.push_back(
      {.pid = 9, .uid = 7, .user = evil, .name = evil, .devices = {"/dev/nvidia0"}});
  pod.hosts[1].links = "N" + evil + "," + evil + ",10";
  pod.hosts[2].extra = "g 100001 " + evil + "\n";
  pod.hosts[3].gpus[2].slowed_by = 0x40;
  pod.steps(5);
  pod.lose(4);
  pod.hosts[3].answers = false;
  pod.steps(5);
  return pod;
}

void expect_fits(const std::vector<std::string>& lines, ScreenSize size, Charset charset) {
  ASSERT_LE(lines.size(), size.rows) << size.columns << "x" << size.rows;
  for (const std::string& line : lines) {
    const std::string text = without_styles(line);
    ASSERT_LE(output::cell_width(text), size.columns) << size.columns << "x" << size.rows << ": " << text;
    ASSERT_TRUE(std::ranges::none_of(text, is_control)) << text;
    ASSERT_EQ(text.find("\xc2\x9b"), text.npos) << text;
    ASSERT_EQ(text.find("\u202e"), text.npos) << text;
    const bool is_ascii = std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; });
    ASSERT_TRUE(charset == Charset::utf8 || is_ascii) << text;
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t bytes = first_utf8(rest).bytes;
      ASSERT_GT(bytes, 0U) << text;
      rest.remove_prefix(bytes);
    }
  }
}

class ScreenSizes : public testing::TestWithParam<std::size_t> {};

TEST_P(ScreenSizes, AllFit) {
  const FakePod pod = hostile_pod(GetParam());
  ScreenFacts facts = facts_of(pod);
  facts.same_hosts.options = "-H '\x1b[31m日' ";
  for (const auto page : {ScreenState::Page::pod, ScreenState::Page::host, ScreenState::Page::help}) {
    for (const Charset charset : {Charset::utf8, Charset::ascii}) {
      for (std::size_t columns = 0; columns <= 45; ++columns) {
        for (std::size_t rows = 0; rows <= 15; ++rows) {
          ScreenState state{.page = page, .cursor = 1};
          if (rows % 4 == 1) state.message = "K";
          if (rows % 4 == 2) state.typed_filter = "日\x1b[";
          if (rows % 4 == 3) state.filter = HostFilter("odd");
          if (columns % 2) state.is_in_field = true;
          expect_fits(
              draw(pod.pod, state, facts, {columns, rows}, {.charset = charset, .palette = Palette::full}),
              {columns, rows}, charset);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(ScreenSizes, LargeOnesFit) {
  const FakePod pod = hostile_pod(GetParam());
  for (const auto page : {ScreenState::Page::pod, ScreenState::Page::host}) {
    for (std::size_t columns = 46; columns <= 260; columns += 7) {
      for (std::size_t rows = 13; rows <= 70; rows += 9) {
        ScreenState state{.page = page, .cursor = columns % 5, .order = ScreenState::Order::number};
        expect_fits(draw(pod.pod, state, facts_of(pod), {columns, rows}, {}), {columns, rows}, Charset::utf8);
        if (HasFatalFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Hosts, ScreenSizes, testing::Values(5, 40));

}  // namespace
}  // namespace podrun::top
