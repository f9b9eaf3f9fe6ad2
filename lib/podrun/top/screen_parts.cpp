// SPDX-License-Identifier: Apache-2.0
// Figures of all hosts as a table, as a field and as history.
#include "podrun/top/screen_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/output/cell_width.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/top/folding.hpp"

namespace podrun::top {
namespace {

constexpr std::size_t kBins = 11;
constexpr std::size_t kMostBlocks = 3;
constexpr std::size_t kBetween = 3;  ///< two blocks
constexpr std::size_t kName = 7;     ///< of a figure

std::size_t blocks_in(std::size_t columns, std::size_t width) {
  return std::clamp<std::size_t>((columns + kBetween) / (width + kBetween), 1, kMostBlocks);
}

/// A value's place on the axis of its figure, 0 to 1. Percentages have their own axis; others end at a round
/// number above the largest value, so that the axis does not change while that stays within it.
double on_axis(const Pod& pod, Figure figure, double value) {
  constexpr double kHundred = 100;
  if (kind_of(figure).unit == Unit::percent) return std::clamp(value / kHundred, 0.0, 1.0);
  const std::optional<Extremes>& extremes = pod.extremes(figure);
  const double most = extremes ? std::max(std::abs(extremes->most), std::abs(extremes->least)) : 1;
  double end = 1;
  while (end < most) {
    for (const double step : {2.0, 5.0, 10.0}) {
      if (end * step >= most || step == 10.0) {
        end *= step;
        break;
      }
    }
  }
  return std::clamp(std::abs(value) / end, 0.0, 1.0);
}

/// A bar of this height (0 to 1), one cell.
std::string_view bar(double height, output::Charset charset) {
  constexpr std::array<std::string_view, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array<std::string_view, 3> kPlain = {".", ":", "#"};
  const auto level = [&](std::size_t levels) {
    const double place = std::ceil(std::clamp(height, 0.0, 1.0) * static_cast<double>(levels));
    return place < 1 ? 0 : static_cast<std::size_t>(place) - 1;
  };
  return charset == output::Charset::utf8 ? kBars[level(kBars.size())] : kPlain[level(kPlain.size())];
}

/// How many hosts have a value in each tenth of the axis.
std::string histogram(const Pod& pod, Figure figure, output::Charset charset) {
  std::array<std::size_t, kBins> counts{};
  for (const HostRow& row : pod.rows()) {
    const std::optional<double>& value = at(row.figures, figure);
    if (!row.has_figures() || !value) continue;
    const double place = on_axis(pod, figure, *value) * (kBins - 1);
    ++counts[std::min(kBins - 1, static_cast<std::size_t>(place))];
  }
  const std::size_t most = *std::ranges::max_element(counts);
  std::string text;
  for (const std::size_t count : counts)
    text += count == 0 ? " " : bar(static_cast<double>(count) / static_cast<double>(most), charset);
  return text;
}

/// Ten tenths of the axis.
char digit(const Pod& pod, Figure figure, double value) {
  const int tenth = static_cast<int>(on_axis(pod, figure, value) * 10);
  return static_cast<char>('0' + std::clamp(tenth, 0, 9));
}

bool is_odd_now(const HostRow& row) {
  return std::ranges::any_of(row.odd, [](const Odd& odd) { return !odd.until; });
}

/// The character of these hosts: the worst of them.
void add_cell(StyledLine& line, const Pod& pod, Figure figure, std::size_t first, std::size_t count,
              bool is_marked) {
  std::optional<double> worst;
  Severity severity = Severity::like_others;
  bool has_lost = false;
  bool has_stale = false;
  bool is_waiting = true;
  for (std::size_t host = first; host < std::min(first + count, pod.rows().size()); ++host) {
    const HostRow& row = pod.rows()[host];
    has_lost = has_lost || row.state == Presence::lost;
    has_stale = has_stale || row.state == Presence::stale;
    is_waiting = is_waiting && row.state == Presence::waiting;
    if (is_odd_now(row)) severity = std::max(severity, row.severity());
    const std::optional<double>& value = at(row.figures, figure);
    if (!row.has_figures() || !value) continue;
    if (!worst || kind_of(figure).is_worse(*value, *worst)) worst = value;
  }
  const auto mark = [&](std::string_view text, Style style) {
    line.add(text, is_marked ? Style::selected : style);
  };
  if (has_lost) return mark("x", Style::lost);
  if (has_stale) return mark("?", Style::dim);
  if (severity != Severity::like_others)
    return mark("!", severity == Severity::fault ? Style::fault : Style::warning);
  if (is_waiting) return mark(".", Style::dim);
  if (!worst) return mark("·", Style::dim);
  const char shown = digit(pod, figure, *worst);
  if (is_marked)
    line.add(std::string_view(&shown, 1), Style::selected);
  else
    line.add_digit(shown);
}

/// Where a job runs, its end is what frees the host; podrun kill would spare it.
std::string words_to_stop(const Pod& pod, std::size_t host) {
  constexpr std::string_view kJob = "job ";
  std::string jobs;
  for (const std::string& run : pod.rows()[host].runs) {
    if (run.starts_with(kJob)) jobs += ' ' + run.substr(kJob.size());
  }
  return jobs.empty() ? fmt::format("kill --workers {}", pod.hosts()[host].worker) : "stop" + jobs;
}

}  // namespace

Style style_of(const Odd& odd) {
  if (odd.until) return Style::dim;
  if (odd.severity == Severity::fault) return Style::fault;
  return odd.severity == Severity::warning ? Style::warning : Style::plain;
}

Figure next_figure(const Pod& pod, Figure figure) {
  for (std::size_t step = 1; step <= kFigures; ++step) {
    const auto next = static_cast<Figure>((static_cast<std::size_t>(figure) + step) % kFigures);
    if (pod.extremes(next)) return next;
  }
  return figure;
}

Figure shown_figure(const Pod& pod, const ScreenState& state) {
  return pod.extremes(state.figure) ? state.figure : next_figure(pod, state.figure);
}

std::vector<std::string> in_blocks(std::string_view header, const std::vector<TableRow>& rows,
                                   std::size_t width, std::size_t columns, const Display& display) {
  std::vector<std::string> lines;
  const std::size_t blocks = blocks_in(columns, width);
  const std::size_t height = (rows.size() + blocks - 1) / blocks;
  for (std::size_t row = 0; row <= height && !rows.empty(); ++row) {
    StyledLine line(display, columns);
    for (std::size_t first = 0; first < rows.size() && (row == 0 || first + row <= rows.size());
         first += height) {
      if (first > 0) line.add(" │ ", Style::dim);
      const std::size_t begin = line.width();
      if (row == 0)
        line.add(header, Style::dim);
      else
        line.add(rows[first + row - 1].name, Style::bold)
            .pad_to(begin + kName)
            .add(rows[first + row - 1].text);
      line.pad_to(begin + width);
    }
    lines.push_back(line.bytes());
  }
  return lines;
}

std::vector<std::string> draw_figures(const Pod& pod, std::size_t columns, const Display& display) {
  constexpr std::size_t kWidth = 38;
  std::vector<TableRow> rows;
  for (const FigureKind& kind : figure_kinds()) {
    const std::optional<Extremes>& extremes = pod.extremes(kind.figure);
    if (!extremes || (blocks_in(columns, kWidth) < kMostBlocks && !kind.shown.narrow)) continue;
    rows.push_back({name_of(pod, kind.figure),
                    fmt::format("{:>6}{:>7}{:>6} {}", short_value(kind, extremes->least),
                                short_value(kind, extremes->median), short_value(kind, extremes->most),
                                histogram(pod, kind.figure, display.charset))});
  }
  const std::string header = fmt::format("{:7}{:>6}{:>7}{:>6} {:<11}", "", "min", "median", "max", "hosts");
  return in_blocks(header, rows, kWidth, columns, display);
}

std::vector<std::string> draw_field(const Pod& pod, const ScreenState& state, std::size_t columns,
                                    std::size_t rows, const Display& display) {
  constexpr std::size_t kLabel = 7;
  constexpr std::size_t kGroup = 16;
  constexpr std::size_t kStep = 8;
  const std::size_t hosts = pod.rows().size();
  const Figure figure = shown_figure(pod, state);
  if (columns < kLabel + kStep || rows < 2) return {};
  const std::size_t lines_for_cells = rows - 1;
  std::size_t across = (columns - kLabel + 1) / (kGroup + 1) * kGroup;
  const bool is_grouped = across > 0 && (hosts + across - 1) / across <= lines_for_cells;
  if (!is_grouped) across = (columns - kLabel) / kStep * kStep;
  const std::size_t each = (hosts + across * lines_for_cells - 1) / (across * lines_for_cells);
  std::vector<std::string> lines;
  for (std::size_t first = 0; first < hosts; first += across * each) {
    StyledLine line(display, columns);
    line.add(fmt::format("{:>5}", pod.hosts()[first].worker), Style::dim).pad_to(kLabel);
    for (std::size_t cell = 0; cell < across && first + cell * each < hosts; ++cell) {
      if (is_grouped && cell > 0 && cell % kGroup == 0) line.add(" ");
      const std::size_t host = first + cell * each;
      const bool is_marked = state.is_in_field && state.cursor >= host && state.cursor < host + each;
      add_cell(line, pod, figure, host, each, is_marked);
    }
    lines.push_back(line.bytes());
  }
  StyledLine legend(display, columns);
  legend.pad_to(2);
  if (each > 1)
    legend.add(fmt::format("worst of {} hosts a cell: {} in tenths", each, name_of(pod, figure)), Style::dim);
  else
    legend.add(fmt::format("{} of each host in tenths", name_of(pod, figure)), Style::dim);
  legend.add("   ! odd   ? stale   x lost", Style::dim);
  lines.push_back(legend.bytes());
  return lines;
}

std::vector<std::string> draw_history(const Pod& pod, const ScreenFacts& facts, output::ScreenSize size,
                                      const Display& display) {
  constexpr std::size_t kLabel = 15;
  constexpr std::size_t kLeastRows = 4;
  if (size.rows < kLeastRows || size.columns < 40 || pod.history().size() < 3) return {};
  const std::size_t count = std::min(pod.history().size(), size.columns - kLabel);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(facts.interval * count).count();
  StyledLine header(display, size.columns);
  header.add(fmt::format("history, {}: median of {}, and the least",
                         seconds < 120 ? fmt::format("{} s", seconds) : fmt::format("{} min", seconds / 60),
                         count_hosts(pod.rows().size())),
             Style::dim);
  std::vector<std::string> lines = {"", header.bytes()};
  const auto add = [&](Figure figure, std::string_view label, double Extremes::*value) {
    const std::optional<Extremes>& now = pod.extremes(figure);
    if (!now || lines.size() >= size.rows) return;
    StyledLine line(display, size.columns);
    line.add(label, Style::bold).pad_to(7);
    line.add(fmt::format("{:>6}", short_value(kind_of(figure), *now.*value))).pad_to(kLabel);
    for (std::size_t i = pod.history().size() - count; i < pod.history().size(); ++i) {
      const std::optional<Extremes>& then = pod.history()[i][static_cast<std::size_t>(figure)];
      line.add(then ? bar(on_axis(pod, figure, *then.*value), display.charset) : " ");
    }
    lines.push_back(line.bytes());
  };
  const Figure busy = pod.extremes(Figure::busy) ? Figure::busy : Figure::cpu;
  add(busy, name_of(pod, busy), &Extremes::median);
  add(busy, "  least", &Extremes::least);
  add(Figure::net, "net", &Extremes::median);
  return lines;
}

std::string command_line(std::string_view words, const ScreenFacts& facts, std::size_t columns) {
  std::string whole = fmt::format("podrun {}{}", output::escape_controls(facts.same_hosts.options), words);
  return output::cell_width(whole) <= columns ? whole : fmt::format("podrun [the same hosts] {}", words);
}

std::string message_text(const Pod& pod, const ScreenState& state, const ScreenFacts& facts,
                         std::size_t columns) {
  constexpr std::string_view kBefore = "to stop what holds it: ";
  if (state.message != "K" || pod.hosts().empty()) return state.message;
  const std::string words = words_to_stop(pod, state.cursor);
  return fmt::format("{}{}", kBefore,
                     command_line(words, facts, columns - std::min(columns, kBefore.size())));
}

std::vector<std::string> scrolled(const std::vector<std::string>& lines, std::size_t room,
                                  ScreenState& state) {
  state.first_line = std::min(state.first_line, lines.size() - std::min(lines.size(), room));
  const auto first = lines.begin() + static_cast<std::ptrdiff_t>(state.first_line);
  return {first, first + static_cast<std::ptrdiff_t>(std::min(room, lines.size()))};
}

}  // namespace podrun::top
