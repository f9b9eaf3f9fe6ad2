// SPDX-License-Identifier: Apache-2.0
// The state of all hosts: silent ones, the run that they have in common, the groups in which they are
// compared, and how long each oddity lasts.
#include "podrun/top/top_pod.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "podrun/devices/accelerators.hpp"
#include "podrun/devices/watchers.hpp"
#include "podrun/supervisor/mark.hpp"
#include "podrun/top/oddness.hpp"

namespace podrun::top {
namespace {

/// An oddity whose cause has gone is shown for so long.
constexpr std::chrono::seconds kAftermath{10};
constexpr std::chrono::seconds kLeastSilence{6};
/// Less says nothing.
constexpr std::uint64_t kSwapStep = 1ULL << 20U;

/// Counts that the kernel keeps since the start of the host.
bool has_grown(std::optional<std::uint64_t> before, std::optional<std::uint64_t> now, std::uint64_t step) {
  return before && now && *now >= *before + step;
}

/// `job train`, `run 0e5a3b6d`
std::string name_of_run(std::string_view mark) {
  constexpr std::size_t kShown = 8;
  const std::string job = supervisor::job_of(mark);
  return job.empty() ? "run " + supervisor::run_of(mark).substr(0, kShown) : "job " + job;
}

/// The jobs and runs on a host.
std::set<std::string> runs_of(const HostReport& report) {
  std::set<std::string> runs;
  if (!report.holders) return runs;
  const auto add = [&](const std::string& mark) {
    if (!supervisor::run_of(mark).empty()) runs.insert(name_of_run(mark));
  };
  for (const devices::DeviceHolder& holder : report.holders->holders) add(holder.mark);
  for (const std::string& mark : report.holders->marks) add(mark);
  return runs;
}

}  // namespace

std::string_view word_of(Presence state) {
  constexpr std::array<std::string_view, 4> kWords = {"waiting", "up", "stale", "lost"};
  return kWords[static_cast<std::size_t>(state)];
}

Severity HostRow::severity() const {
  Severity most = Severity::like_others;
  for (const Odd& each : odd) most = std::max(most, each.severity);
  return most;
}

TimePoint HostRow::odd_since() const {
  const Severity most = severity();
  TimePoint oldest = TimePoint::max();
  for (const Odd& each : odd) {
    if (each.severity == most) oldest = std::min(oldest, each.since);
  }
  return oldest;
}

Pod::Pod(std::vector<hosts::Host> hosts, bool is_once)
    : hosts_(std::move(hosts)),
      is_once_(is_once),
      rows_(hosts_.size()),
      peers_of_(hosts_.size(), hosts_.size()) {}

void Pod::add_frame(std::size_t host, TimePoint now, std::optional<double> clock) {
  HostRow& row = rows_[host];
  HostReport& report = row.report;
  if (row.state == Presence::lost && row.frame_at) {
    row.was_lost = std::chrono::duration_cast<std::chrono::seconds>(now - row.since);
    row.back_at = now;
  }
  if (report.has_rebooted) {
    row.rebooted_at = now;
    row.first_ecc.clear();
  }
  if (row.state != Presence::up) {
    row.state = Presence::up;
    row.since = now;
  }
  row.trouble.reset();
  row.frame_at = now;
  row.is_new = true;
  if (clock) row.clock_offset.reset();
  if (clock && report.clock && report.last_at > 0) row.clock_offset = *report.clock + report.last_at - *clock;
  if (report.slow && report.slow_before &&
      has_grown(report.slow_before->oom_kills, report.slow->oom_kills, 1) &&
      report.slow->at == report.now->at)
    row.oom_at = now;
  if (report.before && has_grown(report.before->swap_used(), report.now->swap_used(), kSwapStep))
    row.swapped_at = now;
  for (const Chip& chip : report.chips) {
    if (!chip.ecc_errors) continue;
    std::uint64_t& first = row.first_ecc.try_emplace(chip.index, *chip.ecc_errors).first->second;
    first = std::min(first, *chip.ecc_errors);  // the driver has started again
  }
  if (report.holders && row.runs_at != report.holders_at) {
    std::set<std::string> runs = runs_of(report);
    if (runs != row.runs) row.runs_since = now;
    row.runs = std::move(runs);
    row.runs_at = report.holders_at;
  }
  update_chips(host);
}

void Pod::update_chips(std::size_t host) {
  HostRow& row = rows_[host];
  row.figures = figures_of(row.report);
  at(row.figures, Figure::clock) = row.clock_offset;
}

void Pod::lose(std::size_t host, Trouble trouble, TimePoint now) {
  HostRow& row = rows_[host];
  row.trouble = std::move(trouble);
  if (row.state == Presence::lost) return;
  row.state = Presence::lost;
  row.since = row.frame_at.value_or(now);
  row.report.before.reset();  // no rate over the gap
  row.report.now.reset();
  row.report.slow.reset();
  row.figures = {};
  row.deviations = {};
}

void Pod::resume(TimePoint now) {
  for (HostRow& row : rows_) {
    if (row.frame_at && row.state != Presence::lost) row.frame_at = now;
  }
}

void Pod::judge(TimePoint now, std::chrono::milliseconds interval) {
  find_states(now, interval);
  find_runs(now);
  find_main_user();
  find_usual();
  find_peers();
  find_deviations();
  find_extremes(now, interval);
  for (std::size_t host = 0; host < rows_.size(); ++host)
    merge(rows_[host], find_oddities(*this, host, now), now);
}

void Pod::find_states(TimePoint now, std::chrono::milliseconds interval) {
  const auto silence = std::max<std::chrono::milliseconds>(3 * interval, kLeastSilence);
  for (HostRow& row : rows_) {
    if (!row.frame_at) continue;
    const std::chrono::duration<double> age = now - *row.frame_at;
    at(row.figures, Figure::age) = row.state == Presence::lost ? std::nullopt : std::optional(age.count());
    if (row.state == Presence::up && age > silence) {
      row.state = Presence::stale;
      row.since = *row.frame_at;
    }
  }
}

/// The run of most hosts, and that of each host which most others have too.
void Pod::find_runs(TimePoint now) {
  std::map<std::string, std::size_t> counts;
  for (std::size_t host = 0; host < rows_.size(); ++host) {
    if (!rows_[host].has_figures()) continue;
    for (const std::string& each : rows_[host].runs) ++counts[each];
  }
  const auto is_commoner = [&](const std::string& a, const std::string& b) { return counts[a] < counts[b]; };
  for (std::size_t host = 0; host < rows_.size(); ++host) {
    if (!rows_[host].has_figures()) continue;
    const std::set<std::string>& runs = rows_[host].runs;
    const auto found = std::max_element(runs.begin(), runs.end(), is_commoner);
    rows_[host].run = found == runs.end() ? "" : *found;
  }
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::string before = std::exchange(run_, most == counts.end() ? "" : most->first);
  hosts_in_run_ = most == counts.end() ? 0 : most->second;
  const bool is_common =
      static_cast<double>(hosts_in_run_) >= kNearlyAll * static_cast<double>(count(Presence::up));
  if (run_ != before || !is_common) run_since_ = now;
}

void Pod::find_main_user() {
  std::map<std::uint64_t, std::size_t> hosts_of;
  std::vector<std::uint64_t> users;  // of one host
  std::size_t with_holders = 0;
  for (const HostRow& row : rows_) {
    if (!row.has_figures() || !row.report.holders) continue;
    users.clear();
    for (const devices::DeviceHolder& holder : row.report.holders->holders) {
      if (devices::is_watcher(holder.name)) continue;
      if (std::ranges::find(users, holder.uid) == users.end()) users.push_back(holder.uid);
    }
    for (const std::uint64_t user : users) ++hosts_of[user];
    if (!users.empty()) ++with_holders;
  }
  main_user_.reset();
  for (const auto& [user, hosts] : hosts_of) {
    if (2 * hosts > with_holders && (!main_user_ || hosts > hosts_of[*main_user_])) main_user_ = user;
  }
}

/// What is found again keeps its time; what is not stays for a moment.
void Pod::merge(HostRow& row, std::vector<Odd> found, TimePoint now) const {
  for (Odd& each : found) {
    // The worst chip of a host changes with each frame: it is the same difference.
    const auto known = std::ranges::find_if(row.odd, [&](const Odd& old) {
      return old.what == each.what && (old.device == each.device || each.severity == Severity::difference);
    });
    each.since = known == row.odd.end() ? now : known->since;
    if (each.what == "lost" || each.what == "stale") each.since = row.since;
    if (known != row.odd.end()) row.odd.erase(known);
  }
  for (Odd& old : row.odd) {
    if (!old.until) old.until = now;
    if (!is_once_ && now - *old.until < kAftermath && row.state == Presence::up && old.what != "back")
      found.push_back(std::move(old));
  }
  std::ranges::stable_sort(found, [](const Odd& a, const Odd& b) {
    if (a.until.has_value() != b.until.has_value()) return b.until.has_value();
    return a.severity != b.severity ? a.severity > b.severity : a.since < b.since;
  });
  row.odd = std::move(found);
}

const Peers* Pod::peers_of(std::size_t host) const {
  return peers_of_[host] < peers_.size() ? &peers_[peers_of_[host]] : nullptr;
}

/// One host is enough: they all start at the same moment.
std::optional<std::chrono::seconds> Pod::run_age() const {
  std::optional<std::chrono::seconds> most;
  for (const HostRow& row : rows_) {
    if (run_.empty() || row.run != run_ || !row.has_figures() || !row.report.holders) continue;
    const auto since = std::chrono::seconds(std::llround(row.report.now->at - row.report.holders_at));
    for (const devices::DeviceHolder& holder : row.report.holders->holders) {
      if (name_of_run(holder.mark) == run_) most = std::max(most.value_or(since), holder.age + since);
    }
    if (most) break;
  }
  return most;
}

std::size_t Pod::count(Presence state) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(rows_, [&](const HostRow& row) { return row.state == state; }));
}

