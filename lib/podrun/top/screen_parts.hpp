// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "podrun/top/screen.hpp"

// The parts of the page with all hosts. Pure.
namespace podrun::top {

/// A value's place on the axis of its figure, 0 to 1: the axis does not change while the largest value stays
/// within it.
double on_axis(const Pod& pod, Figure figure, double value);
/// A bar of this height (0 to 1), one cell.
std::string_view bar(double height, output::Charset charset);

/// The next figure after this one, around the end, that any host has; the same one if none has.
Figure next_figure(const Pod& pod, Figure figure);
/// The figure of the field: another one if no host has what was chosen.
Figure shown_figure(const Pod& pod, const ScreenState& state);

/// `GPU %   0   98   100  ▁    █`: minimum, median, maximum and a histogram of hosts, two or more columns.
std::vector<std::string> draw_figures(const Pod& pod, std::size_t columns, const Look& look);

/// A cell for each host, or for the worst of several; at most `rows` lines and the legend.
std::vector<std::string> draw_field(const Pod& pod, const ScreenState& state, std::size_t columns,
                                    std::size_t rows, const Look& look);

/// The list with its header, exactly `rows` lines or fewer. Moves state.first_row so that the cursor is
/// visible.
std::vector<std::string> draw_list(const Pod& pod, ScreenState& state, const std::vector<ListRow>& rows,
                                   output::ScreenSize size, const Look& look);

/// The line that `K` shows: a podrun kill command, without the options that name the hosts if it would not
/// fit.
std::string kill_text(const Pod& pod, const ScreenState& state, const ScreenFacts& facts,
                      std::size_t columns);

/// The median and the extremes of the last minutes.
std::vector<std::string> draw_history(const Pod& pod, const ScreenFacts& facts, output::ScreenSize size,
                                      const Look& look);

}  // namespace podrun::top
