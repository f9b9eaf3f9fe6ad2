// SPDX-License-Identifier: Apache-2.0
// Fits the status line into the width of the terminal, and makes the bytes that paint it.
#include "podrun/output/status_line.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/output/cell_width.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/line_printer.hpp"

namespace podrun::output {
namespace {

/// The fewest cells for a bar besides its label.
constexpr std::size_t kLeastBar = 10;

constexpr std::string_view kNoWrap = "\x1b[?7l";  // terminals may measure the line wider than podrun does
constexpr std::string_view kWrap = "\x1b[?7h";

bool names_utf8(std::string_view locale) {
  const std::string name = lower_case(locale);
  return name.find("utf-8") != std::string::npos || name.find("utf8") != std::string::npos;
}

/// Removes control sequences (ECMA-48: `ESC [`, parameters, a final byte of 0x40-0x7e).
std::string without_sequences(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t start = text.find("\x1b[");
    plain += text.substr(0, start);
    if (start == std::string_view::npos) break;
    const auto final = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(start) + 2, text.end(),
                                    [](char byte) { return byte >= 0x40 && byte <= 0x7e; });
    text = final == text.end() ? std::string_view() : std::string_view(final + 1, text.end());
  }
  return plain;
}

/// Replaces every character outside ASCII by a question mark.
std::string to_ascii(std::string_view text) {
  std::string ascii;
  for (const char byte : text) {
    const auto value = static_cast<unsigned char>(byte);
    if (value < 0x80) ascii += byte;
    if (value >= 0xc0) ascii += '?';
  }
  return ascii;
}

}  // namespace

StatusWay choose_status_way(Progress progress, const StatusSurroundings& surroundings) {
  if (progress == Progress::never) return StatusWay::none;
  const bool can_paint =
      surroundings.err_is_terminal && !surroundings.term.empty() && surroundings.term != "dumb";
  if (progress == Progress::always) return can_paint ? StatusWay::painted : StatusWay::lines;
  return can_paint && !surroundings.out_is_pipe ? StatusWay::painted : StatusWay::none;
}

Charset choose_charset(const std::optional<std::string>& lc_all, const std::optional<std::string>& lc_ctype,
                       const std::optional<std::string>& lang) {
  for (const auto& locale : {lc_all, lc_ctype, lang}) {
    if (locale && !locale->empty()) return names_utf8(*locale) ? Charset::utf8 : Charset::ascii;
  }
  return Charset::ascii;
}

std::string_view separator(Charset charset) { return charset == Charset::utf8 ? " · " : " | "; }

std::string bar_state(std::string_view tail) {
  if (tail.find('\r') == std::string_view::npos) return {};
  const std::string plain = without_sequences(tail);
  const std::string_view state = last_state(plain);
  const std::size_t first = state.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return std::string(state.substr(first, state.find_last_not_of(' ') + 1 - first));
}

std::string compose_status(const StatusText& text, const std::optional<Bar>& bar, Charset charset,
                           std::size_t cells) {
  constexpr std::size_t kSeparator = 3;
  if (text.empty()) return {};
  const auto form_for = [](const StatusPart& part, std::size_t room) -> const std::string& {
    return cell_width(part.text) <= room || part.shorter.empty() ? part.text : part.shorter;
  };
  std::string line(cut_to_cells(form_for(text.front(), cells), cells));
  std::size_t left = cells - cell_width(line);
  const auto add = [&](std::string_view part, std::size_t width) {
    line.append(separator(charset)).append(part);
    left -= kSeparator + width;
  };
  for (auto part = text.begin() + 1; part != text.end(); ++part) {
    const std::string& form = form_for(*part, left - std::min(left, kSeparator));
    if (cell_width(form) + kSeparator > left) return line;
    add(form, cell_width(form));
  }
  if (!bar) return line;
  const std::string label = fmt::format("[{}] ", bar->worker);
  if (kSeparator + label.size() + kLeastBar > left) return line;
  const std::string safe = escape_controls(bar->state);
  const std::string state = label + (charset == Charset::utf8 ? safe : to_ascii(safe));
  const std::string_view part = cut_to_cells(state, left - kSeparator);
  add(part, cell_width(part));
  return line;
}

void StatusLine::say(StatusText text, std::optional<Bar> bar) {
  text_ = std::move(text);
  bar_ = std::move(bar);
  due_ = last_ + kInterval;
}

std::string StatusLine::paint(TimePoint now, std::size_t columns) {
  if (now < due_) return {};
  due_ = TimePoint::max();
  if (columns == 0) return {};
  std::string line = compose_status(text_, bar_, charset_, columns - 1);
  if (line == painted_) return {};
  if (line.empty()) return erase();
  painted_ = std::move(line);
  last_ = now;
  return fmt::format("\r{}{}\x1b[J{}\r", kNoWrap, painted_, kWrap);
}

std::string StatusLine::erase() {
  if (!text_.empty()) due_ = last_ + kInterval;
  if (!painted()) return {};
  painted_.clear();
  return std::string(kErase);
}

std::string StatusLine::erase_above(std::size_t lines) {
  if (!painted()) return {};
  return fmt::format("\x1b[{}A{}", lines, erase());
}

}  // namespace podrun::output
