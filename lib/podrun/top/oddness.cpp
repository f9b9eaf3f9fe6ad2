// SPDX-License-Identifier: Apache-2.0
// The rules of what is odd. Faults are true of a host alone; differences need others like it.
#include "podrun/top/oddness.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "podrun/base/long_duration.hpp"
#include "podrun/base/text.hpp"
#include "podrun/base/worker_numbers.hpp"
#include "podrun/devices/watchers.hpp"
#include "podrun/report/outcome_words.hpp"

namespace podrun::top {
namespace {

std::string seconds_ago(TimePoint then, TimePoint now) {
  const auto passed = std::chrono::duration_cast<std::chrono::seconds>(now - then).count();
  constexpr std::int64_t kMinutes = 120;
  return passed < kMinutes ? fmt::format("{} s", passed) : fmt::format("{} min", passed / 60);
}

/// What counts for a while after it has happened.
bool is_recent(const std::optional<TimePoint>& then, TimePoint now, std::chrono::seconds time) {
  return then && now - *then < time;
}

std::string chip_word(const HostReport& report) { return report.tpus > 0 ? "chip" : "GPU"; }

class Finder {
 public:
  Finder(const Pod& pod, std::size_t host, TimePoint now)
      : pod_(pod), row_(pod.rows()[host]), report_(row_.report), host_(host), now_(now) {}

  std::vector<Odd> find() {
    if (row_.state == Presence::lost) add("lost", Severity::fault, describe_trouble(row_, now_));
    if (row_.state == Presence::stale)
      add("stale", Severity::warning, fmt::format("{} old", seconds_ago(*row_.frame_at, now_)));
    if (!row_.has_figures()) return std::move(found_);
    find_missing_accelerators();
    find_errors_of_chips();
    find_disks();
    if (is_recent(row_.oom_at, now_, kEventTime))
      add("oom", Severity::fault, "the kernel killed a process (OOM)");
    find_missing_run();
    find_slow_chips();
    find_memory();
    find_clock();
    find_links();
    find_other_users();
    find_differences();
    if (is_recent(row_.rebooted_at, now_, kEventTime)) add("rebooted", Severity::warning, "rebooted");
    if (is_recent(row_.back_at, now_, std::chrono::seconds(10)))
      add("back", Severity::difference, fmt::format("back after {} s", row_.was_lost.count()));
    return std::move(found_);
  }

 private:
  static constexpr std::chrono::seconds kEventTime{60};

  void add(std::string what, Severity severity, std::string text, std::optional<std::size_t> device = {}) {
    found_.push_back(
        {.what = std::move(what), .severity = severity, .device = device, .text = std::move(text)});
  }

  void find_missing_accelerators() {
    const std::size_t here = usable_accelerators(report_);
    const std::size_t seen = here - report_.tpus;
    const std::size_t present = std::max(report_.pci_gpus, report_.gpus);
    const std::optional<std::size_t>& others = pod_.usual().accelerators;
    // Containers get a part of the machine: then the bus shows more than there is to use.
    const bool is_certain = report_.gpus > seen;
    if (present > seen && others != here && (others || is_certain || pod_.usual().is_bus_used)) {
      add("accelerator_missing", Severity::fault, fmt::format("{} of {} GPUs", seen, present));
    } else if (others && *others > here && is_like_others()) {
      add("accelerator_missing", Severity::fault,
          here == 0 ? fmt::format("no accelerator, the others have {}", *others)
                    : fmt::format("{} {}s, the others have {}", here, chip_word(report_), *others));
    }
    constexpr double kSilent = 20;
    constexpr double kFirst = 30;  // it may have to start the driver
    const std::optional<double>& asked = report_.chips_at ? report_.chips_at : report_.gpus_asked_at;
    const double silence = asked ? report_.now->at - *asked : 0;
    const bool is_silent = silence > (report_.chips_at ? kSilent : kFirst);
    if (report_.gpus > 0 && !report_.gpu_text.empty()) {
      add("nvidia_smi", Severity::fault, "nvidia-smi: " + report_.gpu_text);
    } else if (report_.gpus > 0 && is_silent) {
      add("nvidia_smi", Severity::fault, fmt::format("nvidia-smi: no answer for {:.0f} s", silence));
    }
  }

  /// False for a host of another kind, which has no accelerator or other ones than most hosts.
  bool is_like_others() const {
    const std::string name = accelerator_name(report_);
    const bool is_on_bus = report_.pci_gpus > 0 || !report_.pci_tpus.empty();
    return name.empty() ? is_on_bus : name == pod_.usual().accelerator;
  }

