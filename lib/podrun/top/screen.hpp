// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "podrun/output/full_screen.hpp"
#include "podrun/top/host_filter.hpp"
#include "podrun/top/keys.hpp"
#include "podrun/top/styled_line.hpp"
#include "podrun/top/top_pod.hpp"

// The screen of `podrun top` as text, and what keys change about it. Pure: the time is passed in.
namespace podrun::top {

constexpr std::size_t kFewHosts = 16;  ///< more are folded, and have a field instead of a history

/// A line of the list: one host, or hosts that are alike.
struct ListRow {
  std::vector<std::size_t> hosts;
  bool is_folded = false;

  bool has(std::size_t host) const;
};

/// What the user has chosen to see.
struct ScreenState {
  enum class Page { pod, host, help };
  enum class Order { odd, number, figure };

  Page page = Page::pod;
  std::size_t cursor = 0;      ///< the host (index) at the cursor
  bool is_moved = false;       ///< a key has put the cursor there; else it is at the first row
  std::size_t first_row = 0;   ///< of the list, on the screen
  std::size_t rows_shown = 0;  ///< of the list; known after draw()
  std::size_t first_line = 0;  ///< of the page of one host, and of the help
  Order order = Order::odd;
  Figure figure = Figure::busy;  ///< in the field, and for Order::figure
  bool is_folded = true;
  bool is_in_field = false;  ///< the cursor moves from host to host in the order of the list of hosts
  std::optional<std::vector<ListRow>> held_rows = {};  ///< rows stay as they were then; figures go on
  HostFilter filter = {};
  std::optional<std::string> typed_filter = {};  ///< while it is being typed
  std::string message = {};                      ///< in place of the keys, until the next key
};

/// What a key asks of the run.
struct KeyEffect {
  bool quits = false;
  int interval_step = 0;  ///< -1: more often, 1: less often
};

/// The rows of the list, in order. Hosts that are alike are one row if they are folded, and so are more than
/// three hosts that were lost for the same reason.
std::vector<ListRow> list_rows(const Pod& pod, const ScreenState& state);

/// Puts the cursor on a row that is shown.
void keep_cursor(const std::vector<ListRow>& rows, ScreenState& state);

/// Changes the state. `rows`: list_rows() of what is shown.
KeyEffect handle_key(const Key& key, const Pod& pod, const std::vector<ListRow>& rows, ScreenState& state);

/// How another podrun command finds the hosts that are shown.
struct SameHosts {
  std::string options = {};  ///< `-H tpu-[0-3] `
  bool has_ssh = true;       ///< podrun ssh reaches them; false with --via
};

/// What else a screen shows.
struct ScreenFacts {
  TimePoint now;
  std::string clock;  ///< `14:02:31`
  std::chrono::milliseconds interval{2'000};
  std::string note = {};  ///< what podrun has to say: that it was suspended
  SameHosts same_hosts = {};
};

/// The lines of the screen, at most as many and as wide as `size` says.
std::vector<std::string> draw(const Pod& pod, ScreenState& state, const ScreenFacts& facts,
                              output::ScreenSize size, const Display& display);

/// The parts of draw():
std::vector<std::string> draw_pod(const Pod& pod, ScreenState& state, const ScreenFacts& facts,
                                  output::ScreenSize size, const Display& display);
std::vector<std::string> draw_host(const Pod& pod, ScreenState& state, const ScreenFacts& facts,
                                   output::ScreenSize size, const Display& display);

}  // namespace podrun::top
