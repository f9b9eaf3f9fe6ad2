// SPDX-License-Identifier: Apache-2.0
// The words of `podrun kill` between TERM and the end of its second run.
#include "podrun/kill/kill_wait.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/worker_numbers.hpp"
#include "podrun/output/escape.hpp"

namespace podrun::kill {
namespace {

using State = run::RunPolicy::State;

/// Processes that a host still waits for. podrun learns only at the end of a host which of several have
/// closed their accelerators.
struct Awaited {
  std::vector<std::size_t> workers = {};
  std::size_t count = 0;
  std::uint64_t pid = 0;  ///< of the first one

  void add(std::size_t worker, std::uint64_t its_pid) {
    if (workers.empty() || workers.back() != worker) workers.push_back(worker);
    if (++count == 1) pid = its_pid;
  }
  /// `pid 2032 (python3) on [13]`
  std::string who(const std::string& name) const {
    const std::string what =
        count == 1 ? fmt::format("pid {}", pid)
                   : fmt::format("{}{} processes", count > workers.size() ? "up to " : "", count);
    return fmt::format("{}{} on [{}]", what, name.empty() ? "" : fmt::format(" ({})", name),
                       fold_workers(workers));
  }
};

/// The name, and the accelerators in words.
using Kind = std::pair<std::string, std::string>;

Kind kind_of(const devices::DeviceHolder& holder) {
  return {output::escape_controls(holder.name), holder.devices.size() == 1
                                                    ? output::escape_controls(holder.devices.front())
                                                    : fmt::format("{} accelerators", holder.devices.size())};
}

}  // namespace

std::optional<report::OwnWords> describe_wait(const std::vector<ListedHost>& listed,
                                              std::chrono::seconds grace, const run::Status& status,
                                              run::TimePoint now, std::string_view separator) {
  std::map<Kind, Awaited> kinds;
  Awaited all;
  run::TimePoint kill_at = run::TimePoint::max();
  for (std::size_t i = 0; i < status.hosts.size(); ++i) {
    const run::HostStatus& host = status.hosts[i];
    if (host.state < State::running) return std::nullopt;
    if (host.state != State::running && host.state != State::stopping) continue;
    for (const Choice& choice : listed[i].choices) {
      if (!choice.why_kept.empty()) continue;
      kinds[kind_of(choice.holder)].add(host.host->worker, choice.holder.pid);
      all.add(host.host->worker, choice.holder.pid);
      kill_at = std::min(kill_at, host.since + grace);  // until its end the script prints nothing
    }
  }
  if (kinds.empty()) return std::nullopt;
  const std::string kill = report::describe_kill(kill_at, now);
  report::OwnWords words;
  for (const auto& [kind, awaited] : kinds) {
    words.list.push_back(fmt::format("podrun: waiting for {} to close {}{}{}", awaited.who(kind.first),
                                     kind.second, separator, kill));
  }
  const bool alike = kinds.size() == 1;
  const std::string who = all.who(alike ? kinds.begin()->first.first : "");
  words.line = {{fmt::format("waiting for {} to close {}", who,
                             alike ? kinds.begin()->first.second : "their accelerators"),
                 "waiting for " + who},
                {kill}};
  words.interrupt_line = kill_at > now ? fmt::format("podrun: interrupted: no KILL for {}", who)
                                       : fmt::format("podrun: interrupted: not waiting for {}", who);
  if (status.presses > 0) {  // podrun stops its script, not the processes
    words.line = {};
    words.list.clear();
  }
  return words;
}

}  // namespace podrun::kill
