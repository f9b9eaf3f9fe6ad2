// SPDX-License-Identifier: Apache-2.0
// Reads the lines of top.sh. A host may send anything: numbers are checked, lists have an end, and a line
// that says nothing known is dropped.
#include "podrun/top/frames.hpp"

#include <algorithm>
#include <utility>

#include "podrun/base/answer.hpp"
#include "podrun/base/text.hpp"
#include "podrun/link/failure.hpp"
#include "podrun/top/frame_words.hpp"
#include "podrun/top/top_failures.hpp"

namespace podrun::top {
namespace {

constexpr std::size_t kMaxLine = 4096;
constexpr std::size_t kMaxMounts = 8;
constexpr std::size_t kMaxGone = 64;
constexpr std::size_t kMaxHolders = 128 * 1024;  ///< bytes of all lines of a list

}  // namespace

const ClockReason* Chip::reason() const {
  const ClockReason* last = nullptr;
  for (const ClockReason& each : kClockReasons) {
    if (is_slowed_by(each)) last = &each;
  }
  return last;
}

std::optional<double> Mount::percent_used() const {
  if (!size || *size == 0 || !available) return std::nullopt;
  return 100 * (1 - static_cast<double>(*available) / static_cast<double>(*size));
}

std::optional<std::uint64_t> Counters::swap_used() const {
  if (!swap_total || !swap_free) return std::nullopt;
  return *swap_total - std::min(*swap_total, *swap_free);
}

FrameReader::FrameReader(HostReport& report) : report_(report) {
  // A new connection: what was asked on the last one is not answered on this one.
  for (Mount& mount : report_.mounts) mount.is_asked = false;
  report_.chips.clear();
  report_.chips_at.reset();
  report_.gpu_text.clear();
  report_.gpus_asked_at.reset();
  report_.gpus_ended_at.reset();
}

bool FrameReader::feed(std::string_view bytes) {
  bool is_frame = false;
  bytes_ += bytes.size();
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    if (line_.size() + end > kMaxLine) is_too_long_ = true;
    if (!is_too_long_) line_ += bytes.substr(0, end);
    if (end == bytes.size()) break;
    bytes.remove_prefix(end + 1);
    if (is_too_long_ && line_.starts_with("f "))
      throw link::HostError({kSampling, link::Cause::flood, "a frame of more than 4 KiB"});
    if (!is_too_long_ && take(line_)) is_frame = true;
    line_.clear();
    is_too_long_ = false;
  }
  if (is_frame) bytes_ = 0;
  if (bytes_ > kMostBytes)
    throw link::HostError(
        {kSampling, link::Cause::flood, "more than 256 KiB without a frame", link::Retry::no});
  return is_frame;
}

bool FrameReader::take(std::string_view line) {
  const std::string_view kind = take_part(line, ' ');
  if (kind == "f") {
    take_frame(line);
    return true;
  }
  if (kind == "s") {
    take_facts(line);
  } else if (kind == "n") {
    report_.gpu_name = limited(trim_space(line));
  } else if (kind == "m") {
    take_mount(line);
  } else if (kind == "d") {
    take_answer_of_mount(line);
  } else if (kind == "g") {
    take_gpu(line);
  } else if (kind == "h") {
    take_holder(line);
  } else if (kind == "t") {
    take_ports(line);
  } else if (kind == "c") {
    const std::optional<double> at = to_real(take_part(line, ' '));
    const std::optional<double> clock = to_real(line.substr(0, line.find("%N")));  // busybox knows no %N
    if (at && clock) report_.clock = *clock - *at;
  }
  return false;
}

void FrameReader::take_facts(std::string_view words) {
  report_.pci_gpus = 0;
  report_.pci_tpus.clear();
  while (!words.empty()) {
    std::string_view value = take_part(words, ' ');
    const std::string_view key = take_part(value, '=');
    const std::optional<std::size_t> number = to_number(value);
    constexpr std::size_t kMost = 65536;
    const std::size_t count = std::min(number.value_or(0), kMost);
    if (key == "cores") report_.cores = count;
    if (key == "tpus") report_.tpus = std::min(count, kMaxChips);
    if (key == "nvidia") report_.gpus = std::min(count, kMaxChips);
    if (key == "user") report_.uid = number;
    if (key == "gpu" && report_.pci_gpus < kMaxChips) ++report_.pci_gpus;
    if (key == "tpu" && report_.pci_tpus.size() < kMaxChips) report_.pci_tpus.push_back(limited(value));
  }
}

void FrameReader::take_mount(std::string_view rest) {
  const std::optional<std::size_t> index = to_number(take_part(rest, ' '));
  const std::string_view type = take_part(rest, ' ');
  if (!index || *index >= kMaxMounts) return;
  if (*index >= report_.mounts.size()) report_.mounts.resize(*index + 1);
  Mount& mount = report_.mounts[*index];
  if (mount.path != limited(rest)) mount = {.path = limited(rest), .type = limited(type)};
}

