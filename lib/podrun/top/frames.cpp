// SPDX-License-Identifier: Apache-2.0
// Reads the lines of top.sh. A host may send anything: numbers are checked, lists have an end, and a line
// that says nothing known is dropped.
#include "podrun/top/frames.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "podrun/base/text.hpp"
#include "podrun/link/failure.hpp"

namespace podrun::top {
namespace {

constexpr std::size_t kMaxLine = 4096;
constexpr std::size_t kMaxText = 200;
constexpr std::size_t kMaxChips = 64;
constexpr std::size_t kMaxMounts = 8;
constexpr std::size_t kMaxLinks = 64;
constexpr std::size_t kMaxHolders = 128 * 1024;  ///< bytes of all lines of a list
/// Beyond this no counter is believed: sums could overflow.
constexpr double kMostNumber = 1e18;

std::optional<double> to_real(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value) || value < 0 || value > kMostNumber) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> to_count(std::string_view text) {
  const std::optional<std::size_t> number = to_number(text);
  if (!number || static_cast<double>(*number) > kMostNumber) return std::nullopt;
  return *number;
}

/// A number of units of so many bytes.
std::optional<std::uint64_t> to_bytes(std::string_view text, std::uint64_t unit) {
  const std::optional<std::uint64_t> count = to_count(text);
  if (!count || *count > static_cast<std::uint64_t>(kMostNumber) / unit) return std::nullopt;
  return *count * unit;
}

std::optional<double> to_percent(std::string_view text) {
  constexpr double kMost = 100;
  const std::optional<double> value = to_real(text);
  return value && *value <= kMost ? value : std::nullopt;
}

std::optional<Traffic> to_traffic(std::string_view text, std::uint64_t unit) {
  const std::optional<std::uint64_t> in = to_bytes(take_part(text, ','), unit);
  const std::optional<std::uint64_t> out = to_bytes(text, unit);
  if (!in || !out) return std::nullopt;
  return Traffic{*in, *out};
}

std::string limited(std::string_view text) { return std::string(text.substr(0, kMaxText)); }

/// `BUSY,USED,TOTAL,MICROWATTS,MILLIDEGREES` of an AMD GPU.
Chip to_amd_chip(std::string_view text, std::size_t index) {
  constexpr double kMicro = 1e6;
  constexpr double kMilli = 1e3;
  Chip chip{.index = index};
  chip.busy = to_percent(take_part(text, ','));
  chip.memory_used = to_count(take_part(text, ','));
  chip.memory_total = to_count(take_part(text, ','));
  if (const auto power = to_real(take_part(text, ','))) chip.watts = *power / kMicro;
  if (const auto heat = to_real(text)) chip.celsius = *heat / kMilli;
  return chip;
}

/// `0x0000000000000004` or decimal digits.
std::optional<std::uint64_t> to_bits(std::string_view text) {
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits, is_hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return bits;
}

/// A row of nvidia-smi, in the order that top.sh asks for; none for other text.
std::optional<Chip> to_nvidia_chip(std::string_view row) {
  constexpr std::size_t kFields = 10;
  constexpr std::uint64_t kMib = 1ULL << 20U;
  std::vector<std::string_view> fields = split(row, ',');
  if (fields.size() != kFields) return std::nullopt;
  for (std::string_view& field : fields) field = trim_space(field);
  const std::optional<std::uint64_t> index = to_count(fields[0]);
  if (!index || *index >= kMaxChips) return std::nullopt;
  return Chip{.index = *index,
              .busy = to_percent(fields[1]),
              .watts = to_real(fields[4]),
              .memory_used = to_bytes(fields[2], kMib),
              .memory_total = to_bytes(fields[3], kMib),
              .celsius = to_real(fields[5]),
              .mhz = to_real(fields[6]),
              .most_mhz = to_real(fields[7]),
              .ecc_errors = to_count(fields[8]),
              .slowed_by = to_bits(fields[9])};
}

NetworkLink to_link(std::string_view text) {
  NetworkLink link;
  link.name = limited(take_part(text, ','));
  link.state = limited(take_part(text, ','));
  link.speed = to_count(text);
  return link;
}

/// The numbers of a line of `df -Pk`, whose first and last words may have blanks: the mount's own path ends
/// it.
bool read_df(std::string_view line, Mount& mount) {
  constexpr std::uint64_t kKib = 1024;
  line = trim_space(line);
  if (!line.ends_with(mount.path)) return false;
  line.remove_suffix(mount.path.size());
  std::vector<std::string_view> words;
  while (!(line = trim_space(line)).empty()) words.push_back(take_word(line));
  if (words.size() < 5) return false;
  const std::size_t last = words.size() - 1;  // the percentage
  const auto size = to_bytes(words[last - 3], kKib);
  const auto available = to_bytes(words[last - 1], kKib);
  const auto used = to_bytes(words[last - 2], kKib);
  if (!size || !used || !available) return false;
  mount.size = *used + *available;  // without what is reserved for root
  mount.available = available;
  return true;
}

}  // namespace

