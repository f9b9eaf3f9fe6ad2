// SPDX-License-Identifier: Apache-2.0
// Reads the lines of a host between two tries. A host may send anything: unknown or broken lines are ignored,
// and everything has a limit.
#include "podrun/restarts/settled_host.hpp"

#include <algorithm>

#include "podrun/base/text.hpp"
#include "podrun/devices/watchers.hpp"

namespace podrun::restarts {
namespace {

constexpr std::size_t kMostText = 64;  ///< bytes of an id or a name
constexpr std::size_t kMostObstacles = 64;

Obstacle& obstacle(SettledHost& host, std::uint64_t pid) {
  for (Obstacle& known : host.obstacles) {
    if (known.pid == pid) return known;
  }
  return host.obstacles.emplace_back(Obstacle{.pid = pid});
}

/// `left 4711 D python3`, `holder 4711 /dev/accel0 python3`: a name may have blanks.
void read_obstacle(SettledHost& host, std::string_view key, std::string_view rest) {
  const std::optional<std::size_t> pid = to_number(take_part(rest, ' '));
  if (!pid || host.obstacles.size() >= kMostObstacles) return;
  const std::string word(take_part(rest, ' ').substr(0, kMostText));
  if (key == "holder" && devices::is_watcher(rest)) return;
  Obstacle& found = obstacle(host, *pid);
  found.name = rest.substr(0, kMostText);
  if (key == "left") {
    found.is_left = true;
    if (!word.empty()) found.state = word.front();
  } else {
    found.device = word;
  }
}

}  // namespace

SettledHost parse_settled_host(std::string_view output, std::string_view nonce) {
  SettledHost host;
  const std::string begin = "podrun-settled " + std::string(nonce);
  bool has_begun = false;
  for (std::string_view line : split(output, '\n')) {
    if (!has_begun) {
      has_begun = line == begin;
      continue;
    }
    const std::string_view key = take_part(line, ' ');
    if (key == "boot") {
      host.boot = line.substr(0, kMostText);
    } else if (key == "machine") {
      host.machine = line.substr(0, kMostText);
    } else if (key == "oom" && line.starts_with("oom_kill ")) {
      host.oom_kills = to_number(line.substr(line.find(' ') + 1));
    } else if (key == "left" || key == "holder") {
      read_obstacle(host, key, line);
    } else if (key == "end" && line.empty()) {
      host.is_complete = true;
      break;
    }
  }
  return host;
}

void forget_sharers(SettledHost& now, const SettledHost& before) {
  const bool has_same_pids = now.boot == before.boot;
  std::erase_if(now.obstacles, [&](const Obstacle& holder) {
    const auto is_it = [&](const Obstacle& known) {
      return known.name == holder.name && known.device == holder.device &&
             (!has_same_pids || known.pid == holder.pid);
    };
    return !holder.is_left && std::any_of(before.obstacles.begin(), before.obstacles.end(), is_it);
  });
}

HostAfterTry compare(const SettledHost& before, const SettledHost& now) {
  using State = HostAfterTry::State;
  HostAfterTry host;
  if (!now.is_complete) return host;
  host.state = now.obstacles.empty() ? State::ready : State::busy;
  host.was_rebooted = before.is_complete && before.boot != now.boot;
  host.was_replaced = before.is_complete && before.machine != now.machine;
  host.ran_out_of_memory =
      !host.was_rebooted && before.oom_kills && now.oom_kills && *now.oom_kills > *before.oom_kills;
  return host;
}

}  // namespace podrun::restarts
