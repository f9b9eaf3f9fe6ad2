// SPDX-License-Identifier: Apache-2.0
// The table of figures: how each is read, where it is shown, and how hosts are compared by it.
#include <algorithm>

#include "podrun/top/figures.hpp"

namespace podrun::top {
namespace {

std::optional<double> ram_used(const HostReport& report) {
  const Counters& now = *report.now;
  if (now.memory_total.value_or(0) == 0 || !now.memory_available) return std::nullopt;
  return std::max(
      0.0, 100 * (1 - static_cast<double>(*now.memory_available) / static_cast<double>(*now.memory_total)));
}

std::optional<double> net_traffic(const HostReport& report) {
  const std::optional<Rates> net = net_rates(report);
  return net ? std::optional(std::max(net->in, net->out)) : std::nullopt;
}

std::optional<double> disk_traffic(const HostReport& report) {
  const std::optional<Rates> disk = disk_rates(report);
  return disk ? std::optional(disk->in + disk->out) : std::nullopt;
}

std::optional<double> root_used(const HostReport& report) {
  const auto root = std::ranges::find(report.mounts, "/", &Mount::path);
  return root == report.mounts.end() ? std::nullopt : root->percent_used();
}

std::optional<double> hbm_used(const Chip& chip) {
  if (!chip.memory_used || chip.memory_total.value_or(0) == 0) return std::nullopt;
  return std::min(100.0,
                  100 * static_cast<double>(*chip.memory_used) / static_cast<double>(*chip.memory_total));
}

constexpr std::array<FigureKind, kFigures> kKinds{{
    {.figure = Figure::busy,
     .id = "gpu",
     .name = "GPU %",
     .of_chip = [](const Chip& chip) { return chip.busy; },
     .is_worse_low = true,
     .column = {"GPU%", 5, 30},
     .shown = {.narrow = true, .once = true, .alike = true},
     .floor = 20,
     .gap = {10}},
    {.figure = Figure::watts,
     .id = "watts",
     .name = "GPU W",
     .unit = Unit::watts,
     .of_chip = [](const Chip& chip) { return chip.watts; },
     .is_worse_low = true,
     .column = {"W", 5, 60},
     .shown = {.narrow = true, .once = true, .alike = true},
     .floor = 15,
     .is_floor_of_median = true,
     .gap = {20, 0.1}},
    {.figure = Figure::hbm,
     .id = "hbm",
     .name = "HBM %",
     .word = "HBM",
     .of_chip = hbm_used,
     .column = {"HBM", 4, 70},
     .shown = {.narrow = true, .once = true, .alike = true},
     .floor = 10},
    {.figure = Figure::cpu,
     .id = "cpu",
     .name = "CPU %",
     .word = "CPU",
     .of_host = cpu_busy,
     .column = {"CPU", 4, 36},
     .shown = {.narrow = true, .once = true, .alike = true},
     .floor = 30,
     .gap = {20}},
    {.figure = Figure::ram,
     .id = "ram",
     .name = "RAM %",
     .word = "RAM",
     .of_host = ram_used,
     .column = {"RAM", 4, 50},
     .shown = {.narrow = true, .once = true, .alike = true},
     .floor = 15,
     .gap = {10}},
    {.figure = Figure::net,
     .id = "net",
     .name = "net",
     .word = "net",
     .unit = Unit::bytes_per_second,
     .of_host = net_traffic,
     .column = {"net", 6, 74},
     .shown = {.narrow = true, .once = true},
     .floor = 30,
     .is_floor_of_median = true},
    {.figure = Figure::disk,
     .id = "disk",
     .name = "disk",
     .unit = Unit::bytes_per_second,
     .of_host = disk_traffic,
     .column = {"disk", 6, 110},
     .shown = {.narrow = true, .once = true}},
    {.figure = Figure::root,
     .id = "root",
     .name = "/ %",
     .word = "/",
     .of_host = root_used,
     .column = {"/", 4, 78},
     .shown = {.narrow = true, .once = true, .alike = true}},
    {.figure = Figure::celsius,
     .id = "celsius",
     .name = "°C",
     .unit = Unit::celsius,
     .of_chip = [](const Chip& chip) { return chip.celsius; },
     .column = {"°C", 4, 120},
     .shown = {.once = true},
     .floor = 12},
    {.figure = Figure::mhz,
     .id = "mhz",
     .name = "MHz",
     .unit = Unit::mhz,
     .of_chip = [](const Chip& chip) { return chip.mhz; },
     .is_worse_low = true,
     .column = {"MHz", 6, 130},
     .floor = 10,
     .is_floor_of_median = true},
    {.figure = Figure::pressure,
     .id = "pressure",
     .name = "press %",
     .of_host = [](const HostReport& report) { return report.now->memory_pressure; },
     .column = {"press", 6, 140}},
    {.figure = Figure::clock,
     .id = "clock",
     .name = "clock s",
     .unit = Unit::seconds,
     .column = {"clock", 6, 150}},
    {.figure = Figure::age, .id = "age", .name = "age s", .unit = Unit::seconds},
}};

constexpr bool are_in_order() {
  for (std::size_t place = 0; place < kFigures; ++place) {
    if (static_cast<std::size_t>(kKinds[place].figure) != place) return false;
  }
  return true;
}
static_assert(are_in_order(), "a row for each Figure, in its order");

}  // namespace

std::span<const FigureKind> figure_kinds() { return kKinds; }
const FigureKind& kind_of(Figure figure) { return kKinds[static_cast<std::size_t>(figure)]; }

}  // namespace podrun::top