std::optional<double> Mount::percent_used() const {
  if (!size || *size == 0 || !available) return std::nullopt;
  return 100 * (1 - static_cast<double>(*available) / static_cast<double>(*size));
}

FrameReader::FrameReader(HostReport& report) : report_(report) {
  // A new connection: what was asked on the last one is not answered on this one.
  for (Mount& mount : report_.mounts) mount.is_asked = false;
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
    if (!is_too_long_ && take(line_)) is_frame = true;
    line_.clear();
    is_too_long_ = false;
  }
  if (is_frame) bytes_ = 0;
  if (bytes_ > kMostBytes)
    throw link::HostError(
        {link::Stage::sampling, link::Cause::flood, "more than 256 KiB without a frame", link::Retry::no});
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
  SlowCounters slow;
  bool has_slow = false;
  std::vector<Chip> amd;
  report_.gone.clear();
  while (!words.empty()) {
    const std::string_view word = take_part(words, ' ');
    if (word.empty()) continue;
    std::string_view value = word.substr(1);
    switch (word.front()) {
      case 'u':
        now.at = to_real(value).value_or(0);
        break;
      case 'i':
        now.idle = to_real(value);
        break;
      case 'l':
        now.load = to_real(value);
        break;
      case 't':
        now.tasks = to_count(value);
        break;
      case 'M':
        now.memory_total = to_bytes(value, 1024);
        break;
      case 'A':
        now.memory_available = to_bytes(value, 1024);
        break;
      case 'S':
        now.swap_total = to_bytes(value, 1024);
        break;
      case 'F':
        now.swap_free = to_bytes(value, 1024);
        break;
      case 'n':
        now.net = to_traffic(value, 1);
        break;
      case 'd':
        now.disk = to_traffic(value, 512);
        break;
      case 'p':
        if (value.starts_with('c')) now.cpu_pressure = to_percent(value.substr(1));
        if (value.starts_with('m')) now.memory_pressure = to_percent(value.substr(1));
        if (value.starts_with('i')) now.io_pressure = to_percent(value.substr(1));
        break;
      case 'a':
        if (amd.size() < kMaxChips) amd.push_back(to_amd_chip(value, amd.size()));
        break;
      case 'c':
        has_slow = true;
        for (std::uint64_t& ticks : slow.cpu_ticks) ticks = to_count(take_part(value, ',')).value_or(0);
        break;
      case 'o':
        slow.oom_kills = to_count(value);
        break;
      case 'L':
      case 'N':
        if (slow.links.size() < kMaxLinks) slow.links.push_back(to_link(value));
        break;
      case 'x':
        if (const auto pid = to_count(value); pid && report_.gone.size() < kMaxLinks)
          report_.gone.push_back(*pid);
        break;
      default:
        break;
    }
  }
  report_.has_rebooted = now.at > 0 && now.at < report_.last_at;
  if (report_.has_rebooted) forget_boot();
  if (now.at > 0) report_.last_at = now.at;
  report_.before = std::exchange(report_.now, now);
  if (has_slow) {
    slow.at = now.at;
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
  if (!chip) {
    if (const std::string_view text = trim_space(rest); !text.empty()) report_.gpu_text = limited(text);
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
  holders_bytes_ += rest.size();
  if (!holders_ || holders_bytes_ > kMaxHolders) return;
  supervisor::read_line(*holders_, rest);
  if (!holders_->is_complete) return;
  report_.holders = std::exchange(holders_, std::nullopt);
  report_.holders_at = holders_at_;
}

void FrameReader::take_ports(std::string_view rest) {
  constexpr std::size_t kMostPorts = 16;
  take_part(rest, ' ');
  report_.metric_ports.clear();
  while (!rest.empty() && report_.metric_ports.size() < kMostPorts) {
    if (const auto port = to_port(take_part(rest, ' '))) report_.metric_ports.push_back(*port);
  }
}

}  // namespace podrun::top
