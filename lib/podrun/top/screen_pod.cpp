// SPDX-License-Identifier: Apache-2.0
// The page with all hosts: what fits, the most important first.
#include <algorithm>
#include <array>

#include <fmt/format.h>

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
                  const Look& look) {
  StyledLine line(look, columns);
  line.add("podrun top", Style::title).add("   " + count_hosts(pod.rows().size()));
  if (const std::string chips = describe_accelerators(pod); !chips.empty())
    line.add(", " + output::escape_controls(chips));
  if (!pod.run().empty()) line.add("     " + output::escape_controls(pod.run()));
  const std::string right =
      fmt::format("{}{}  {}", state.holds ? "hold  " : "", interval_text(facts.interval), facts.clock);
  line.add_right(right, Style::dim);
  return line.bytes();
}

std::string counts(const Pod& pod, const ScreenFacts& facts, std::size_t columns, const Look& look) {
  StyledLine line(look, columns);
  line.add(fmt::format("up {}", pod.count(HostState::up)));
  const auto add = [&](HostState state, std::string_view word, Style style) {
    if (const std::size_t count = pod.count(state); count > 0)
      line.add("  ").add(fmt::format("{} {}", word, count), style);
  };
  add(HostState::waiting, "waiting", Style::dim);
  add(HostState::stale, "stale", Style::warning);
  add(HostState::lost, "lost", Style::fault);
  const std::size_t odd = pod.odd_hosts();
  line.add("     ").add(fmt::format("odd {}", odd), odd > 0 ? Style::warning : Style::plain);
  const ChipCounts chips = count_chips(pod);
  if (chips.all > 0) {
    line.add(fmt::format("     {}: {} busy  {} idle", busy_name(pod) == "duty" ? "chips" : "GPUs", chips.busy,
                         chips.idle));
    if (chips.unknown() > 0) line.add(fmt::format("  {} unknown", chips.unknown()));
  }
  if (!facts.note.empty()) line.add("     ").add(facts.note, Style::bold);
  return line.bytes();
}

std::string keys_line(const Pod& pod, const ScreenState& state, const std::vector<ListRow>& rows,
                      const ScreenFacts& facts, std::size_t columns, const Look& look) {
  StyledLine line(look, columns);
  if (state.typed_filter) {
    line.add("/").add(output::escape_controls(*state.typed_filter)).add("_", Style::selected);
    line.add(
        state.message.empty() ? "   gpu<50  user!=me  run=train  [0-15]  odd  a name" : "   " + state.message,
        Style::dim);
    return line.bytes();
  }
  if (state.message == "K" && !pod.hosts().empty()) {
    line.add(fmt::format("to stop what holds it: podrun {}kill --workers {}", facts.kill_options,
                         pod.hosts()[state.cursor].worker));
    return line.bytes();
  }
  if (!state.message.empty()) {
    line.add(state.message);
    return line.bytes();
  }
  const std::size_t below = rows.size() - std::min(rows.size(), state.first_row + state.rows_shown);
  if (state.filter.is_empty()) {
    line.add("j k move  Enter host  s sort  m figure  f fold  / filter  Space hold  ? help  q", Style::dim);
  } else {
    line.add("filter ").add(output::escape_controls(state.filter.text()), Style::bold);
    line.add("   / changes it, Esc ends it", Style::dim);
  }
  if (below > 0) line.add_right(fmt::format("{} more", below), Style::bold);
  return line.bytes();
}

std::vector<std::string> draw_help(output::ScreenSize size, const Look& look) {
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
      "/              filter: gpu<50  user!=alice  run=train  [0-15]  odd",
      "Space          hold: rows stay, counts go on",
      "+ -            more, less often",
      "K              the command that stops what holds this host",
      "q              quit",
      "",
      "Cells: tenths of the figure, the worst chip of a host",
      "! odd   ? stale   x lost   . no answer yet"};
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(kLines.size(), size.rows); ++i)
    lines.push_back(
        StyledLine(look, size.columns).add(kLines[i], i == 0 ? Style::title : Style::plain).bytes());
  return lines;
}

void append(std::vector<std::string>& lines, std::vector<std::string> more) {
  for (std::string& line : more) lines.push_back(std::move(line));
}

}  // namespace

std::vector<std::string> draw_pod(const Pod& pod, ScreenState& state, const ScreenFacts& facts,
                                  output::ScreenSize size, const Look& look) {
  const std::vector<ListRow> rows = list_rows(pod, state);
  std::vector<std::string> lines = {title(pod, state, facts, size.columns, look)};
  constexpr std::size_t kLeastForCounts = 4;
  constexpr std::size_t kLeastForFigures = 14;
  constexpr std::size_t kLeastForField = 18;
  constexpr std::size_t kFewHosts = 16;
  constexpr std::size_t kTall = 40;
  if (size.rows >= kLeastForCounts) lines.push_back(counts(pod, facts, size.columns, look));
  if (size.rows >= kLeastForFigures) append(lines, draw_figures(pod, size.columns, look));
  if (size.rows >= kLeastForField && pod.rows().size() > kFewHosts)
    append(lines, draw_field(pod, state, size.columns, size.rows >= kTall ? 13 : 9, look));
  const std::size_t room = size.rows > lines.size() + 1 ? size.rows - lines.size() - 1 : 0;
  append(lines, draw_list(pod, state, rows, {size.columns, std::min(room, rows.size() + 1)}, look));
  const std::size_t left = size.rows > lines.size() + 1 ? size.rows - lines.size() - 1 : 0;
  if (pod.rows().size() <= kFewHosts) append(lines, draw_history(pod, facts, {size.columns, left}, look));
  if (size.rows < 2) return lines;
  lines.resize(size.rows - 1);
  lines.push_back(keys_line(pod, state, rows, facts, size.columns, look));
  return lines;
}

std::vector<std::string> draw(const Pod& pod, ScreenState& state, const ScreenFacts& facts,
                              output::ScreenSize size, const Look& look) {
  if (size.rows == 0 || size.columns == 0) return {};
  std::vector<std::string> lines = state.page == ScreenState::Page::help ? draw_help(size, look)
                                   : state.page == ScreenState::Page::host
                                       ? draw_host(pod, state, facts, size, look)
                                       : draw_pod(pod, state, facts, size, look);
  if (lines.size() > size.rows) lines.resize(size.rows);
  return lines;
}

}  // namespace podrun::top
