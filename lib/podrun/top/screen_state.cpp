// SPDX-License-Identifier: Apache-2.0
// The list of the screen, and what keys change.
#include <algorithm>
#include <array>
#include <numeric>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/top/folding.hpp"
#include "podrun/top/screen_parts.hpp"

namespace podrun::top {
namespace {

void add_each(std::vector<ListRow>& rows, const std::vector<std::size_t>& hosts) {
  for (const std::size_t host : hosts) rows.push_back({.hosts = {host}});
}

/// Hosts that were lost together (their bastion is down, a switch) are one row, unless they are few.
bool are_lost_together(const HostRow& a, const HostRow& b) {
  if (a.state != Presence::lost || b.state != Presence::lost || !a.trouble || !b.trouble) return false;
  const link::Failure& of_a = a.trouble->failure;
  const link::Failure& of_b = b.trouble->failure;
  return of_a.stage == of_b.stage && of_a.cause == of_b.cause && of_a.jump_hosts == of_b.jump_hosts;
}

void add_odd(std::vector<ListRow>& rows, const Pod& pod, bool is_folded) {
  constexpr std::size_t kFew = 3;
  std::vector<ListRow> lost;
  std::vector<std::size_t> others;
  const std::vector<std::size_t> odd = odd_in_order(pod);
  for (const std::size_t host : odd) {
    const auto together = std::ranges::find_if(lost, [&](const ListRow& row) {
      return are_lost_together(pod.rows()[row.hosts.front()], pod.rows()[host]);
    });
    if (pod.rows()[host].state != Presence::lost)
      others.push_back(host);
    else if (together != lost.end())
      together->hosts.push_back(host);
    else
      lost.push_back({.hosts = {host}});
  }
  const bool fits = std::ranges::all_of(lost, [](const ListRow& row) { return row.hosts.size() <= kFew; });
  if (!is_folded || fits) return add_each(rows, odd);
  for (ListRow& row : lost) {
    row.is_folded = row.hosts.size() > 1;
    std::ranges::sort(row.hosts);
    rows.push_back(std::move(row));
  }
  add_each(rows, others);
}

/// The row with this host; 0: none has it.
std::size_t row_of(const std::vector<ListRow>& rows, std::size_t host) {
  const auto row = std::ranges::find_if(rows, [&](const ListRow& each) { return each.has(host); });
  return row == rows.end() ? 0 : static_cast<std::size_t>(row - rows.begin());
}

void remove_last_character(std::string& text) {
  const auto continues = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; };
  while (!text.empty() && continues(text.back())) text.pop_back();
  if (!text.empty()) text.pop_back();
}

class KeyHandler {
 public:
  KeyHandler(const Pod& pod, const std::vector<ListRow>& rows, ScreenState& state)
      : pod_(pod), rows_(rows), state_(state) {}

  KeyEffect handle(const Key& key) {
    state_.message.clear();
    if (state_.page == ScreenState::Page::pod) keep_cursor(rows_, state_);
    if (state_.typed_filter) {
      type(key, *state_.typed_filter);
      return {};
    }
    if (key.kind == Key::Kind::character) return character(key.text);
    using Kind = Key::Kind;
    if (key.kind == Kind::up) move(-1);
    if (key.kind == Kind::down) move(1);
    if (key.kind == Kind::left) move_in_field(-1);
    if (key.kind == Kind::right) move_in_field(1);
    if (key.kind == Kind::page_up) move(-page());
    if (key.kind == Kind::page_down) move(page());
    if (key.kind == Kind::home) move(-kFar);
    if (key.kind == Kind::home) state_.is_moved = false;
    if (key.kind == Kind::end) move(kFar);
    if (key.kind == Kind::enter) open();
    if (key.kind == Kind::escape) close();
    if (key.kind == Kind::tab) state_.is_in_field = !state_.is_in_field;
    if (key.kind == Kind::tab) state_.is_moved = true;
    return {};
  }

