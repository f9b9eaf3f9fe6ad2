// SPDX-License-Identifier: Apache-2.0
// The list of hosts: columns by the width of the screen, and the reason in words.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/output/cell_width.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"
#include "podrun/top/folding.hpp"
#include "podrun/top/screen_parts.hpp"

namespace podrun::top {
namespace {

struct Column {
  Figure figure;
  std::string_view name;
  std::size_t width;
  std::size_t least_columns;  ///< of the screen
};
constexpr std::array<Column, 12> kColumns{{{Figure::busy, "GPU%", 5, 30},
                                           {Figure::watts, "W", 5, 60},
                                           {Figure::hbm, "HBM", 4, 70},
                                           {Figure::cpu, "CPU", 4, 36},
                                           {Figure::ram, "RAM", 4, 50},
                                           {Figure::net, "net", 6, 74},
                                           {Figure::disk, "disk", 6, 110},
                                           {Figure::root, "/", 4, 78},
                                           {Figure::celsius, "°C", 4, 120},
                                           {Figure::mhz, "MHz", 6, 130},
                                           {Figure::pressure, "press", 6, 140},
                                           {Figure::clock, "clock", 6, 150}}};

class List {
 public:
  List(const Pod& pod, const ScreenState& state, std::size_t columns, const Look& look)
      : pod_(pod), state_(state), columns_(columns), look_(look) {
    for (const Column& column : kColumns) {
      if (columns >= column.least_columns && pod.spread(column.figure)) shown_.push_back(column);
    }
    std::size_t longest = 4;
    for (const hosts::Host& host : pod.hosts())
      longest = std::max(longest, output::cell_width(shown_name(host)));
    constexpr std::size_t kWide = 140;
    constexpr std::size_t kUsual = 70;
    const std::size_t most = columns >= kWide ? 28 : columns >= kUsual ? 10 : columns / 5;
    host_width_ = std::min(longest, most);
    number_width_ = std::max<std::size_t>(4, std::to_string(pod.hosts().size()).size() + 1);
  }

  std::string header() const {
    StyledLine line(look_, columns_);
    line.add(fmt::format("{:>{}} ", "#", number_width_), Style::dim)
        .add(host_width_ > 0 ? "host" : "", Style::dim);
    line.pad_to(text_begin());
    for (const Column& column : shown_) {
      const std::string_view name =
          column.figure == Figure::busy && busy_name(pod_) == "duty" ? "duty" : column.name;
      line.pad_to(line.width() + column.width - std::min(column.width, output::cell_width(name)));
      const bool is_chosen = state_.order == ScreenState::Order::figure && state_.figure == column.figure;
      line.add(name, is_chosen ? Style::bold : Style::dim);
    }
    line.add("  what is odd", Style::dim);
    return line.bytes();
  }

  std::string row(const ListRow& row) const {
    const bool is_marked = !state_.is_in_field && row.has(state_.cursor);
    StyledLine line(look_, columns_);
    const std::size_t host = row.hosts.front();
    const bool is_alone = !row.is_folded;
    const std::string number =
        is_alone ? std::to_string(pod_.hosts()[host].worker) : fmt::format("+{}", row.hosts.size());
    line.add(fmt::format("{:>{}}", number, number_width_), is_marked ? Style::selected : Style::bold)
        .add(" ");
    if (is_alone) line.add(fitting_name(pod_.hosts()[host]));
    line.pad_to(text_begin());
    const Figures figures = is_alone ? pod_.rows()[host].figures : medians_of(pod_, row.hosts);
    const Style style = is_alone && pod_.rows()[host].state == HostState::stale ? Style::dim : Style::plain;
    const std::size_t begin = line.width();
    std::size_t width = 0;
    for (const Column& column : shown_) width += column.width;
    const bool is_lost = !is_alone && pod_.rows()[host].state == HostState::lost;
    const bool has_room = (!is_alone && !is_lost) || pod_.rows()[host].has_figures() ||
                          begin + width + 2 + reasons_width(pod_.rows()[host]) <= columns_;
    if (has_room || pod_.rows()[host].state == HostState::stale)
      for (const Column& column : shown_) add_value(line, column, at(figures, column.figure), style);
    line.add("  ");
    if (is_alone)
      add_reasons(line, pod_.rows()[host]);
    else if (is_lost)
      add_lost(line, row.hosts);
    else
      add_alike(line, row.hosts);
    return line.bytes();
  }