std::size_t Pod::odd_hosts() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(rows_, [](const HostRow& row) { return !row.odd.empty(); }));
}

std::string accelerator_name(const HostReport& report) {
  if (report.tpus > 0) return std::string(devices::tpu_name(report.pci_tpus));
  if (!report.gpu_name.empty()) {
    std::string_view name = report.gpu_name;
    for (const std::string_view word : {"NVIDIA ", "Tesla ", "GeForce "}) {
      if (name.starts_with(word)) name.remove_prefix(word.size());
    }
    // `H100 80GB HBM3`, `A100-SXM4-40GB`, `RTX 6000 Ada`: up to the word with a number.
    return std::string(name.substr(0, name.find_first_of(" -", name.find_first_of("0123456789"))));
  }
  if (report.gpus > 0 || !report.chips.empty()) return "GPU";
  return {};
}

std::size_t chip_count(const HostReport& report) {
  const std::size_t devices = report.tpus + report.gpus;
  return devices > 0 ? devices : report.chips.size();  // AMD's have no devices of their own
}

std::size_t usable_accelerators(const HostReport& report) {
  const std::size_t shown = fresh_chips(report).size();
  return report.tpus + (shown == 0 ? report.gpus : std::min(report.gpus, shown));
}

std::string accelerators_of(const HostReport& report) {
  const std::size_t count = chip_count(report);
  return count == 0 ? "" : fmt::format("{} × {}", count, accelerator_name(report));
}

bool is_up(const NetworkLink& link) {
  return link.state == "up" || link.state == "ACTIVE" || link.state == "unknown";
}

}  // namespace podrun::top
