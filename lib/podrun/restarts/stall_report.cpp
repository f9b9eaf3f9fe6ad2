// SPDX-License-Identifier: Apache-2.0
#include "podrun/restarts/stall_report.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"

namespace podrun::restarts {
namespace {

constexpr std::size_t kLeastLines = 8;  ///< of a group

/// Words with a digit differ from host to host: pids, addresses, times.
std::string without_numbers(std::string_view text) {
  const auto is_alnum = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  std::string key;
  while (!text.empty()) {
    const auto word = std::find_if_not(text.begin(), text.end(), is_alnum);
    const std::string_view taken = text.substr(0, static_cast<std::size_t>(word - text.begin()));
    key += std::any_of(taken.begin(), taken.end(), is_digit) ? "0" : taken;
    text.remove_prefix(taken.size());
    if (text.empty()) break;
    key += text.front();
    text.remove_prefix(1);
  }
  return key;
}

/// A process is in such a state at one moment, and in another one soon: whether it runs (proc(5), stat), and
/// py-spy's words for its threads.
std::string without_states(std::string_view line) {
  std::string text(line);
  constexpr std::string_view kState = ", state ";
  if (const std::size_t at = text.find(kState); text.starts_with("== pid ") && at != npos)
    text.erase(at, kState.size() + 1);
  for (const std::string_view state : {" (idle)", " (active)", " (active+gil)"}) {
    if (const std::size_t at = text.find(state); at != npos) text.erase(at, state.size());
  }
  return text;
}

/// The lines without the registers of /proc/PID/syscall, and without a /proc/PID/wchan of 0: the process
/// runs.
std::vector<std::string_view> telling_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  bool is_syscall = false;
  for (const std::string_view line : split(trim_space(text), '\n')) {
    if (std::exchange(is_syscall, line == "-- syscall") && !line.starts_with("--") && !line.starts_with("=="))
      continue;
    if (is_syscall || line.empty()) continue;
    const bool is_nowhere = line == "0" && !lines.empty() && lines.back() == "-- wchan";
    if (is_nowhere)
      lines.pop_back();
    else
      lines.push_back(line);
  }
  return lines;
}

std::string key_of(std::string_view text) {
  std::string key;
  for (const std::string_view line : telling_lines(text)) key += without_numbers(without_states(line)) + '\n';
  return key;
}

struct Group {
  std::string_view text;  ///< of its first host
  std::vector<std::size_t> hosts;
};

std::vector<Group> group(const std::vector<Captured>& captured) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> known;
  for (const Captured& each : captured) {
    const auto [place, is_new] = known.try_emplace(key_of(each.text), groups.size());
    if (is_new) groups.push_back({each.text, {}});
    groups[place->second].hosts.push_back(each.host);
  }
  std::ranges::stable_sort(groups, {}, [](const Group& each) { return each.hosts.size(); });
  return groups;
}

}  // namespace

std::vector<std::string> describe_captures(const std::vector<hosts::Host>& hosts,
                                           const std::vector<Captured>& captured, std::size_t most) {
  std::vector<std::string> shown;
  const std::vector<Group> groups = group(captured);
  const std::size_t share = std::max(kLeastLines, most / std::max<std::size_t>(groups.size(), 1));
  std::size_t others = 0;
  for (const Group& each : groups) {
    if (shown.size() > 2 * most) {
      ++others;
      continue;
    }
    shown.push_back(fmt::format("{} ({})", output::fold_hosts(hosts, each.hosts), each.hosts.size()));
    if (shown.size() > most) continue;
    const std::vector<std::string_view> lines = telling_lines(each.text);
    const std::size_t count = lines.size() > share ? share - 1 : lines.size();
    for (std::size_t i = 0; i < count; ++i) shown.push_back("  " + output::escape_controls(lines[i]));
    if (count < lines.size()) shown.push_back(fmt::format("  ({} more lines)", lines.size() - count));
  }
  if (others > 0) shown.push_back(fmt::format("({} more groups)", others));
  return shown;
}

}  // namespace podrun::restarts
