// SPDX-License-Identifier: Apache-2.0
// Numbers that can be compared, from counters that only grow.
#include "podrun/top/figures.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace podrun::top {
namespace {

/// nvidia-smi prints every few seconds; older rows are of a driver that hangs.
constexpr double kFreshSeconds = 15;

/// Seconds between the last two frames; none: there is only one, or the host does not say when it was.
std::optional<double> time_between(const HostReport& report) {
  if (!report.before || !report.now || report.before->at <= 0 || report.now->at <= report.before->at)
    return std::nullopt;
  return report.now->at - report.before->at;
}

/// By how much a counter grew per second between the last two frames. None if there are no two such
/// frames, if one of them lacks the counter, or if it has become smaller.
std::optional<Rates> rates(const HostReport& report, std::optional<Traffic> Counters::*traffic) {
  const std::optional<double> seconds = time_between(report);
  if (!seconds) return std::nullopt;
  const std::optional<Traffic>& before = *report.before.*traffic;
  const std::optional<Traffic>& now = *report.now.*traffic;
  if (!before || !now || now->in < before->in || now->out < before->out) return std::nullopt;
  return Rates{static_cast<double>(now->in - before->in) / *seconds,
               static_cast<double>(now->out - before->out) / *seconds};
}

}  // namespace

Figures figures_of(const HostReport& report) {
  Figures figures;
  for (const FigureKind& kind : figure_kinds()) {
    if (const Chip* const chip = worst_chip(report, kind.figure))
      at(figures, kind.figure) = kind.of_chip(*chip);
    if (kind.of_host && report.now) at(figures, kind.figure) = kind.of_host(report);
  }
  return figures;
}

std::optional<CpuTimes> cpu_times(const HostReport& report) {
  if (!report.slow || !report.slow_before) return std::nullopt;
  std::array<double, 8> spent{};
  double total = 0;
  for (std::size_t i = 0; i < spent.size(); ++i) {
    const std::uint64_t before = report.slow_before->cpu_ticks[i];
    const std::uint64_t now = report.slow->cpu_ticks[i];
    spent[i] = now > before ? static_cast<double>(now - before) : 0;  // iowait may decrease, proc(5)
    total += spent[i];
  }
  if (total <= 0) return std::nullopt;
  for (double& each : spent) each *= 100 / total;
  return CpuTimes{.user = spent[0] + spent[1],
                  .system = spent[2] + spent[5] + spent[6],
                  .wait = spent[4],
                  .steal = spent[7]};
}

std::optional<double> cpu_busy(const HostReport& report) {
  const std::optional<double> seconds = time_between(report);
  if (!seconds || report.cores == 0 || !report.now->idle || !report.before->idle) return std::nullopt;
  const double idle = *report.now->idle - *report.before->idle;
  if (idle < 0) return std::nullopt;
  const std::optional<CpuTimes> times = cpu_times(report);
  const double busy = 100 * (1 - idle / (*seconds * static_cast<double>(report.cores)));
  return std::clamp(busy - (times ? times->wait : 0), 0.0, 100.0);
}

std::optional<Rates> net_rates(const HostReport& report) { return rates(report, &Counters::net); }
std::optional<Rates> disk_rates(const HostReport& report) { return rates(report, &Counters::disk); }

std::span<const Chip> fresh_chips(const HostReport& report) {
  if (!report.chips_at || !report.now || report.now->at - *report.chips_at > kFreshSeconds) return {};
  return report.chips;
}

const Chip* worst_chip(const HostReport& report, Figure figure) {
  const FigureKind& kind = kind_of(figure);
  if (!kind.of_chip) return nullptr;
  const Chip* worst = nullptr;
  for (const Chip& chip : fresh_chips(report)) {
    const std::optional<double> value = kind.of_chip(chip);
    if (value && (!worst || kind.is_worse(*value, *kind.of_chip(*worst)))) worst = &chip;
  }
  return worst;
}

std::optional<Extremes> extremes_of(const std::vector<std::optional<double>>& values) {
  std::vector<double> known;
  for (const std::optional<double>& value : values) {
    if (value) known.push_back(*value);
  }
  if (known.empty()) return std::nullopt;
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
  std::nth_element(known.begin(), middle, known.end());
  const double upper = *middle;
  const double lower = known.size() % 2 == 1 ? upper : *std::max_element(known.begin(), middle);
  Extremes extremes{.median = (lower + upper) / 2};
  const auto [least, most] = std::minmax_element(known.begin(), known.end());
  extremes.least = *least;
  extremes.most = *most;
  double farthest = -1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i] || std::abs(*values[i] - extremes.median) <= farthest) continue;
    farthest = std::abs(*values[i] - extremes.median);
    extremes.worst = i;
  }
  return extremes;
}

namespace {

/// `0.3`, `41`: two digits, or the whole number.
std::string number(double value) {
  constexpr double kOneDecimal = 9.95;
  return value < kOneDecimal && value >= 0.05 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

struct Scaled {
  double value;
  std::string_view prefix;
};
Scaled scale(double bytes) {
  constexpr double kThousand = 1000;
  constexpr std::array<std::string_view, 7> kPrefixes = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t power = 0;
  while (bytes >= kThousand - 0.5 && power + 1 < kPrefixes.size()) {
    bytes /= kThousand;
    ++power;
  }
  return {bytes, kPrefixes[power]};
}

}  // namespace

std::string short_value(const FigureKind& kind, double value) {
  if (kind.unit == Unit::seconds) return fmt::format("{:.1f}", std::round(value * 10) / 10 + 0.0);  // no -0.0
  if (kind.unit != Unit::bytes_per_second) return fmt::format("{:.0f}", value);
  const auto [scaled, prefix] = scale(value);
  return prefix.empty() ? number(scaled) : fmt::format("{} {}", number(scaled), prefix);
}

std::string long_value(const FigureKind& kind, double value) {
  constexpr std::array<std::string_view, 6> kUnits = {"%", "W", "B/s", "°C", "MHz", "s"};
  const std::string_view unit = kUnits[static_cast<std::size_t>(kind.unit)];
  if (kind.unit == Unit::seconds) return fmt::format("{:.1f} {}", value, unit);
  if (kind.unit != Unit::bytes_per_second) return fmt::format("{:.0f} {}", value, unit);
  const auto [scaled, prefix] = scale(value);
  return fmt::format("{} {}{}", number(scaled), prefix, unit);
}

}  // namespace podrun::top