 private:
  static constexpr std::ptrdiff_t kFar = 1'000'000;

  KeyEffect character(const std::string& text) {
    if (text == "q") return {.quits = true};
    if (text == "+") return {.interval_step = -1};
    if (text == "-") return {.interval_step = 1};
    if (text == "?" || text == "h") {
      state_.page = state_.page == ScreenState::Page::help ? ScreenState::Page::pod : ScreenState::Page::help;
      state_.first_line = 0;
    }
    if (text == "j") move(1);
    if (text == "k") move(-1);
    if (text == "n") move_to_odd(1);
    if (text == "p") move_to_odd(-1);
    if (text == "f") state_.is_folded = !state_.is_folded;
    if (text == "s") sort();
    if (text == "m") state_.figure = next_figure(pod_, shown_figure(pod_, state_));
    if (text == "/") {
      state_.typed_filter = state_.filter.text();
      state_.page = ScreenState::Page::pod;
    }
    if (text == "r") filter_run();
    if (text == "K") state_.message = "K";
    if (text == " ") hold();
    if (text == "f" || text == "s" || text == "m" || text == "r") change_held();
    return {};
  }

  void hold() {
    if (state_.held_rows)
      state_.held_rows.reset();
    else
      state_.held_rows = rows_;
  }
  /// Other rows were asked for: these stay then.
  void change_held() {
    if (!state_.held_rows) return;
    state_.held_rows.reset();
    state_.held_rows = list_rows(pod_, state_);
  }

  void type(const Key& key, std::string& typed) {
    if (key.kind == Key::Kind::character && typed.size() < 200) {
      typed += key.text;
    } else if (key.kind == Key::Kind::backspace) {
      remove_last_character(typed);
    } else if (key.kind == Key::Kind::escape) {
      state_.typed_filter.reset();
    } else if (key.kind == Key::Kind::enter) {
      filter(typed);
    }
  }

  void filter(const std::string& typed) {
    try {
      state_.filter = HostFilter(typed);
      state_.first_row = 0;
      state_.typed_filter.reset();
      change_held();
    } catch (const UsageError& error) {
      state_.message = output::escape_controls(error.what());
    }
  }

  /// Only the run of the host at the cursor, or again all.
  void filter_run() {
    const std::string& run = pod_.rows()[state_.cursor].run;
    const bool is_filtered = state_.filter.text().starts_with("run=");
    const std::size_t blank = run.find(' ');
    if (!is_filtered && blank == run.npos) {
      state_.message = "no run is known on this host";
      return;
    }
    state_.filter = is_filtered ? HostFilter() : HostFilter("run=" + run.substr(blank + 1));
    state_.first_row = 0;
  }

  void sort() {
    using Order = ScreenState::Order;
    state_.order = state_.order == Order::odd      ? Order::number
                   : state_.order == Order::number ? Order::figure
                                                   : Order::odd;
    state_.first_row = 0;
  }

  void open() {
    if (state_.page == ScreenState::Page::help) return close();
    if (state_.page == ScreenState::Page::pod && !rows_.empty() && !state_.is_in_field)
      state_.cursor = shown_host(rows_[row_of(rows_, state_.cursor)]);
    state_.page = ScreenState::Page::host;
    state_.first_line = 0;
    state_.is_moved = true;
  }
  void close() {
    if (state_.page != ScreenState::Page::pod) {
      state_.page = ScreenState::Page::pod;
    } else if (state_.is_in_field) {
      state_.is_in_field = false;
    } else if (!state_.filter.is_empty()) {
      state_.filter = HostFilter();
      change_held();
    }
  }

