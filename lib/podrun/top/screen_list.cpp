// SPDX-License-Identifier: Apache-2.0
// The list of hosts: columns by the width of the screen, and the reason in words.
#include <algorithm>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/output/cell_width.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"
#include "podrun/top/folding.hpp"
#include "podrun/top/screen_parts.hpp"

namespace podrun::top {
namespace {

class List {
 public:
  List(const Pod& pod, const ScreenState& state, std::size_t columns, const Display& display)
      : pod_(pod), state_(state), columns_(columns), display_(display) {
    for (const FigureKind& kind : figure_kinds()) {
      const bool has_room = kind.column.width > 0 && columns >= kind.column.least_columns;
      if (!has_room || !pod.extremes(kind.figure)) continue;
      shown_.push_back(&kind);
      columns_width_ += kind.column.width;
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
    StyledLine line(display_, columns_);
    line.add(fmt::format("{:>{}} ", "#", number_width_), Style::dim)
        .add(host_width_ > 0 ? "host" : "", Style::dim);
    line.pad_to(text_begin());
    for (const FigureKind* const kind : shown_) {
      const std::string_view name =
          kind->figure == Figure::busy && busy_name(pod_) == "duty" ? "duty" : kind->column.heading;
      const bool is_chosen = state_.order == ScreenState::Order::figure && state_.figure == kind->figure;
      line.add_to(line.width() + kind->column.width, name, is_chosen ? Style::bold : Style::dim);
    }
    line.add("  what is odd", Style::dim);
    return line.bytes();
  }

  std::string row(const ListRow& row) const {
    const bool is_marked = !state_.is_in_field && row.has(state_.cursor);
    StyledLine line(display_, columns_);
    const std::size_t host = row.hosts.front();
    const bool is_alone = !row.is_folded;
    const std::string number =
        is_alone ? std::to_string(pod_.hosts()[host].worker) : fmt::format("+{}", row.hosts.size());
    line.add(fmt::format("{:>{}}", number, number_width_), is_marked ? Style::selected : Style::bold)
        .add(" ");
    if (is_alone) line.add(fitting_name(pod_.hosts()[host]));
    line.pad_to(text_begin());
    const Figures figures = is_alone ? pod_.rows()[host].figures : medians_of(pod_, row.hosts);
    const Style style = is_alone && pod_.rows()[host].state == Presence::stale ? Style::dim : Style::plain;
    const bool is_lost = !is_alone && pod_.rows()[host].state == Presence::lost;
    const bool has_room = (!is_alone && !is_lost) || pod_.rows()[host].has_figures() ||
                          line.width() + columns_width_ + 2 + reasons_width(pod_.rows()[host]) <= columns_;
    if (has_room || pod_.rows()[host].state == Presence::stale)
      for (const FigureKind* const kind : shown_) add_value(line, *kind, at(figures, kind->figure), style);
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
    return std::string(cut_mark(display_.charset)) + name;
  }
  std::size_t text_begin() const { return number_width_ + (host_width_ > 0 ? 1 + host_width_ : 0); }

  static void add_value(StyledLine& line, const FigureKind& kind, const std::optional<double>& value,
                        Style style) {
    std::string text = value ? short_value(kind, *value) : "·";
    std::erase(text, ' ');
    line.add_to(line.width() + kind.column.width, text, style);
  }

  static void add_reasons(StyledLine& line, const HostRow& row) {
    if (row.state == Presence::lost) line.add("x ", Style::lost);
    if (row.state == Presence::stale) line.add("? ", Style::dim);
    if (row.state == Presence::waiting) line.add("no answer yet", Style::dim);
    bool is_first = true;
    for (const Odd& odd : row.odd) {
      const Style style = row.state == Presence::lost && !odd.until ? Style::plain : style_of(odd);
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
    if (pod_.rows()[hosts.front()].state == Presence::waiting) {
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
  const Display& display_;
  std::vector<const FigureKind*> shown_ = {};
  std::size_t columns_width_ = 0;
  std::size_t host_width_ = 0;
  std::size_t number_width_ = 4;
};

}  // namespace

std::vector<std::string> draw_list(const Pod& pod, ScreenState& state, const std::vector<ListRow>& rows,
                                   output::ScreenSize size, const Display& display) {
  std::vector<std::string> lines;
  if (size.rows == 0) return lines;
  const List list(pod, state, size.columns, display);
  constexpr std::size_t kLeastForHeader = 3;
  const bool has_header = size.rows >= kLeastForHeader || rows.size() < size.rows;
  if (has_header) lines.push_back(list.header());
  const std::size_t room = size.rows - lines.size();
  if (rows.empty() && room > 0)
    lines.push_back(StyledLine(display, size.columns).add("no host matches the filter", Style::dim).bytes());
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