void FrameReader::take_frame(std::string_view words) {
  Counters now;
  std::optional<SlowCounters> slow;
  std::vector<Chip> amd;
  report_.gone.clear();
  while (!words.empty()) {
    const std::string_view word = take_part(words, ' ');
    if (word.empty() || read_counter(word, now)) continue;
    const std::string_view value = word.substr(1);
    if (word.front() == 'a') {
      if (amd.size() < kMaxChips) amd.push_back(to_amd_chip(value, amd.size()));
    } else if (word.front() == 'x') {
      if (const auto pid = to_count(value); pid && report_.gone.size() < kMaxGone)
        report_.gone.push_back(*pid);
    } else {
      read_slow_counter(word, slow);
    }
  }
  report_.has_rebooted = now.at > 0 && now.at < report_.last_at;
  if (report_.has_rebooted) forget_boot();
  if (now.at > 0) report_.last_at = now.at;
  report_.before = std::exchange(report_.now, now);
  if (slow) {
    slow->at = now.at;
    report_.slow_before = std::exchange(report_.slow, std::move(slow));
  }
  if (!amd.empty()) {
    report_.chips = std::move(amd);
    report_.chips_at = now.at;
  }
}

/// The times of all that was said before are those of another boot.
void FrameReader::forget_boot() {
  report_.now.reset();
  report_.slow.reset();
  report_.chips.clear();
  report_.chips_at.reset();
  report_.gpu_text.clear();
  report_.clock.reset();
  report_.holders.reset();
  for (Mount& mount : report_.mounts) mount = {.path = mount.path, .type = mount.type};
}

void FrameReader::take_answer_of_mount(std::string_view rest) {
  const std::optional<double> at = to_real(take_part(rest, ' '));
  const std::optional<std::size_t> index = to_number(take_part(rest, ' '));
  const std::string_view mode = take_part(rest, ' ');
  if (!at || !index || *index >= report_.mounts.size()) return;
  Mount& mount = report_.mounts[*index];
  mount.is_asked = false;
  mount.is_silent = false;
  if (!read_df(rest, mount)) return;
  mount.at = at;
  mount.is_read_only = mode == "ro";
  mount.was_writable = mount.was_writable || mode == "rw";
}

/// A round is complete when a GPU comes for the second time, or all have come.
void FrameReader::take_gpu(std::string_view rest) {
  const std::optional<double> at = to_real(take_part(rest, ' '));
  const std::optional<Chip> chip = to_nvidia_chip(rest);
  if (!at) return;
  if (rest.empty()) {
    report_.gpus_asked_at = at;
    report_.gpus_ended_at.reset();
    report_.gpu_text.clear();
    return;
  }
  if (!chip) {
    // Why it has ended, it has said before.
    const std::string_view text = trim_space(rest);
    if (text == "has ended") report_.gpus_ended_at = at;
    if (!text.empty() && (text != "has ended" || report_.gpu_text.empty())) report_.gpu_text = limited(text);
    return;
  }
  if (!round_.empty() && chip->index <= round_.back().index) {
    report_.chips = std::exchange(round_, {});
    report_.chips_at = at;
  }
  round_.push_back(*chip);
  if (round_.size() < std::max<std::size_t>(1, report_.gpus)) return;
  report_.chips = std::exchange(round_, {});
  report_.chips_at = at;
  report_.gpu_text.clear();
}

void FrameReader::take_holder(std::string_view rest) {
  const std::optional<double> at = to_real(take_part(rest, ' '));
  if (!at) return;
  if (rest == "begin") {
    holders_.emplace();
    holders_bytes_ = 0;
    holders_at_ = *at;
    return;
  }
  if (rest.starts_with("command ") || rest.starts_with("cgroup ")) return;  // long, and not shown
  holders_bytes_ += rest.size();
  if (!holders_ || (holders_bytes_ > kMaxHolders && rest != "end")) return;
  read_answer_line(*holders_, rest);
  if (!holders_->is_complete) return;
  report_.holders = std::exchange(holders_, std::nullopt);
  report_.holders_at = holders_at_;
}

void FrameReader::take_ports(std::string_view rest) {
  constexpr std::size_t kMostPorts = 17;
  constexpr std::uint16_t kFirstPort = 8431;  // as top.sh finds them
  constexpr std::uint16_t kLastPort = 8447;
  take_part(rest, ' ');
  report_.metric_ports.clear();
  while (!rest.empty() && report_.metric_ports.size() < kMostPorts) {
    const auto port = to_port(take_part(rest, ' '));
    if (port && *port >= kFirstPort && *port <= kLastPort) report_.metric_ports.push_back(*port);
  }
  std::ranges::sort(report_.metric_ports);  // as libtpu gives them to the chips, if each has a process
}

}  // namespace podrun::top
