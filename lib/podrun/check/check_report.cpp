// SPDX-License-Identifier: Apache-2.0
// Finds where the hosts agree, where they differ and what is wrong, from the facts each of them sent.
#include "podrun/check/check_report.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "podrun/base/long_duration.hpp"
#include "podrun/devices/accelerators.hpp"
#include "podrun/devices/watchers.hpp"
#include "podrun/report/summary.hpp"

namespace podrun::check {
namespace {

using std::chrono::microseconds;

/// A clock that is off by more, beyond what can be measured, is a problem.
constexpr std::chrono::seconds kClockLimit{1};
/// This many clocks can outvote ours.
constexpr std::size_t kClocks = 3;

/// True below 1 GiB, unless it is a small disk that is half empty, and below 20 GiB if that is less than 5 %.
bool is_nearly_full(const DiskSpace& disk) {
  if (disk.available < kGib) return disk.available < disk.size / 2;
  return disk.available < 20 * kGib && disk.available < disk.size / 20;
}

std::string describe_space(const DiskSpace& disk) {
  return fmt::format("{} of {} free", format_size_like(disk.available, disk.size), format_size(disk.size));
}

/// The file systems of a host, each once.
std::vector<DiskSpace> distinct_disks(const HostFacts& facts) {
  std::vector<DiskSpace> disks;
  for (const DiskSpace& disk : facts.disks) {
    if (std::ranges::find(disks, disk.mount, &DiskSpace::mount) == disks.end()) disks.push_back(disk);
  }
  return disks;
}

/// `disk /`, `disk /tmp`, `disk of the home directory`.
std::string disk_name(const DiskSpace& disk) {
  if (disk.role == "home") return "disk of the home directory";
  return disk.role == "tmp" ? "disk /tmp" : "disk /";
}

/// Adds the devices that the process has: where one file serves all of a kind, all of them.
void add_held(std::set<std::string>& held, const HeldDevice& holder, const std::vector<Device>& devices) {
  const bool is_one_device = std::ranges::find(devices, holder.device, &Device::path) != devices.end();
  for (const Device& device : devices) {
    if (is_one_device ? device.path == holder.device : device.kind == holder.kind) held.insert(device.path);
  }
}

class HostComparison {
 public:
  HostComparison(const std::vector<CheckedHost>& hosts, const CheckRequest& request, std::string_view called)
      : hosts_(hosts), request_(request), called_(called) {}

  CheckReport make() {
    set_reference_clock();
    for (std::size_t host = 0; host < hosts_.size(); ++host) find_problems(host);
    report_.items = compare_items(hosts_);
    add_clocks();
    add_memory();
    add_disks();
    note_jobs();
    note_hidden_holders();
    note_unseen_gpus();
    return std::move(report_);
  }

 private:
  void problem(std::size_t host, const std::string& what, const std::string& detail = {}) {
    auto same = std::ranges::find(report_.problems, what, &CheckProblem::what);
    if (same == report_.problems.end()) same = report_.problems.insert(same, {what, {}, {}});
    same->hosts.push_back(host);
    if (!detail.empty()) same->details.push_back(detail);
  }

  void find_problems(std::size_t host) {
    const CheckedHost& checked = hosts_[host];
    report_.answered += checked.facts.is_complete ? 1 : 0;
    find_missing_answer(host, checked);
    for (const std::string& path : checked.facts.hangs) problem(host, path + " does not answer");
    for (const std::string& path : checked.facts.read_only) problem(host, "cannot write to " + path);
    find_holders(host, checked.facts);
    if (is_clock_off(checked)) problem(host, "clock", describe_offset(checked.clock->ahead - reference_));
    for (const DiskSpace& disk : distinct_disks(checked.facts)) {
      if (is_nearly_full(disk)) problem(host, disk_name(disk), describe_space(disk));
    }
    find_memory(host, checked.facts);
    find_gpus(host, checked.facts);
    find_python(host, checked.facts);
    if (const std::string& error = checked.facts.value("git_error"); !error.empty())
      problem(host, fmt::format("git in {}: {}", request_.directory, error));
  }

  /// A host that could not be asked, or did not answer completely.
  void find_missing_answer(std::size_t host, const CheckedHost& checked) {
    if (checked.facts.is_complete || std::holds_alternative<run::NotStarted>(checked.outcome)) return;
    if (report::has_changed_key(checked.outcome)) {
      report_.changed_keys.push_back(host);
      problem(host, "unreachable: the host key has changed (-v shows the keys)");
    } else if (const auto* unreachable = std::get_if<run::Unreachable>(&checked.outcome)) {
      problem(host, report::describe(
                        run::HostOutcome(run::Unreachable{unreachable->failure})));  // without the attempts
    } else if (run::has_succeeded(checked.outcome)) {
      problem(host, "gives no answer");
    } else {
      const std::string at = checked.facts.looking_at;
      problem(host, report::describe(checked.outcome) + (at.empty() ? "" : ", at " + at));
    }
  }

