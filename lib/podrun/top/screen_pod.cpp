// SPDX-License-Identifier: Apache-2.0
// The page with all hosts: what fits, the most important first.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "podrun/base/long_duration.hpp"
#include "podrun/base/text.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/top/folding.hpp"
#include "podrun/top/once_text.hpp"
#include "podrun/top/screen.hpp"
#include "podrun/top/screen_parts.hpp"

namespace podrun::top {
namespace {

std::string interval_text(std::chrono::milliseconds interval) {
  constexpr int kSecond = 1000;
  return interval.count() % kSecond == 0
             ? fmt::format("{} s", interval.count() / kSecond)
             : fmt::format("{:.1f} s", static_cast<double>(interval.count()) / kSecond);
}

std::string title(const Pod& pod, const ScreenState& state, const ScreenFacts& facts, std::size_t columns,
                  const Display& display) {
  StyledLine line(display, columns);
  line.add("podrun top", Style::title).add("   " + count_hosts(pod.rows().size()));
  if (const std::string chips = describe_accelerators(pod); !chips.empty())
    line.add(", " + output::escape_controls(chips));
  if (!pod.run().empty()) line.add("     " + output::escape_controls(pod.run()));
  if (const auto age = pod.run_age()) line.add(", " + long_duration(*age));
  const std::string right =
      fmt::format("{}{}  {}", state.held_rows ? "hold  " : "", interval_text(facts.interval), facts.clock);
  line.add_right(right, Style::dim);
  return line.bytes();
}

std::string counts(const Pod& pod, const ScreenFacts& facts, std::size_t columns, const Display& display) {
  StyledLine line(display, columns);
  const auto add_whole = [&](std::string_view blanks, const std::string& text, Style style = Style::plain) {
    if (blanks.size() + text.size() <= line.left()) line.add(blanks).add(text, style);
  };
  add_whole("", fmt::format("up {}", pod.count(Presence::up)));
  for (const auto& [state, style] : {std::pair{Presence::waiting, Style::dim},
                                     {Presence::stale, Style::warning},
                                     {Presence::lost, Style::fault}}) {
    if (const std::size_t count = pod.count(state); count > 0)
      add_whole("  ", fmt::format("{} {}", word_of(state), count), style);
  }
  const std::size_t odd = pod.odd_hosts();
  add_whole("     ", fmt::format("odd {}", odd), odd > 0 ? Style::warning : Style::plain);
  if (!facts.note.empty()) add_whole("     ", facts.note, Style::bold);
  if (const ChipCounts chips = count_chips(pod); chips.all > 0) {
    const std::string_view word = busy_name(pod) == "duty" ? "chips" : "GPUs";
    add_whole("     ", fmt::format("{}: {} busy  {} idle", word, chips.busy, chips.idle));
    if (chips.unknown() > 0) add_whole("  ", fmt::format("{} unknown", chips.unknown()));
    const bool sees_all = std::ranges::none_of(
        pod.rows(), [](const HostRow& row) { return row.report.holders && !row.report.holders->sees_all; });
    if (!sees_all) line.add_right("sees only own processes", Style::dim);
  }
  return line.bytes();
}

/// The keys that fit, the most important ones first.
std::string fitting_keys(std::size_t cells) {
  constexpr std::array<std::pair<std::string_view, int>, 9> kKeys{{{"j k move", 3},
                                                                   {"Enter host", 2},
                                                                   {"s sort", 5},
                                                                   {"m figure", 7},
                                                                   {"f fold", 6},
                                                                   {"/ filter", 4},
                                                                   {"Space hold", 8},
                                                                   {"? help", 0},
                                                                   {"q", 1}}};
  const auto text_of = [&](int least_important) {
    std::string text;
    for (const auto& [key, rank] : kKeys) {
      if (rank <= least_important) text += fmt::format("{}{}", text.empty() ? "" : "  ", key);
    }
    return text;
  };
  int rank = static_cast<int>(kKeys.size()) - 1;
  while (rank > 0 && text_of(rank).size() > cells) --rank;
  return text_of(rank);
}

std::string keys_line(const Pod& pod, const ScreenState& state, const std::vector<ListRow>& rows,
                      const ScreenFacts& facts, std::size_t columns, const Display& display) {
  StyledLine line(display, columns);
  if (state.typed_filter) {
    line.add("/").add(output::escape_controls(*state.typed_filter)).add("_", Style::selected);
    line.add(state.message.empty() ? "   [0-15]  odd  lost  run=train  a name" : "   " + state.message,
             Style::dim);
    return line.bytes();
  }
  if (const std::string message = message_text(pod, state, facts, columns); !message.empty())
    return line.add(message).bytes();
  const std::size_t below = rows.size() - std::min(rows.size(), state.first_row + state.rows_shown);
  const std::string more = below > 0 ? fmt::format("{} more", below) : "";
  if (state.filter.is_empty()) {
    const std::size_t taken = more.empty() ? 0 : more.size() + 2;
    line.add(fitting_keys(columns - std::min(columns, taken)), Style::dim);
  } else {
    line.add("filter ").add(output::escape_controls(state.filter.text()), Style::bold);
    line.add("   / changes it, Esc ends it", Style::dim);
  }
  if (!more.empty()) line.add_right(more, Style::bold);
  return line.bytes();
}

std::vector<std::string> draw_help(ScreenState& state, output::ScreenSize size, const Display& display) {
  constexpr std::array<std::string_view, 18> kLines = {
      "podrun top: keys",
      "",
      "j k, arrows    move; PgUp PgDn Home End",
      "Enter          the page of one host; Esc goes back",
      "n p            the next, the previous odd host",
      "Tab            move from host to host in the field",
      "s              sort: odd hosts first, by number, by the figure",
      "m              another figure in the field",
      "f              fold hosts that are alike, or show each",
      "r              only the hosts of this run; again: all",
      "/              filter: [0-15]  odd  lost  run=train  a part of a name",
      "Space          hold: rows stay, counts go on",
      "+ -            more, less often",
      "K              the command that stops what holds this host",
      "q              quit",
      "",
      "Cells: tenths of the figure, the worst chip of a host",
      "! odd   ? stale   x lost   . no answer yet"};
  std::vector<std::string> text;
  for (const std::string_view each : kLines)
    text.push_back(
        StyledLine(display, size.columns).add(each, text.empty() ? Style::title : Style::plain).bytes());
  if (text.size() <= size.rows) return scrolled(text, size.rows, state);
  std::vector<std::string> lines = scrolled(text, size.rows - 1, state);
  StyledLine keys(display, size.columns);
  keys.add("Esc back  j k scroll  q quit", Style::dim);
  const std::size_t below = text.size() - state.first_line - lines.size();
  if (below > 0) keys.add_right(fmt::format("{} more", below), Style::bold);
  lines.push_back(keys.bytes());
  return lines;
}

void append(std::vector<std::string>& lines, std::vector<std::string> more) {
  for (std::string& line : more) lines.push_back(std::move(line));
}

}  // namespace

std::vector<std::string> draw_pod(const Pod& pod, ScreenState& state, const ScreenFacts& facts,
                                  output::ScreenSize size, const Display& display) {
  const std::vector<ListRow> rows = list_rows(pod, state);
  keep_cursor(rows, state);
  std::vector<std::string> lines = {title(pod, state, facts, size.columns, display)};
  constexpr std::size_t kLeastForCounts = 4;
  constexpr std::size_t kLeastForFigures = 14;
  constexpr std::size_t kLeastForField = 18;
  constexpr std::size_t kTall = 40;
  if (size.rows >= kLeastForCounts) lines.push_back(counts(pod, facts, size.columns, display));
  if (size.rows >= kLeastForFigures) append(lines, draw_figures(pod, size.columns, display));
  if (size.rows >= kLeastForField && pod.rows().size() > kFewHosts)
    append(lines, draw_field(pod, state, size.columns, size.rows >= kTall ? 13 : 9, display));
  const std::size_t room = size.rows > lines.size() + 1 ? size.rows - lines.size() - 1 : 0;
  append(lines,
         draw_list(pod, state, rows,
                   {size.columns, std::min(room, std::max<std::size_t>(1, rows.size()) + 1)}, display));
  const std::size_t left = size.rows > lines.size() + 1 ? size.rows - lines.size() - 1 : 0;
  if (pod.rows().size() <= kFewHosts) append(lines, draw_history(pod, facts, {size.columns, left}, display));
  if (size.rows < 2) return lines;
  lines.resize(size.rows - 1);
  lines.push_back(keys_line(pod, state, rows, facts, size.columns, display));
  return lines;
}

std::vector<std::string> draw(const Pod& pod, ScreenState& state, const ScreenFacts& facts,
                              output::ScreenSize size, const Display& display) {
  if (size.rows == 0 || size.columns == 0) return {};
  std::vector<std::string> lines = state.page == ScreenState::Page::help ? draw_help(state, size, display)
                                   : state.page == ScreenState::Page::host
                                       ? draw_host(pod, state, facts, size, display)
                                       : draw_pod(pod, state, facts, size, display);
  if (lines.size() > size.rows) lines.resize(size.rows);
  return lines;
}

}  // namespace podrun::top
