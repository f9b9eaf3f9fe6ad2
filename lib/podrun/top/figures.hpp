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

struct FigureKind {
  Figure figure;
  std::string_view id;    ///< for --json and filters
  std::string_view name;  ///< in columns; of GPUs
  Unit unit;
  /// How far from the median of equal hosts a value is odd, at least; 0: it is not compared.
  double floor = 0;
  bool is_floor_of_median = false;  ///< `floor` is a percentage of the median
};
std::span<const FigureKind> figure_kinds();
const FigureKind& kind_of(Figure figure);
/// True if the smaller value of this figure is worse, as with a chip that does little.
bool is_worse_low(Figure figure);

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
/// The chip's own value of a figure of chips.
std::optional<double> value_of(const Chip& chip, Figure figure);

/// The extremes and the median of the known values of a figure.
struct Spread {
  double least = 0;
  double median = 0;
  double most = 0;
  std::size_t worst = 0;  ///< place of the value that is farthest from the median
};
std::optional<Spread> spread_of(const std::vector<std::optional<double>>& values);

/// `98`, `41 G`, `0.3 M`: at most 5 cells, without the unit of the figure's name.
std::string short_value(const FigureKind& kind, double value);
/// `98 %`, `655 W`, `41 GB/s`.
std::string long_value(const FigureKind& kind, double value);

}  // namespace podrun::top