  /// Identifies a process by its job, or by its user and name, because pids differ from host to host. A job
  /// of this user is meant to have the accelerators, and no problem.
  void find_holders(std::size_t host, const HostFacts& facts) {
    std::set<std::string> held;
    std::map<std::string, std::set<std::uint64_t>> pids;
    std::set<std::string> jobs;
    std::map<std::string, std::set<std::string>> held_by_own;
    for (const HeldDevice& holder : facts.holders) {
      if (devices::is_watcher(holder.command)) continue;
      if (holder.user == facts.own_user && std::ranges::count(facts.live_jobs, holder.job) > 0) {
        add_held(held_by_own[holder.job], holder, facts.devices);
        continue;
      }
      add_held(held, holder, facts.devices);
      if (!holder.job.empty()) {
        jobs.insert(fmt::format("the job {0} ({1} stop {0})", holder.job, called_));
        continue;
      }
      pids[fmt::format("{} of {}", holder.command, holder.user)].insert(holder.pid);
    }
    for (const auto& [job, its_devices] : held_by_own)
      ++own_jobs_[fmt::format("your job {0} ({1} stop {0}) has {2} of {3} accelerators open", job, called_,
                              its_devices.size(), facts.devices.size())];
    if (held.empty()) return;
    std::vector<std::string> who(jobs.begin(), jobs.end());
    std::string detail;
    for (const auto& [name, its_pids] : pids) {
      who.push_back(name);
      for (const std::uint64_t pid : its_pids)
        detail += (detail.empty() ? "(pid " : ", ") + std::to_string(pid);
    }
    if (!pids.empty()) report_.busy.push_back(host);
    problem(host,
            fmt::format("accelerators busy: {} of {} held by {}", held.size(), facts.devices.size(),
                        fmt::join(who, ", ")),
            detail.empty() ? "" : detail + ")");
  }

  void find_memory(std::size_t host, const HostFacts& facts) {
    if (!facts.memory_total || !facts.memory_available) return;
    const std::uint64_t total = *facts.memory_total;
    const std::uint64_t available = *facts.memory_available;
    if (available >= total / 10) return;
    problem(host, "memory",
            fmt::format("{} of {} available", format_size_like(available, total), format_size(total)));
  }

  /// GPUs that nvidia-smi does not show as usable.
  void find_gpus(std::size_t host, const HostFacts& facts) {
    const auto said = std::ranges::find_if_not(
        facts.gpu_texts, [](const std::string& text) { return text.starts_with("WARNING"); });
    const std::string text = said != facts.gpu_texts.end() ? *said
                             : facts.gpu_texts.empty()     ? ""
                                                           : facts.gpu_texts.front();
    if (const std::string& error = facts.value("gpu_error"); !error.empty()) {
      problem(host, fmt::format("nvidia-smi {}{}{}", error, text.empty() ? "" : ": ", text));
    } else if (!facts.gpu_faults.empty()) {
      const std::set<std::string> faults(facts.gpu_faults.begin(), facts.gpu_faults.end());
      problem(host, fmt::format("nvidia-smi: {} of {} GPUs: {}", facts.gpu_faults.size(),
                                facts.gpu_faults.size() + facts.gpus.size(), fmt::join(faults, ", ")));
    } else if (facts.gpus_to_see && facts.gpus.size() < *facts.gpus_to_see) {
      problem(host, text.empty()
                        ? fmt::format("nvidia-smi: {} of {} GPUs", facts.gpus.size(), *facts.gpus_to_see)
                        : "nvidia-smi: " + text);
    }
  }

  void find_python(std::size_t host, const HostFacts& facts) {
    const std::string name = request_.python.empty() ? "python3" : request_.python;
    if (const std::string& error = facts.value("python_error"); !error.empty()) {
      problem(host, fmt::format("{} {}", name, error));
    } else if (facts.is_complete && !request_.python.empty() && facts.value("python").empty()) {
      problem(host, fmt::format("no python at {}", name));
    }
  }

  /// Where the hosts agree with each other, the clock that is off is ours.
  void set_reference_clock() {
    std::vector<microseconds> offsets;
    microseconds uncertainty{};
    for (const CheckedHost& host : hosts_) {
      if (!host.clock) continue;
      offsets.push_back(host.clock->ahead);
      uncertainty = std::max(uncertainty, host.clock->uncertainty);
    }
    if (offsets.size() < kClocks) return;
    const auto middle = offsets.begin() + static_cast<std::ptrdiff_t>(offsets.size() / 2);
    std::nth_element(offsets.begin(), middle, offsets.end());
    if (std::chrono::abs(*middle) <= kClockLimit + uncertainty) return;
    reference_ = *middle;
    report_.notes.push_back(fmt::format("the clock of this machine is {}{} theirs",
                                        describe_offset(-reference_), reference_.count() < 0 ? " of" : ""));
  }