 private:
  static std::size_t reasons_width(const HostRow& row) {
    constexpr std::size_t kMark = 2;
    return kMark + output::cell_width(describe_odd(row, "; "));
  }
  /// The first label of a name; an address whole.
  static std::string shown_name(const hosts::Host& host) {
    const bool is_address = host.name.find_first_not_of("0123456789.:") == host.name.npos;
    return output::escape_controls(is_address ? host.name : host.name.substr(0, host.name.find('.')));
  }
  /// The name of a host; the end of a long one, in which hosts differ: `…-node-007`.
  std::string fitting_name(const hosts::Host& host) const {
    std::string name = shown_name(host);
    if (output::cell_width(name) <= host_width_ || host_width_ < 2)
      return std::string(output::cut_to_cells(name, host_width_));
    while (output::cell_width(name) >= host_width_)
      name.erase(0, std::max<std::size_t>(1, first_utf8(name).bytes));
    return std::string(cut_mark(look_.charset)) + name;
  }
  std::size_t text_begin() const { return number_width_ + (host_width_ > 0 ? 1 + host_width_ : 0); }

  static void add_value(StyledLine& line, const Column& column, const std::optional<double>& value,
                        Style style) {
    std::string text = value ? short_value(kind_of(column.figure), *value) : "·";
    std::erase(text, ' ');
    const std::size_t width = value ? output::cell_width(text) : 1;
    line.pad_to(line.width() + column.width - std::min(column.width, width)).add(text, style);
  }

  static void add_reasons(StyledLine& line, const HostRow& row) {
    if (row.state == HostState::lost) line.add("x ", Style::lost);
    if (row.state == HostState::stale) line.add("? ", Style::dim);
    if (row.state == HostState::waiting) line.add("no answer yet", Style::dim);
    bool is_first = true;
    for (const Odd& odd : row.odd) {
      const Style style = odd.until                           ? Style::dim
                          : row.state == HostState::lost      ? Style::plain
                          : odd.severity == Severity::fault   ? Style::fault
                          : odd.severity == Severity::warning ? Style::warning
                                                              : Style::plain;
      const std::string text = output::escape_controls((is_first ? "" : "; ") + odd.text);
      is_first = false;
      if (!line.add_cut(text, style)) return;
    }
  }

  void add_lost(StyledLine& line, const std::vector<std::size_t>& hosts) const {
    line.add("x ", Style::lost).add(output::fold_hosts(pod_.hosts(), hosts), Style::dim).add("  ");
    line.add(output::escape_controls(describe_odd(pod_.rows()[hosts.front()], "; ")));
  }

  void add_alike(StyledLine& line, const std::vector<std::size_t>& hosts) const {
    if (pod_.rows()[hosts.front()].state == HostState::waiting) {
      line.add("no answer yet", Style::dim);
      return;
    }
    const std::string who =
        hosts.size() == pod_.rows().size() ? "all hosts" : output::fold_hosts(pod_.hosts(), hosts);
    line.add_cut("alike: " + who, Style::dim);
  }

  const Pod& pod_;
  const ScreenState& state_;
  const std::size_t columns_;
  const Look& look_;
  std::vector<Column> shown_ = {};
  std::size_t host_width_ = 0;
  std::size_t number_width_ = 4;
};

}  // namespace

std::vector<std::string> draw_list(const Pod& pod, ScreenState& state, const std::vector<ListRow>& rows,
                                   output::ScreenSize size, const Look& look) {
  std::vector<std::string> lines;
  if (size.rows == 0) return lines;
  const List list(pod, state, size.columns, look);
  constexpr std::size_t kLeastForHeader = 3;
  const bool has_header = size.rows >= kLeastForHeader || rows.size() < size.rows;
  if (has_header) lines.push_back(list.header());
  const std::size_t room = size.rows - lines.size();
  if (rows.empty() && room > 0)
    lines.push_back(StyledLine(look, size.columns).add("no host matches the filter", Style::dim).bytes());
  state.rows_shown = room;
  const auto cursor = std::ranges::find_if(rows, [&](const ListRow& row) { return row.has(state.cursor); });
  if (cursor != rows.end()) {
    const auto place = static_cast<std::size_t>(cursor - rows.begin());
    state.first_row = std::clamp(state.first_row, place + 1 > room ? place + 1 - room : 0, place);
  }
  state.first_row = std::min(state.first_row, rows.size() > room ? rows.size() - room : 0);
  for (std::size_t row = state.first_row; row < std::min(rows.size(), state.first_row + room); ++row)
    lines.push_back(list.row(rows[row]));
  return lines;
}

}  // namespace podrun::top
