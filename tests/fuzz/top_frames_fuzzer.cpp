// SPDX-License-Identifier: Apache-2.0
// Anything as what a host says to podrun top: figures that are numbers, lists of bounded size, and screens,
// tables and events that are safe to print and never wider than the terminal.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/link/failure.hpp"
#include "podrun/output/cell_width.hpp"
#include "podrun/top/once_text.hpp"
#include "podrun/top/sample_json.hpp"
#include "podrun/top/screen.hpp"
#include "podrun/top/tpu_metrics.hpp"

namespace {

using namespace podrun::top;

constexpr std::size_t kMost = 1024;

void expect(bool condition) {
  if (!condition) std::abort();
}

void expect_printable(std::string_view line) {
  for (const char c : line) expect(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

std::vector<podrun::hosts::Host> make_hosts() {
  std::vector<podrun::hosts::Host> hosts;
  for (std::size_t worker = 0; worker < 6; ++worker)
    hosts.push_back({.worker = worker, .name = "h" + std::to_string(worker)});
  return hosts;
}

void expect_sane(const Pod& pod) {
  for (const HostRow& row : pod.rows()) {
    for (const std::optional<double>& figure : row.figures) expect(!figure || std::isfinite(*figure));
    expect(row.report.chips.size() <= kMost && row.report.mounts.size() <= kMost && row.odd.size() <= kMost);
  }
}

void expect_safe_views(const Pod& pod, TimePoint now) {
  for (const auto charset : {podrun::output::Charset::utf8, podrun::output::Charset::ascii}) {
    for (const std::string& line : once_lines(pod, charset)) expect_printable(line);
  }
  expect(sample_event({}, pod, 0, now).starts_with(R"({"v":1,"event":"sample")"));
  for (const ScreenState::Page page : {ScreenState::Page::pod, ScreenState::Page::host}) {
    for (const podrun::output::ScreenSize size : {podrun::output::ScreenSize{80, 24}, {30, 9}, {3, 2}}) {
      ScreenState state;
      state.page = page;
      const std::vector<std::string> lines = draw(pod, state, {.now = now, .clock = {}}, size, {});
      expect(lines.size() <= size.rows);
      for (std::string line : lines) {
        for (const std::string_view mark : {"\x1b[7m", "\x1b[0m"}) {  // the cursor
          for (std::size_t at = line.find(mark); at != line.npos; at = line.find(mark))
            line.erase(at, mark.size());
        }
        expect_printable(line);
        expect(podrun::output::cell_width(line) <= size.columns);
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  Pod pod(make_hosts(), size % 2 == 0);
  TimePoint now{std::chrono::hours(1)};
  FrameReader liar(pod.report(0));
  for (int frame = 0; frame < 3; ++frame) {
    now += std::chrono::seconds(2);
    try {
      if (liar.feed(text + (frame == 1 ? "" : "\n"))) pod.add_frame(0, now, 1e9);
    } catch (const podrun::link::HostError&) {
      break;
    }
    for (std::size_t host = 1; host < 6; ++host) {
      FrameReader reader(pod.report(host));
      reader.feed("s cores=8 nvidia=2\nf u" + std::to_string(100 + 2 * frame) + " i100 M100 A50 n1,1 d1,1\n");
      pod.add_frame(host, now, 1e9);
    }
    pod.judge(now, std::chrono::seconds(2));
    expect_sane(pod);
  }
  expect_safe_views(pod, now);
  expect(decode_metric_response(text).size() <= kMost);
  expect(chips_of_replies({{decode_metric_response(text), {}, decode_metric_response(text)}}, 4).size() <=
         kMost);
  return 0;
}
