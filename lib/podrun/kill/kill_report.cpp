// SPDX-License-Identifier: Apache-2.0
// The output of `podrun kill`: the processes that have accelerators open, and which of them were stopped.
#include "podrun/kill/kill_report.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "podrun/base/text.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"
#include "podrun/report/json_events.hpp"
#include "podrun/report/line_words.hpp"
#include "podrun/report/summary.hpp"
#include "podrun/supervisor/mark.hpp"

namespace podrun::kill {
namespace {

using Json = nlohmann::ordered_json;
using devices::DeviceHolder;
using std::chrono::seconds;

constexpr std::size_t kCommandCells = 24;  ///< the least room for a command
constexpr std::size_t kShownGroups = 8;    ///< further ones are only counted

std::string command_of(const DeviceHolder& holder) {
  const std::string& text = holder.command.empty() ? holder.name : holder.command;
  return output::escape_controls(trim_space(text));
}

/// Equal processes.
struct Alike {
  std::vector<std::size_t> hosts = {};
  std::size_t count = 0;
  std::uint64_t pid = 0;  ///< of the first one
  const DeviceHolder* first = nullptr;
  seconds youngest = seconds::max();
  seconds oldest{0};

  void add(std::size_t host, std::uint64_t its_pid) {
    if (hosts.empty() || hosts.back() != host) hosts.push_back(host);
    if (++count == 1) pid = its_pid;
  }
  void add(std::size_t host, const DeviceHolder& holder) {
    add(host, holder.pid);
    if (!first) first = &holder;
    youngest = std::min(youngest, holder.age);
    oldest = std::max(oldest, holder.age);
  }
  /// `[0-3] 8 processes`
  std::string who(const std::vector<hosts::Host>& all) const {
    return fmt::format("{} {}", output::fold_hosts(all, hosts),
                       count == 1 ? fmt::format("pid {}", pid) : fmt::format("{} processes", count));
  }
};

/// `[0-3] 8 processes of ada · 3 h · python train.py`
std::string describe(const Alike& alike, const std::vector<hosts::Host>& hosts, std::string_view separator) {
  const std::string age = report::describe_ages(alike.youngest, alike.oldest);
  const std::string who =
      fmt::format("{} of {}", alike.who(hosts), output::escape_controls(alike.first->user));
  return report::add_command(join({who, age, ""}, separator), command_of(*alike.first), kCommandCells);
}

/// Processes by the words that follow them.
using Groups = std::map<std::string, Alike>;

/// `[31] pid 4242 of another user, [0-3] 4 processes (D state: reboot needed)`
std::string describe(const Groups& groups, const std::vector<hosts::Host>& hosts) {
  std::vector<std::string> parts;
  for (const auto& [words, alike] : groups) {
    if (parts.size() == kShownGroups) {
      parts.push_back(fmt::format("and {} more", groups.size() - kShownGroups));
      break;
    }
    parts.push_back(alike.who(hosts) + words);
  }
  return join(parts, ", ");
}

/// True for a process that leaves its accelerators to others.
bool is_shared(const Choice& choice) { return choice.is_service || choice.is_monitor; }

/// Why a process still has an accelerator open.
std::string describe_stay(const Choice& choice) {
  if (!choice.why_kept.empty()) return ' ' + output::escape_controls(choice.why_kept);
  if (choice.holder.state == 'D') return " (D state: reboot needed)";
  return fmt::format(" (still there: {})", report::cut(command_of(choice.holder), kCommandCells));
}

std::string describe_name(const std::string& name) {
  return name.empty() ? "" : fmt::format(" ({})", output::escape_controls(name));
}

const ListedHost* find(const std::vector<ListedHost>& listed, std::size_t host) {
  const auto found = std::ranges::find(listed, host, &ListedHost::host);
  return found == listed.end() ? nullptr : &*found;
}

std::string describe_busy(const std::vector<hosts::Host>& hosts, const std::vector<ListedHost>& after) {
  Groups groups;
  for (const ListedHost& each : after) {
    for (const Choice& choice : each.choices) {
      if (!is_shared(choice)) groups[describe_stay(choice)].add(each.host, choice.holder);
    }
  }
  return describe(groups, hosts);
}

std::string describe_killed(const std::vector<hosts::Host>& hosts, const std::vector<ListedHost>& after) {
  Groups groups;
  for (const ListedHost& each : after) {
    for (const auto& killed : each.list.killed) groups[describe_name(killed.name)].add(each.host, killed.pid);
  }
  return describe(groups, hosts);
}

/// The processes to be stopped on hosts that have not said how that ended.
std::string describe_unknown(const std::vector<hosts::Host>& hosts, const std::vector<ListedHost>& before,
                             const std::vector<ListedHost>& after) {
  Groups groups;
  for (const ListedHost& each : before) {
    if (find(after, each.host)) continue;
    for (const Choice& choice : each.choices) {
      if (choice.why_kept.empty()) groups[describe_name(choice.holder.name)].add(each.host, choice.holder);
    }
  }
  return describe(groups, hosts);
}

Json process_of(const Choice& choice) {
  const DeviceHolder& holder = choice.holder;
  Json json{{"pid", holder.pid},
            {"user", holder.user},
            {"age_seconds", holder.age.count()},
            {"state", std::string(1, holder.state)},
            {"name", holder.name},
            {"command", holder.command},
            {"devices", holder.devices}};
  if (const std::string run = supervisor::run_of(holder.mark); !run.empty()) json["run"] = run;
  if (const std::string job = supervisor::job_of(holder.mark); !job.empty()) json["job"] = job;
  json["service"] = choice.is_service;
  if (!choice.why_kept.empty()) json["kept"] = choice.why_kept;
  return json;
}

Json processes_of(const ListedHost& listed) {
  Json json = Json::array();
  for (const Choice& choice : listed.choices) json.push_back(process_of(choice));
  return json;
}

/// Whether a process that was to be stopped is still there.
bool has_victim_of(const ListedHost& before, const ListedHost& now) {
  return std::ranges::any_of(before.choices, [&](const Choice& choice) {
    return choice.why_kept.empty() && std::ranges::any_of(now.choices, [&](const Choice& left) {
             return left.holder.pid == choice.holder.pid && left.holder.start == choice.holder.start;
           });
  });
}

}  // namespace

bool ListedHost::has_victims() const {
  return std::ranges::any_of(choices, [](const Choice& choice) { return choice.why_kept.empty(); });
}

bool is_busy(const ListedHost& listed) { return !std::ranges::all_of(listed.choices, is_shared); }

std::vector<std::string> describe_choices(const std::vector<hosts::Host>& hosts,
                                          const std::vector<ListedHost>& listed, std::string_view separator) {
  // The processes to be stopped have no reason to stay, so they come first.
  std::map<std::tuple<std::string, std::string, std::string>, Alike> groups;
  for (const ListedHost& each : listed) {
    for (const Choice& choice : each.choices)
      groups[{choice.why_kept, choice.holder.user, command_of(choice.holder)}].add(each.host, choice.holder);
  }
  std::vector<std::string> lines;
  for (const auto& [key, alike] : groups) {
    const std::string& why_kept = std::get<0>(key);
    std::string line = describe(alike, hosts, separator);
    if (!why_kept.empty()) line += fmt::format("{}stays: {}", separator, output::escape_controls(why_kept));
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string describe_result(const std::vector<hosts::Host>& hosts, const std::vector<ListedHost>& before,
                            const std::vector<ListedHost>& after, std::string_view separator) {
  std::size_t meant = 0;
  std::size_t freed = 0;
  std::size_t stopped = 0;  // all that was meant; others may keep the host busy
  std::size_t locks = 0;
  for (const ListedHost& each : before) {
    if (!each.has_victims()) continue;
    ++meant;
    const ListedHost* now = find(after, each.host);
    if (now && !is_busy(*now)) ++freed;
    if (now && !has_victim_of(each, *now)) ++stopped;
  }
  std::vector<std::string> parts;
  const std::string busy = describe_busy(hosts, after);
  if (meant > 0) {
    const std::string of_all = fmt::format("/{} host{}", meant, meant == 1 ? "" : "s");
    parts.push_back(freed < stopped ? fmt::format("stopped on {}{}, freed {}", stopped, of_all, freed)
                                    : fmt::format("freed {}{}", freed, of_all));
  } else if (busy.empty() && !after.empty()) {
    parts.push_back(fmt::format("no process to stop on {}", count_hosts(after.size())));
  }
  const auto add = [&parts](std::string_view begin, const std::string& processes) {
    if (!processes.empty()) parts.push_back(fmt::format("{}: {}", begin, processes));
  };
  add("needed KILL", describe_killed(hosts, after));
  add("busy", busy);
  add("not seen to end", describe_unknown(hosts, before, after));
  for (const ListedHost& each : after) {
    locks += each.list.removed_locks.size();
    if (!each.list.kept_lock.empty()) {
      parts.push_back(fmt::format("{} {}", output::fold_hosts(hosts, {&each.host, 1}),
                                  output::escape_controls(each.list.kept_lock)));
    }
  }
  if (locks > 0) parts.push_back(fmt::format("{} lock file{} removed", locks, locks == 1 ? "" : "s"));
  return join(parts, separator);
}

std::string kill_json(output::WallTime time, const std::vector<hosts::Host>& hosts,
                      const std::vector<run::HostOutcome>& outcomes, const std::vector<ListedHost>& before,
                      const std::vector<ListedHost>& after) {
  Json json{{"v", 1}, {"event", "kill"}, {"time", output::format_utc(time)}};
  json["hosts"] = Json::array();
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    const ListedHost* const first = find(before, host);
    const ListedHost* const last = find(after, host);
    Json each{{"worker", hosts[host].worker}, {"host", hosts[host].name}, {"answered", first != nullptr}};
    if (first) {
      each["sees_all_holders"] = first->list.sees_all;
      each["devices"] = first->list.devices;
      each["holders"] = processes_of(*first);
    } else {
      report::add_failure(each, outcomes[host]);
    }
    if (last) {
      each["free"] = !is_busy(*last);
      each["left"] = processes_of(*last);
      each["killed"] = Json::array();
      for (const auto& killed : last->list.killed)
        each["killed"].push_back({{"pid", killed.pid}, {"name", killed.name}});
      each["removed_locks"] = last->list.removed_locks;
      if (!last->list.kept_lock.empty()) each["kept_lock"] = last->list.kept_lock;
    } else if (first && !after.empty()) {
      report::add_failure(each, outcomes[host]);
    }
    json["hosts"].push_back(std::move(each));
  }
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace podrun::kill
