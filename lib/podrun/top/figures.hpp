// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/top/frames.hpp"

// The figures of podrun top: numbers, made of the counters of a host, that are compared between hosts. Pure.
namespace podrun::top {

/// A quantity that podrun top measures on each host. For a figure of chips the host's worst chip counts.
enum class Figure : std::size_t {
  busy,
  watts,
  hbm,
  cpu,
  ram,
  net,
  disk,
  root,
  celsius,
  mhz,
  pressure,
  clock,
  age
};
inline constexpr std::size_t kFigures = static_cast<std::size_t>(Figure::age) + 1;

/// A missing one is not known.
using Figures = std::array<std::optional<double>, kFigures>;

inline std::optional<double>& at(Figures& figures, Figure figure) {
  return figures[static_cast<std::size_t>(figure)];
}
inline const std::optional<double>& at(const Figures& figures, Figure figure) {
  return figures[static_cast<std::size_t>(figure)];
}

enum class Unit { percent, watts, bytes_per_second, celsius, mhz, seconds };

/// A column of the list of hosts.
struct ListColumn {
  std::string_view heading = {};
  std::size_t width = 0;          ///< cells; 0: the list does not have it
  std::size_t least_columns = 0;  ///< of the screen
};

/// Where a figure is shown besides the list; the page of a host, the field and a wide table have all.
struct Shown {
  bool narrow = false;  ///< also in a table with less than three blocks
  bool once = false;    ///< in the table of --once
  bool alike = false;   ///< in the words about hosts that are alike
};

/// Two neighbours this far apart are not alike: a fixed distance, or a part of the larger value.
struct Gap {
  double points = 0;  ///< 0: this figure divides no hosts
  double part = 0;
};

/// Everything about a figure: a new one is a value of Figure and a row of figure_table.cpp.
struct FigureKind {
  Figure figure;
  std::string_view id;         ///< for --json
  std::string_view name;       ///< in tables; of GPUs
  std::string_view word = {};  ///< before a value with its unit; empty: the unit says it
  Unit unit = Unit::percent;
  /// Reads it. Of chips the worst one counts for the host; without both it is podrun's own.
  std::optional<double> (*of_host)(const HostReport&) = nullptr;
  std::optional<double> (*of_chip)(const Chip&) = nullptr;
  bool is_worse_low = false;  ///< as with a chip that does little
  ListColumn column = {};
  Shown shown = {};
  /// How far from the median of equal hosts a value is odd, at least; 0: it is not compared.
  double floor = 0;
  bool is_floor_of_median = false;  ///< `floor` is a percentage of the median
  Gap gap = {};

  bool is_worse(double a, double b) const { return is_worse_low ? a < b : a > b; }
};
/// In the order of Figure, in which they are shown too.
std::span<const FigureKind> figure_kinds();
const FigureKind& kind_of(Figure figure);

/// From the last two frames: no rate over a reboot, a reset of a counter or a lost connection. Without
/// `clock` and `age`, which are podrun's own.
Figures figures_of(const HostReport& report);

/// User, system and so on between the last two SlowCounters, in percent; none: not known.
struct CpuTimes {
  double user = 0;
  double system = 0;
  double wait = 0;
  double steal = 0;
};
std::optional<CpuTimes> cpu_times(const HostReport& report);
/// Percent of the last interval. /proc/uptime counts the idle time of all CPUs, without the time in which
/// they waited for disks.
std::optional<double> cpu_busy(const HostReport& report);

struct Rates {
  double in = 0;
  double out = 0;
};
/// Bytes a second between the last two frames.
std::optional<Rates> net_rates(const HostReport& report);
std::optional<Rates> disk_rates(const HostReport& report);

/// Chips whose figures are not too old to count.
std::span<const Chip> fresh_chips(const HostReport& report);
/// The worst one of the host, for a figure of chips; null: none is known.
const Chip* worst_chip(const HostReport& report, Figure figure);

/// The extremes and the median of the known values of a figure.
struct Extremes {
  double least = 0;
  double median = 0;
  double most = 0;
  std::size_t worst = 0;  ///< place of the value that is farthest from the median
};
std::optional<Extremes> extremes_of(const std::vector<std::optional<double>>& values);

/// `98`, `41 G`, `0.3 M`: at most 5 cells, without the unit of the figure's name.
std::string short_value(const FigureKind& kind, double value);
/// `98 %`, `655 W`, `41 GB/s`.
std::string long_value(const FigureKind& kind, double value);

}  // namespace podrun::top