  /// `3.2 s ahead`
  static std::string describe_offset(microseconds ahead) {
    return long_offset(std::abs(to_seconds(ahead))) + (ahead.count() < 0 ? " behind" : " ahead");
  }

  bool is_clock_off(const CheckedHost& host) const {
    return host.clock &&
           std::chrono::abs(host.clock->ahead - reference_) > kClockLimit + host.clock->uncertainty;
  }

  void add_clocks() {
    microseconds most{-1};
    for (const CheckedHost& host : hosts_) {
      if (!host.clock || is_clock_off(host)) continue;
      most = std::max(most, std::chrono::abs(host.clock->ahead - reference_) + host.clock->uncertainty);
    }
    if (most.count() < 0) return;
    const auto tenths = std::max<std::int64_t>(1, (most.count() + 99'999) / 100'000);
    report_.ranges.push_back({fmt::format("clock within {}.{} s", tenths / 10, tenths % 10), {}});
  }

  /// `377-391 GiB`; names the host that has less than half of the most.
  void add_range(const std::string& name, const std::vector<std::pair<std::uint64_t, std::size_t>>& sizes,
                 const std::string& what) {
    if (sizes.empty()) return;
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    const std::string low = format_size_like(least->first, most->first);
    const std::string high = format_size(most->first);
    CheckRange range{
        fmt::format("{} {} {}", name, high.starts_with(low + ' ') ? high : low + '-' + high, what), {}};
    if (least->first < most->first / 2) range.least = least->second;
    report_.ranges.push_back(std::move(range));
  }

  void add_memory() {
    std::vector<std::pair<std::uint64_t, std::size_t>> sizes;
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      if (const auto available = hosts_[host].facts.memory_available) sizes.emplace_back(*available, host);
    }
    add_range("memory", sizes, "available");
  }

  void add_disks() {
    std::map<std::string, std::vector<std::pair<std::uint64_t, std::size_t>>> sizes;
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      for (const DiskSpace& disk : distinct_disks(hosts_[host].facts))
        sizes[disk_name(disk)].emplace_back(disk.available, host);
    }
    for (const auto& [name, of] : sizes) add_range(name, of, "free");
  }

  void note_jobs() {
    for (const auto& [job, hosts] : own_jobs_)
      report_.notes.push_back(fmt::format("{}, on {} host{}", job, hosts, hosts == 1 ? "" : "s"));
  }

  void note_hidden_holders() {
    const bool hidden = std::any_of(hosts_.begin(), hosts_.end(), [](const CheckedHost& host) {
      return !host.facts.devices.empty() && host.facts.sees_own;
    });
    if (hidden)
      report_.notes.emplace_back("whether other users hold the accelerators cannot be seen (--sudo sees it)");
  }

  void note_unseen_gpus() {
    const bool unseen = std::ranges::any_of(hosts_, [](const CheckedHost& host) {
      return host.facts.is_complete && !host.facts.gpus_to_see &&
             host.facts.count_devices(devices::kNvidia) > 0;
    });
    if (unseen) report_.notes.emplace_back("without nvidia-smi podrun cannot tell whether the GPUs work");
  }

  const std::vector<CheckedHost>& hosts_;
  const CheckRequest& request_;
  const std::string_view called_;
  CheckReport report_;
  std::map<std::string, std::size_t> own_jobs_ = {};  ///< what they have open, on how many hosts
  microseconds reference_{};                          ///< ahead of our clock
};

}  // namespace

std::optional<ClockOffset> clock_offset(const HostFacts& facts, microseconds received,
                                        microseconds round_trip) {
  if (!facts.clock) return std::nullopt;
  const microseconds ours = received - round_trip / 2;
  return ClockOffset{*facts.clock + facts.clock_step / 2 - ours, (round_trip + facts.clock_step) / 2};
}

bool CheckReport::is_well() const {
  return problems.empty() && std::ranges::all_of(items, &CheckItem::agreed);
}

std::vector<std::size_t> CheckReport::unusable() const {
  std::set<std::size_t> hosts;
  for (const CheckProblem& problem : problems) hosts.insert(problem.hosts.begin(), problem.hosts.end());
  return {hosts.begin(), hosts.end()};
}

CheckReport compare_hosts(const std::vector<CheckedHost>& hosts, const CheckRequest& request,
                          std::string_view called) {
  return HostComparison(hosts, request, called).make();
}

}  // namespace podrun::check
