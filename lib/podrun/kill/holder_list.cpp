// SPDX-License-Identifier: Apache-2.0
// Reads the lines of a host. It may send anything: unknown or broken lines are ignored, and everything has a
// limit.
#include "podrun/kill/holder_list.hpp"

#include <algorithm>
#include <optional>

#include "podrun/base/text.hpp"

namespace podrun::kill {
namespace {

constexpr std::size_t kMaxText = 512;   ///< bytes of one value
constexpr std::size_t kMaxList = 1024;  ///< entries

std::string limited(std::string_view text) { return std::string(text.substr(0, kMaxText)); }

void append(std::vector<std::string>& list, std::string_view text) {
  if (list.size() < kMaxList) list.push_back(limited(text));
}

/// `PID START UID AGE STATE NAME`
std::optional<Holder> parse_process(std::string_view line) {
  const auto pid = to_number(take_part(line, ' '));
  const auto start = to_number(take_part(line, ' '));
  const auto uid = to_number(take_part(line, ' '));
  const auto age = to_number(take_part(line, ' '));
  const std::string_view state = take_part(line, ' ');
  constexpr std::uint64_t kMostSeconds = 1ULL << 40;
  if (!pid || *pid == 0 || !start || !uid || !age || *age > kMostSeconds || state.size() != 1)
    return std::nullopt;
  return Holder{.pid = *pid,
                .start = *start,
                .uid = *uid,
                .age = std::chrono::seconds(*age),
                .state = state.front(),
                .name = limited(line)};
}

class Reader {
 public:
  HolderList read(std::string_view output, std::string_view nonce) {
    bool begun = false;
    for (const std::string_view line : split(output, '\n')) {
      std::string_view rest = line;
      const std::string_view key = take_part(rest, ' ');
      if (begun) {
        read_line(key, rest);
      } else {
        begun = key == "podrun-kill" && rest == nonce;
      }
    }
    return std::move(list_);
  }

 private:
  void read_line(std::string_view key, std::string_view rest) {
    if (key == "end") {
      list_.is_complete = true;
    } else if (key == "sees") {
      list_.sees_all = rest == "all";
    } else if (key == "uid") {
      list_.uid = to_number(rest).value_or(0);
    } else if (key == "own_cgroup") {
      list_.cgroup = limited(rest);
    } else if (key == "locked") {
      list_.kept_lock = limited(rest);
    } else if (key == "device") {
      append(list_.devices, rest);
    } else if (key == "unlocked") {
      append(list_.removed_locks, rest);
    } else if (key == "above") {
      if (const auto pid = to_number(rest); pid && list_.above.size() < kMaxList) list_.above.push_back(*pid);
    } else if (key == "killed") {
      read_killed(rest);
    } else if (key == "process") {
      const std::optional<Holder> holder = parse_process(rest);
      if (holder && !find(holder->pid) && list_.holders.size() < kMaxList) list_.holders.push_back(*holder);
    } else {
      read_fact(key, rest);
    }
  }

  /// `KEY PID VALUE`, for a process that was listed before.
  void read_fact(std::string_view key, std::string_view rest) {
    const auto pid = to_number(take_part(rest, ' '));
    Holder* const holder = pid ? find(*pid) : nullptr;
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
  void read_killed(std::string_view rest) {
    const auto pid = to_number(take_part(rest, ' '));
    if (!pid || list_.killed.size() >= kMaxList) return;
    if (std::ranges::find(list_.killed, *pid, &KilledProcess::pid) == list_.killed.end())
      list_.killed.push_back({*pid, limited(rest)});
  }

  Holder* find(std::uint64_t pid) {
    const auto found = std::ranges::find(list_.holders, pid, &Holder::pid);
    return found == list_.holders.end() ? nullptr : &*found;
  }

  HolderList list_;
};

}  // namespace

HolderList parse_holder_list(std::string_view output, std::string_view nonce) {
  return Reader().read(output, nonce);
}

}  // namespace podrun::kill
