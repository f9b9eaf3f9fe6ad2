// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/line_printer.hpp"

#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "podrun/output/escape.hpp"
#include "podrun/output/json_sink.hpp"

namespace podrun::output {
namespace {

constexpr std::size_t kKiB = 1024;

std::string format_size(std::size_t bytes) {
  if (bytes % (kKiB * kKiB) == 0) return fmt::format("{} MiB", bytes / (kKiB * kKiB));
  return fmt::format("{} KiB", bytes / kKiB);
}

}  // namespace

std::string_view last_state(std::string_view line) {
  const std::size_t end = line.find_last_not_of('\r');
  if (end == std::string_view::npos) return {};
  line = line.substr(0, end + 1);
  return line.substr(line.rfind('\r') + 1);  // npos + 1 is 0
}

LinePrinter::LinePrinter(const std::vector<hosts::Host>& hosts, const View& view, Terminal& terminal)
    : view_(view),
      hosts_(hosts),
      terminal_(terminal),
      terminal_lives_(terminal.lender()),
      pieces_said_(hosts.size()) {}

void LinePrinter::print(std::string_view label, const Line& line) {
  const std::size_t stream = index_of(line.stream);
  std::string_view text = line.text;
  bool folded = false;
  if (view_.bars[stream] == Bars::fold && text.find('\r') != std::string_view::npos) {
    folded = true;
    text = last_state(text);
  }
  if (line.end == LineEnd::piece && !folded && !std::exchange(pieces_said_[line.host][stream], true)) {
    say(fmt::format("podrun: [{}] a line of {} is longer than {}: shown in pieces", hosts_[line.host].worker,
                    line.stream == StreamId::out ? "stdout" : "stderr", format_size(line.text.size())));
  }
  const std::string time = view_.timestamps ? format_utc(std::chrono::system_clock::now()) + ' ' : "";
  const Controls controls = view_.controls[stream];
  if (controls == Controls::only_colors && !is_plain_text(text)) {
    terminal_.append(view_.shown_on[stream], {time, label, terminal_line(text), "\n"});
  } else if (controls == Controls::escape) {
    terminal_.append(view_.shown_on[stream], {time, label, escape_controls(text, Tabs::keep), "\n"});
  } else if (view_.color[stream] == Color::on && text.find('\x1b') != std::string_view::npos) {
    terminal_.append(view_.shown_on[stream],
                     {time, label, text, "\x1b[0m\n"});  // ends the line's own colours
  } else {
    terminal_.append(view_.shown_on[stream], {time, label, text, "\n"});
  }
}

}  // namespace podrun::output