  std::ptrdiff_t page() const {
    return static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, state_.rows_shown));
  }
  std::size_t shown_host(const ListRow& row) const {
    return row.has(state_.cursor) ? state_.cursor : row.hosts.front();
  }

  void move(std::ptrdiff_t rows) {
    if (state_.page != ScreenState::Page::pod) {
      const auto line = static_cast<std::ptrdiff_t>(state_.first_line) + rows;
      state_.first_line = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, line));
      return;
    }
    if (state_.is_in_field) return move_in_field(rows);
    if (rows_.empty()) return;
    state_.is_moved = true;
    const auto last = static_cast<std::ptrdiff_t>(rows_.size()) - 1;
    const auto row = static_cast<std::ptrdiff_t>(row_of(rows_, state_.cursor)) + rows;
    state_.cursor = rows_[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(row, 0, last))].hosts.front();
  }
  void move_in_field(std::ptrdiff_t hosts) {
    const auto last = static_cast<std::ptrdiff_t>(pod_.rows().size()) - 1;
    state_.cursor = static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(state_.cursor) + hosts, 0, last));
  }
  void move_to_odd(std::ptrdiff_t step) {
    std::vector<std::size_t> odd = odd_in_order(pod_);
    std::erase_if(odd, [&](std::size_t host) { return !state_.filter.accepts(pod_, host); });
    if (odd.empty()) {
      state_.message = "no host is odd";
      return;
    }
    const auto count = static_cast<std::ptrdiff_t>(odd.size());
    const auto found = std::ranges::find(odd, state_.cursor) - odd.begin();
    const std::ptrdiff_t from = found == count ? (step > 0 ? -1 : 0) : found;
    state_.cursor = odd[static_cast<std::size_t>((from + step + count) % count)];
    state_.is_moved = true;
    state_.first_line = 0;
  }

  const Pod& pod_;
  const std::vector<ListRow>& rows_;
  ScreenState& state_;
};

}  // namespace

bool ListRow::has(std::size_t host) const { return std::ranges::find(hosts, host) != hosts.end(); }

std::vector<ListRow> list_rows(const Pod& pod, const ScreenState& state) {
  if (state.held_rows) return *state.held_rows;
  std::vector<ListRow> rows;
  const auto add_alike = [&](std::vector<std::size_t> hosts) {
    if (!state.is_folded || hosts.size() < 2) return add_each(rows, hosts);
    rows.push_back({.hosts = std::move(hosts), .is_folded = true});
  };
  std::vector<std::size_t> hosts(pod.rows().size());
  std::iota(hosts.begin(), hosts.end(), 0);
  if (state.order == ScreenState::Order::odd) {
    add_odd(rows, pod, state.is_folded);
    for (std::vector<std::size_t>& alike : fold_alike(pod)) add_alike(std::move(alike));
    std::erase_if(hosts, [&](std::size_t host) { return pod.rows()[host].state != Presence::waiting; });
    add_alike(std::move(hosts));
  } else {
    const auto value = [&](std::size_t host) { return at(pod.rows()[host].figures, state.figure); };
    if (state.order == ScreenState::Order::figure)
      std::ranges::stable_sort(hosts, std::ranges::greater(), value);
    add_each(rows, hosts);
  }
  if (state.filter.is_empty()) return rows;
  for (ListRow& row : rows) {
    std::erase_if(row.hosts, [&](std::size_t host) { return !state.filter.accepts(pod, host); });
    row.is_folded = row.hosts.size() > 1;
  }
  std::erase_if(rows, [](const ListRow& row) { return row.hosts.empty(); });
  return rows;
}

void keep_cursor(const std::vector<ListRow>& rows, ScreenState& state) {
  if (rows.empty() || state.is_in_field) return;
  const bool is_shown = std::ranges::any_of(rows, [&](const ListRow& row) { return row.has(state.cursor); });
  if (!state.is_moved)
    state.cursor = rows.front().hosts.front();
  else if (!is_shown)
    state.cursor = rows[std::min(state.first_row, rows.size() - 1)].hosts.front();
}

KeyEffect handle_key(const Key& key, const Pod& pod, const std::vector<ListRow>& rows, ScreenState& state) {
  return KeyHandler(pod, rows, state).handle(key);
}

}  // namespace podrun::top