  void find_errors_of_chips() {
    std::map<std::string, std::vector<std::size_t>> faults;
    for (const Chip& chip : fresh_chips(report_)) {
      if (!chip.fault.empty()) faults[chip.fault].push_back(chip.index);
    }
    for (const auto& [fault, gpus] : faults)
      add("nvidia_smi", Severity::fault, fmt::format("nvidia-smi: GPU {}: {}", fold_workers(gpus), fault),
          gpus.front());
    for (const Chip& chip : fresh_chips(report_)) {
      const auto first = row_.first_ecc.find(chip.index);
      if (first == row_.first_ecc.end() || !chip.ecc_errors || *chip.ecc_errors <= first->second) continue;
      add("ecc", Severity::fault,
          fmt::format("GPU {}: {} more ECC error{}", chip.index, *chip.ecc_errors - first->second,
                      *chip.ecc_errors - first->second == 1 ? "" : "s"),
          chip.index);
    }
  }

  void find_disks() {
    constexpr double kFull = 99;
    for (const Mount& mount : report_.mounts) {
      const std::optional<double> used = mount.percent_used();
      if (used && *used >= kFull)
        add("disk_full:" + mount.path, Severity::fault,
            fmt::format("{} is {:.0f} % full, {} free", mount.path, *used, format_bytes(*mount.available)));
      if (mount.is_read_only && (mount.was_writable || pod_.usual().writable.contains(mount.path)))
        add("read_only:" + mount.path, Severity::fault, mount.path + " is read-only");
      if (mount.is_silent)
        add("disk_silent:" + mount.path, Severity::fault,
            fmt::format("{}: no answer for {:.0f} s", mount.path, report_.now->at - mount.asked_at));
    }
  }

  /// The list of this host must be from a time when the run had begun. A run that ends does not end
  /// everywhere in the same moment.
  void find_missing_run() {
    const std::size_t others = pod_.hosts_in_run();
    if (pod_.run().empty() || !report_.holders || row_.run == pod_.run()) return;
    if (others < 2 ||
        static_cast<double>(others) < kNearlyAll * static_cast<double>(pod_.count(Presence::up)))
      return;
    constexpr double kSlack = 5;
    const double list_age = report_.now->at - report_.holders_at;
    const double run_age = std::chrono::duration<double>(now_ - pod_.run_since()).count();
    constexpr std::chrono::seconds kEnd{15};
    if (!pod_.is_once() && (list_age + kSlack > run_age || now_ - row_.runs_since < kEnd)) return;
    add("no_process", Severity::fault,
        fmt::format("no process of {} ({} others have one)", pod_.run(), others));
  }

  void find_slow_chips() {
    for (const Chip& chip : fresh_chips(report_)) {
      const ClockReason* const reason = chip.reason();
      if (!reason || reason->warning.empty()) continue;
      std::string text = fmt::format("GPU {} {}", chip.index, reason->warning);
      std::string_view before = ": ";
      if (chip.celsius) {
        text += fmt::format("{}{:.0f} °C", before, *chip.celsius);
        before = ", ";
      }
      if (chip.mhz) text += fmt::format("{}{:.0f} MHz", before, *chip.mhz);
      add("slowed", Severity::warning, std::move(text), chip.index);
    }
  }

  void find_memory() {
    constexpr double kPressure = 10;
    if (is_recent(row_.swapped_at, now_, std::chrono::seconds(10))) add("swap", Severity::warning, "swaps");
    if (const auto pressure = report_.now->memory_pressure; pressure && *pressure > kPressure)
      add("memory_pressure", Severity::warning, fmt::format("memory pressure {:.0f} %", *pressure));
  }

  void find_clock() {
    constexpr double kMostOff = 1;
    const std::optional<double>& offset = row_.clock_offset;
    if (offset && std::abs(*offset) > kMostOff)
      add("clock", Severity::warning,
          fmt::format("clock {} {}", long_offset(std::abs(*offset)), *offset > 0 ? "ahead" : "behind"));
  }

