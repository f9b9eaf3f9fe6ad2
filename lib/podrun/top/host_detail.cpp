// SPDX-License-Identifier: Apache-2.0
// Reads the list of processes of one host.
#include "podrun/top/host_detail.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "podrun/base/text.hpp"

namespace podrun::top {
namespace {

constexpr std::size_t kMostProcesses = 4096;
constexpr std::size_t kMaxName = 64;

double to_seconds(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr double kMost = 1e12;
  return error == std::errc() && value >= 0 && value < kMost ? value : 0;
}

/// The words after the name, from the state on; the name may contain anything.
struct Stat {
  HostProcess process;
  std::uint64_t pages = 0;
};
std::optional<Stat> read_stat(std::string_view line) {
  const std::size_t open = line.find(" (");
  const std::size_t close = line.rfind(") ");
  if (open == line.npos || close == line.npos || close < open) return std::nullopt;
  const std::optional<std::size_t> pid = to_number(line.substr(0, open));
  if (!pid) return std::nullopt;
  const std::vector<std::string_view> words = split(line.substr(close + 2), ' ');
  constexpr std::size_t kUserTime = 11;
  constexpr std::size_t kSystemTime = 12;
  constexpr std::size_t kStart = 19;
  constexpr std::size_t kPages = 21;
  if (words.size() <= kPages + 1 || words[0].size() != 1 || words[0] < "A" || words[0] > "z")
    return std::nullopt;
  const auto number = [&](std::size_t word) { return to_number(words[word]).value_or(0); };
  return Stat{.process = {.pid = *pid,
                          .name = std::string(line.substr(open + 2, std::min(close - open - 2, kMaxName))),
                          .state = words[0].front(),
                          .ticks = number(kUserTime) + number(kSystemTime),
                          .start = number(kStart)},
              .pages = number(kPages)};
}

/// The lines, and those of one file `/proc/PID/stat:LINE` joined: a name may have a line end, after which
/// anything may follow, such as another pid.
std::vector<std::string> whole_lines(std::string_view text) {
  std::vector<std::string> lines;
  std::string_view last;
  for (std::string_view line : split(text, '\n')) {
    const std::size_t colon = line.starts_with("/proc/") ? line.find("/stat:") : line.npos;
    const std::string_view path = colon == line.npos ? "" : line.substr(0, colon);
    if (!path.empty()) line.remove_prefix(colon + std::string_view("/stat:").size());
    if (!path.empty() && path == last) {
      lines.back().append("\n").append(line);
    } else {
      lines.emplace_back(line);
    }
    last = path;
  }
  return lines;
}

/// A line of ls: the third word is the owner, the last one /proc/PID.
std::optional<std::pair<std::uint64_t, std::string>> read_owner(std::string_view line) {
  const std::size_t path = line.rfind("/proc/");
  if (path == line.npos) return std::nullopt;
  const std::optional<std::size_t> pid = to_number(line.substr(path + 6));
  take_word(line);
  take_word(line);
  const std::string_view owner = take_word(line).substr(0, kMaxName);
  if (!pid || owner.empty()) return std::nullopt;
  return std::pair<std::uint64_t, std::string>{*pid, owner};
}

/// CPU time and age, in seconds of the host's clock.
void count(HostProcess& process, const HostProcess* before, double now, double passed, double ticks) {
  process.age = std::max(0.0, now - static_cast<double>(process.start) / ticks);
  if (!before || passed <= 0 || before->start != process.start || before->ticks > process.ticks) return;
  constexpr double kPercent = 100;
  process.cpu = kPercent * static_cast<double>(process.ticks - before->ticks) / ticks / passed;
}

}  // namespace

HostDetail read_detail(std::size_t host, std::string_view text, const HostDetail& before) {
  HostDetail detail{.host = host};
  std::map<std::uint64_t, std::string> owners;
  std::vector<Stat> stats;
  double ticks = 100;
  double page = 4096;
  for (const std::string& line : whole_lines(text)) {
    if (line.starts_with("uptime ") && detail.at == 0) {
      const std::vector<std::string_view> words = split(line, ' ');
      if (words.size() < 4) continue;
      detail.at = to_seconds(words[1]);
      ticks = std::max(1.0, to_seconds(words[2]));
      page = std::max(1.0, to_seconds(words[3]));
    } else if (auto stat = read_stat(line); stat && stats.size() < kMostProcesses) {
      stats.push_back(std::move(*stat));
    } else if (auto owner = read_owner(line)) {
      owners.insert(std::move(*owner));
    }
  }
  std::map<std::uint64_t, const HostProcess*> known;
  if (before.host == host && before.at > 0) {
    for (const HostProcess& process : before.processes) known.emplace(process.pid, &process);
  }
  for (Stat& stat : stats) {
    HostProcess& process = stat.process;
    process.memory = static_cast<std::uint64_t>(
        static_cast<double>(std::min<std::uint64_t>(stat.pages, 1ULL << 40U)) * page);
    if (const auto owner = owners.find(process.pid); owner != owners.end()) process.user = owner->second;
    const auto old = known.find(process.pid);
    count(process, old == known.end() ? nullptr : old->second, detail.at, detail.at - before.at, ticks);
    detail.processes.push_back(std::move(process));
  }
  std::ranges::stable_sort(detail.processes, [](const HostProcess& a, const HostProcess& b) {
    const double of_a = a.cpu.value_or(0);
    const double of_b = b.cpu.value_or(0);
    return of_a != of_b ? of_a > of_b : a.memory > b.memory;
  });
  return detail;
}

}  // namespace podrun::top
