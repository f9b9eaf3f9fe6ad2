// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/devices/device_holders.hpp"

// Which of the processes that have an accelerator open `podrun kill` stops. Pure.
namespace podrun::kill {

/// The user's choice. Each member that is set narrows it, except `all_users`, `runs` and `jobs`.
struct KillRequest {
  std::vector<std::uint64_t> pids = {};
  std::string match = {};  ///< a part of the command; empty: any
  std::string user = {};   ///< a name or uid; empty: podrun's own on the host, or any with all_users
  std::chrono::seconds older_than{0};
  bool all_users = false;
  std::vector<std::string> runs =
      {};  ///< beginnings of ids: podrun runs to stop although they have not ended
  std::vector<std::string> jobs = {};  ///< names: jobs to stop although they run
};

struct Choice {
  devices::DeviceHolder holder;
  std::string why_kept = {};  ///< in words; empty: to be stopped
  bool is_service = false;    ///< a daemon or monitor that shares the accelerators
  bool is_monitor =
      false;  ///< a kept one that a user may have started: the accelerators are free all the same
};

/// One choice for each holder. `called`: begins a command for the same hosts, in the reasons.
std::vector<Choice> choose(const devices::DeviceHolders& list, const KillRequest& request,
                           std::string_view called = "podrun");

/// The command that stops the container of this cgroup: `docker stop 3f2a9c1b2d4e`. Empty without a
/// container.
std::string container_command(std::string_view cgroup);

}  // namespace podrun::kill
