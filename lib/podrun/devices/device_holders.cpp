// SPDX-License-Identifier: Apache-2.0
// Reads the lines of a host. It may send anything: unknown or broken lines are ignored, and everything has a
// limit.
#include "podrun/devices/device_holders.hpp"

#include <algorithm>

#include "podrun/base/text.hpp"

namespace podrun::devices {
namespace {

constexpr std::size_t kMaxText = 512;   ///< bytes of one value
constexpr std::size_t kMaxList = 1024;  ///< entries

std::string limited(std::string_view text) { return std::string(text.substr(0, kMaxText)); }

void append(std::vector<std::string>& list, std::string_view text) {
  if (list.size() < kMaxList) list.push_back(limited(text));
}

/// `PID START UID AGE STATE NAME`
std::optional<DeviceHolder> parse_process(std::string_view line) {
  const auto pid = to_number(take_part(line, ' '));
  const auto start = to_number(take_part(line, ' '));
  const auto uid = to_number(take_part(line, ' '));
  const auto age = to_number(take_part(line, ' '));
  const std::string_view state = take_part(line, ' ');
  constexpr std::uint64_t kMostSeconds = 1ULL << 40;
  if (!pid || *pid == 0 || !start || !uid || !age || *age > kMostSeconds || state.size() != 1)
    return std::nullopt;
  return DeviceHolder{.pid = *pid,
                      .start = *start,
                      .uid = *uid,
                      .age = std::chrono::seconds(*age),
                      .state = state.front(),
                      .name = limited(line)};
}

DeviceHolder* find(DeviceHolders& list, std::uint64_t pid) {
  const auto found = std::ranges::find(list.holders, pid, &DeviceHolder::pid);
  return found == list.holders.end() ? nullptr : &*found;
}

/// `KEY PID VALUE`, for a process that was listed before.
void read_fact(DeviceHolders& list, std::string_view key, std::string_view rest) {
  const auto pid = to_number(take_part(rest, ' '));
  DeviceHolder* const holder = pid ? find(list, *pid) : nullptr;
  if (!holder) return;
  if (key == "holds") {
    if (std::find(holder->devices.begin(), holder->devices.end(), rest) == holder->devices.end())
      append(holder->devices, rest);
  } else if (key == "owner") {
    holder->user = limited(rest);
  } else if (key == "mark") {
    holder->mark = limited(rest);
  } else if (key == "live") {
    holder->run_lives = true;
  } else if (key == "cgroup") {
    holder->cgroup = limited(rest);
  } else if (key == "command") {
    holder->command = limited(rest);
  }
}

/// `PID NAME`; a process may have got KILL more than once.
void read_killed(DeviceHolders& list, std::string_view rest) {
  const auto pid = to_number(take_part(rest, ' '));
  if (!pid || list.killed.size() >= kMaxList) return;
  if (std::ranges::find(list.killed, *pid, &KilledProcess::pid) == list.killed.end())
    list.killed.push_back({*pid, limited(rest)});
}

}  // namespace

void read_line(DeviceHolders& list, std::string_view line) {
  std::string_view rest = line;
  const std::string_view key = take_part(rest, ' ');
  if (key == "end") {
    list.is_complete = true;
  } else if (key == "sees") {
    list.sees_all = rest == "all";
  } else if (key == "uid") {
    list.uid = to_number(rest).value_or(0);
  } else if (key == "own_cgroup") {
    list.cgroup = limited(rest);
  } else if (key == "locked") {
    list.kept_lock = limited(rest);
  } else if (key == "device") {
    append(list.devices, rest);
  } else if (key == "mark_of_host") {
    append(list.marks, rest);
  } else if (key == "unlocked") {
    append(list.removed_locks, rest);
  } else if (key == "above") {
    if (const auto pid = to_number(rest); pid && list.above.size() < kMaxList) list.above.push_back(*pid);
  } else if (key == "killed") {
    read_killed(list, rest);
  } else if (key == "process") {
    const std::optional<DeviceHolder> holder = parse_process(rest);
    if (holder && !find(list, holder->pid) && list.holders.size() < kMaxList) list.holders.push_back(*holder);
  } else {
    read_fact(list, key, rest);
  }
}

DeviceHolders parse_device_holders(std::string_view output, std::string_view begin) {
  DeviceHolders list;
  bool begun = false;
  for (const std::string_view line : split(output, '\n')) {
    if (begun) read_line(list, line);
    begun = begun || line == begin;
  }
  return list;
}

std::optional<std::size_t> device_number(std::string_view device) {
  return to_number(device.substr(device.find_last_not_of("0123456789") + 1));
}

}  // namespace podrun::devices
