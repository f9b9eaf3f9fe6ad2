// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "podrun/top/screen.hpp"

// The parts of the page with all hosts. Pure.
namespace podrun::top {

/// The next figure after this one, around the end, that any host has; the same one if none has.
Figure next_figure(const Pod& pod, Figure figure);
/// The figure of the field: another one if no host has what was chosen.
Figure shown_figure(const Pod& pod, const ScreenState& state);

/// The style of a reason why a host is odd.
Style style_of(const Odd& odd);

/// A line of a table: its bold name, and the rest.
struct TableRow {
  std::string name;
  std::string text;
};
/// A table in up to three blocks of this width, side by side.
std::vector<std::string> in_blocks(std::string_view header, const std::vector<TableRow>& rows,
                                   std::size_t width, std::size_t columns, const Display& display);

/// `GPU %   0   98   100  ▁    █`: minimum, median, maximum and a histogram of hosts, two or more columns.
std::vector<std::string> draw_figures(const Pod& pod, std::size_t columns, const Display& display);

/// A cell for each host, or for the worst of several; at most `rows` lines and the legend.
std::vector<std::string> draw_field(const Pod& pod, const ScreenState& state, std::size_t columns,
                                    std::size_t rows, const Display& display);

/// The list with its header, exactly `rows` lines or fewer. Moves state.first_row so that the cursor is
/// visible.
std::vector<std::string> draw_list(const Pod& pod, ScreenState& state, const std::vector<ListRow>& rows,
                                   output::ScreenSize size, const Display& display);

/// `podrun -H … ssh 3 top`; without the options that name the hosts if it would be wider than that.
std::string command_line(std::string_view words, const ScreenFacts& facts, std::size_t columns);

/// The message of the last key, which stands in place of the list of keys; empty: none.
std::string message_text(const Pod& pod, const ScreenState& state, const ScreenFacts& facts,
                         std::size_t columns);

/// The lines that there is room for, from state.first_line on, which does not go further than needed.
std::vector<std::string> scrolled(const std::vector<std::string>& lines, std::size_t room,
                                  ScreenState& state);

/// The median and the extremes of the last minutes.
std::vector<std::string> draw_history(const Pod& pod, const ScreenFacts& facts, output::ScreenSize size,
                                      const Display& display);

}  // namespace podrun::top