  /// A link that is up on most hosts, and faster there.
  void find_links() {
    if (!report_.slow) return;
    for (const NetworkLink& link : report_.slow->links) {
      const auto usual = pod_.usual().links.find(link.name);
      if (usual == pod_.usual().links.end()) continue;
      const std::optional<std::uint64_t>& speed = usual->second;
      if (!is_up(link)) {
        add("link:" + link.name, Severity::warning, fmt::format("link {} is {}", link.name, link.state));
      } else if (link.speed && speed && *link.speed < *speed) {
        add("link:" + link.name, Severity::warning,
            fmt::format("link {} has speed {}, the others {}", link.name, *link.speed, *speed));
      }
    }
  }

  void find_other_users() {
    if (!report_.holders) return;
    const std::optional<std::uint64_t> usual = pod_.main_user() ? pod_.main_user() : report_.uid;
    std::map<std::string, std::vector<std::size_t>> devices;  // by `USER: NAME`
    for (const devices::DeviceHolder& holder : report_.holders->holders) {
      if (holder.uid == usual || holder.uid == report_.uid || holder.devices.empty() ||
          devices::is_watcher(holder.name))
        continue;
      std::vector<std::size_t>& numbers = devices[fmt::format("{}: {}", holder.user, holder.name)];
      for (const std::string& device : holder.devices) {
        if (const auto number = devices::device_number(device)) numbers.push_back(*number);
      }
    }
    for (const auto& [who, numbers] : devices)
      add("other_user:" + who, Severity::warning,
          numbers.empty() ? fmt::format("{} on a {}", who, chip_word(report_))  // one file for all
                          : fmt::format("{} on {} {}", who, chip_word(report_), fold_workers(numbers)));
  }

  void find_differences() {
    const Peers* const peers = pod_.peers_of(host_);
    if (!peers) return;
    constexpr int kFramesOdd = 3;
    for (const FigureKind& kind : figure_kinds()) {
      const auto index = static_cast<std::size_t>(kind.figure);
      const std::optional<double>& median = peers->medians[index];
      const int needed = pod_.is_once() ? 1 : kFramesOdd;
      if (!median || std::popcount(row_.deviations[index]) < needed || !row_.figures[index]) continue;
      const Chip* const chip = worst_chip(report_, kind.figure);
      const bool is_told = (kind.figure == Figure::celsius || kind.figure == Figure::mhz) && chip &&
                           std::ranges::any_of(found_, [&](const Odd& odd) {
                             return odd.what == "slowed" && odd.device == chip->index;
                           });
      if (is_told) continue;
      add(std::string(kind.id), Severity::difference,
          fmt::format("{}{}{}{}, the others {}", chip ? chips_word(kind, *chip, *peers) + ": " : "",
                      kind.word, kind.word.empty() ? "" : " ", long_value(kind, *row_.figures[index]),
                      long_value(kind, *median)),
          chip ? std::optional(chip->index) : std::nullopt);
    }
  }

  /// `GPU 3`, or `all GPUs` where each of several is that far from the others.
  std::string chips_word(const FigureKind& kind, const Chip& worst, const Peers& peers) const {
    const auto index = static_cast<std::size_t>(kind.figure);
    const std::span<const Chip> chips = fresh_chips(report_);
    const bool are_all = chips.size() > 1 && std::ranges::all_of(chips, [&](const Chip& chip) {
                           const std::optional<double> value = kind.of_chip(chip);
                           return value && std::abs(*value - *peers.medians[index]) > peers.limits[index];
                         });
    return are_all ? fmt::format("all {}s", chip_word(report_))
                   : fmt::format("{} {}", chip_word(report_), worst.index);
  }

  const Pod& pod_;
  const HostRow& row_;
  const HostReport& report_;
  const std::size_t host_;
  const TimePoint now_;
  std::vector<Odd> found_;
};

}  // namespace

std::vector<Odd> find_oddities(const Pod& pod, std::size_t host, TimePoint now) {
  return Finder(pod, host, now).find();
}

std::string describe_trouble(const HostRow& row, TimePoint now) {
  if (!row.trouble) return "no answer yet";
  const bool has_answered = row.frame_at.has_value();
  std::string text = has_answered ? fmt::format("lost {} ago", seconds_ago(row.since, now))
                                  : report::describe(row.trouble->failure);
  if (has_answered) text += ": " + report::describe(row.trouble->failure);
  if (row.trouble->retry_at) {
    const auto left = std::chrono::ceil<std::chrono::seconds>(*row.trouble->retry_at - now).count();
    text += left > 0 ? fmt::format("; attempt {} in {} s", row.trouble->attempt, left)
                     : fmt::format("; attempt {}", row.trouble->attempt);
  }
  return text;
}

}  // namespace podrun::top
