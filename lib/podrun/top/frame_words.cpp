// SPDX-License-Identifier: Apache-2.0
// Checks and reads single words of a host.
#include "podrun/top/frame_words.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "podrun/base/text.hpp"
#include "podrun/devices/accelerators.hpp"
#include "podrun/supervisor/memory_limit.hpp"

namespace podrun::top {
namespace {

constexpr std::size_t kMaxText = 200;
constexpr std::size_t kMaxLinks = 64;
/// Beyond this no counter is believed: sums could overflow.
constexpr double kMostNumber = 1e18;

/// `0x0000000000000004` or decimal digits.
std::optional<std::uint64_t> to_bits(std::string_view text) {
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits, is_hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return bits;
}

NetworkLink to_link(std::string_view text) {
  NetworkLink link;
  link.name = limited(take_part(text, ','));
  link.state = limited(take_part(text, ','));
  link.speed = to_count(text);
  return link;
}

}  // namespace

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

std::optional<Chip> to_nvidia_chip(std::string_view row) {
  constexpr std::size_t kFields = 10;
  constexpr std::uint64_t kMib = 1ULL << 20U;
  std::vector<std::string_view> fields = split(row, ',');
  if (fields.size() != kFields) return std::nullopt;
  for (std::string_view& field : fields) field = trim_space(field);
  const std::optional<std::uint64_t> index = to_count(fields[0]);
  if (!index || *index >= kMaxChips) return std::nullopt;
  const auto fault = std::ranges::find_if(fields, devices::is_fault_of_gpu);
  return Chip{.index = *index,
              .busy = to_percent(fields[1]),
              .watts = to_real(fields[4]),
              .memory_used = to_bytes(fields[2], kMib),
              .memory_total = to_bytes(fields[3], kMib),
              .celsius = to_real(fields[5]),
              .mhz = to_real(fields[6]),
              .most_mhz = to_real(fields[7]),
              .ecc_errors = to_count(fields[8]),
              .slowed_by = to_bits(fields[9]),
              .fault = fault == fields.end() ? "" : limited(*fault)};
}

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

bool read_counter(std::string_view word, Counters& now) {
  constexpr std::uint64_t kKib = 1024;
  constexpr std::uint64_t kSector = 512;
  const char key = word.front();
  const std::string_view value = word.substr(1);
  if (key == 'u') now.at = to_real(value).value_or(0);
  if (key == 'i') now.idle = to_real(value);
  if (key == 'l') now.load = to_real(value);
  if (key == 'M') now.memory_total = to_bytes(value, kKib);
  if (key == 'A') now.memory_available = to_bytes(value, kKib);
  if (key == 'm') supervisor::limit_memory(value, now.memory_total, now.memory_available);
  if (key == 'S') now.swap_total = to_bytes(value, kKib);
  if (key == 'F') now.swap_free = to_bytes(value, kKib);
  if (key == 'n') now.net = to_traffic(value, 1);
  if (key == 'd') now.disk = to_traffic(value, kSector);
  if (word.starts_with("pc")) now.cpu_pressure = to_percent(value.substr(1));
  if (word.starts_with("pm")) now.memory_pressure = to_percent(value.substr(1));
  return std::string_view("uilMAmSFndp").find(key) != std::string_view::npos;
}

void read_slow_counter(std::string_view word, std::optional<SlowCounters>& slow) {
  std::string_view value = word.substr(1);
  if (word.front() == 'c') {
    slow.emplace();
    for (std::uint64_t& ticks : slow->cpu_ticks) ticks = to_count(take_part(value, ',')).value_or(0);
  } else if (!slow) {
    return;
  } else if (word.front() == 'o') {
    slow->oom_kills = to_count(value);
  } else if ((word.front() == 'L' || word.front() == 'N') && slow->links.size() < kMaxLinks) {
    slow->links.push_back(to_link(value));
  }
}

}  // namespace podrun::top
