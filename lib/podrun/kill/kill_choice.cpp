// SPDX-License-Identifier: Apache-2.0
// Decides for each process that has an accelerator open whether it is stopped, and says why if it is not.
#include "podrun/kill/kill_choice.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/devices/watchers.hpp"
#include "podrun/supervisor/mark.hpp"

namespace podrun::kill {
namespace {

using devices::DeviceHolder;
using devices::DeviceHolders;

constexpr std::size_t kShortId = 12;  ///< digits of a container's id, as docker shows it
constexpr std::size_t kWholeId = 64;

/// Programs that serve accelerators to all users, or that start others; by the first 15 bytes of their names.
constexpr std::array<std::string_view, 12> kSystemServices = {
    "systemd",     "init",    "sshd",       "sshd-session", "dropbear", "tpu_runtime",
    "tpu-runtime", "dockerd", "containerd", "crio",         "conmon",   "kubelet"};
/// Services that users may start too.
constexpr std::array<std::string_view, 2> kUserServices = {"raylet", "gcs_server"};

template <typename List, typename Value>
bool contains(const List& list, const Value& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool is_users_service(const DeviceHolder& holder) {
  return contains(kUserServices, holder.name) || devices::is_watcher(holder.name);
}

/// True for users of packages and of systemd's DynamicUser=. Not for nobody, as whom containers and sandboxes
/// run anything.
bool is_system_account(std::uint64_t uid) {
  constexpr std::uint64_t kFirstPerson = 1000;
  constexpr std::uint64_t kFirstDynamic = 61184;
  constexpr std::uint64_t kLastDynamic = 65519;
  return uid < kFirstPerson || (uid >= kFirstDynamic && uid <= kLastDynamic);
}

/// Any process can take such a name, so a person's process is not a service, nor is podrun's own user's
/// unless that is root.
bool is_service(const DeviceHolder& holder, const DeviceHolders& list) {
  if (holder.pid == 1) return true;
  if (!is_system_account(holder.uid) || (holder.uid == list.uid && holder.uid != 0)) return false;
  return contains(kSystemServices, holder.name) || is_users_service(holder) ||
         holder.name.starts_with("containerd-shim");
}

bool is_named(const std::string& run, const KillRequest& request) {
  return std::any_of(request.runs.begin(), request.runs.end(),
                     [&](const std::string& named) { return run.starts_with(named); });
}

/// Why the user's request does not cover this process; empty: it does.
std::string why_not_meant(const DeviceHolder& holder, const DeviceHolders& list, const KillRequest& request) {
  if (!request.pids.empty() && !contains(request.pids, holder.pid)) return "not named by --pid";
  if (holder.command.find(request.match) == std::string::npos) return "not matched by --match";
  if (holder.age < request.older_than) return "younger than --older-than";
  if (!request.user.empty()) {
    const bool is_theirs = holder.user == request.user || std::to_string(holder.uid) == request.user;
    return is_theirs ? "" : "not of --of-user";
  }
  if (!request.all_users && holder.uid != list.uid) return "of another user (--all-users stops it)";
  return {};
}

std::string why_kept(const DeviceHolder& holder, const DeviceHolders& list, const KillRequest& request,
                     std::string_view called) {
  if (contains(list.above, holder.pid)) return "among the ancestors of podrun's own shell";
  const std::string container = container_command(holder.cgroup);
  if (!container.empty() && container != container_command(list.own_cgroup))
    return fmt::format("in a container ({})", container);
  if (std::string why = why_not_meant(holder, list, request); !why.empty()) return why;
  if (is_users_service(holder) && !contains(request.pids, holder.pid))
    return fmt::format("named like a service (--pid {} stops it)", holder.pid);
  const std::string run = supervisor::run_of(holder.mark);
  if (const std::string job = supervisor::job_of(holder.mark); holder.run_lives && !job.empty()) {
    if (!contains(request.jobs, job) && !is_named(run, request))
      return fmt::format("of the job {0} ({1} stop {0}, or --job {0}, stops it)", job, called);
  } else if (holder.run_lives && !run.empty() && !is_named(run, request)) {
    return fmt::format("of a podrun run that goes on (--run {} stops it)", run.substr(0, 8));
  }
  if (holder.uid != list.uid && !list.sees_all) return "of another user, and sudo -n fails there";
  return {};
}

/// The last whole id, in hexadecimal digits, in the path.
std::string_view find_id(std::string_view cgroup) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string_view rest = cgroup;
  while (rest.size() >= kWholeId) {
    const std::size_t last = rest.find_last_of(kHex);
    if (last == rest.npos) break;
    const std::size_t before = rest.find_last_not_of(kHex, last);
    const std::size_t begin = before == rest.npos ? 0 : before + 1;
    if (last + 1 - begin == kWholeId) return rest.substr(begin, kWholeId);
    rest = rest.substr(0, begin);
  }
  return {};
}

}  // namespace

std::vector<Choice> choose(const devices::DeviceHolders& list, const KillRequest& request,
                           std::string_view called) {
  std::vector<Choice> choices;
  for (const DeviceHolder& holder : list.holders) {
    Choice& choice = choices.emplace_back(Choice{.holder = holder});
    choice.is_service = is_service(holder, list);
    choice.why_kept = choice.is_service ? "a service of this host" : why_kept(holder, list, request, called);
    choice.is_monitor = !choice.why_kept.empty() && devices::is_watcher(holder.name);
  }
  return choices;
}

std::string container_command(std::string_view cgroup) {
  const std::string_view id = find_id(cgroup).substr(0, kShortId);
  if (id.empty()) return {};
  if (cgroup.find("libpod") != cgroup.npos) return fmt::format("podman stop {}", id);
  // Kubernetes, by whichever runtime
  for (const std::string_view word : {"kubepods", "containerd", "crio"}) {
    if (cgroup.find(word) != cgroup.npos) return fmt::format("crictl stop {}", id);
  }
  return fmt::format("docker stop {}", id);
}

}  // namespace podrun::kill
