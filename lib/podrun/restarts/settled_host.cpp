// SPDX-License-Identifier: Apache-2.0
#include "podrun/restarts/settled_host.hpp"

#include <algorithm>

#include "podrun/base/answer.hpp"
#include "podrun/devices/watchers.hpp"
#include "podrun/restarts/scripts.hpp"

namespace podrun::restarts {
namespace {

constexpr std::size_t kMostText = 64;  ///< bytes of a name or a device: messages show them

/// The one with this pid.
Obstacle& obstacle(SettledHost& host, std::uint64_t pid, const std::string& name) {
  auto known = std::ranges::find(host.obstacles, pid, &Obstacle::pid);
  if (known == host.obstacles.end()) known = host.obstacles.insert(known, {.pid = pid});
  known->name = name.substr(0, kMostText);
  return *known;
}

}  // namespace

SettledHost parse_settled_host(std::string_view output, std::string_view nonce) {
  const auto answer = read_answer<SettleAnswer>(output, nonce);
  SettledHost host{.is_complete = answer.is_complete,
                   .boot = answer.boot,
                   .machine = answer.machine,
                   .oom_kills = answer.oom};
  for (const SettleAnswer::Left& left : answer.left) {
    Obstacle& found = obstacle(host, left.pid, left.name);
    found.is_left = true;
    found.state = left.state;
  }
  for (const SettleAnswer::Holder& holder : answer.holders) {
    if (!devices::is_watcher(holder.name))
      obstacle(host, holder.pid, holder.name).device = holder.device.substr(0, kMostText);
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
