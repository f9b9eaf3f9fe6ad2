// SPDX-License-Identifier: Apache-2.0
// What is usual among the hosts, and how far each is from the others like it.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "podrun/top/top_pod.hpp"

namespace podrun::top {
namespace {

constexpr std::size_t kLeastToCompare = 5;
constexpr unsigned kFramesKept = 5;

/// Median absolute deviation, scaled to the standard deviation of a normal distribution.
double scaled_mad(std::vector<double> values, double median) {
  constexpr double kOfNormal = 1.4826;
  for (double& value : values) value = std::abs(value - median);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return kOfNormal * *middle;
}

/// The commonest of these numbers, if so many hosts have it.
std::optional<std::uint64_t> commonest(const std::map<std::uint64_t, std::size_t>& counts, double least) {
  const auto most = std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
  if (most == counts.end() || static_cast<double>(most->second) < least) return std::nullopt;
  return most->first;
}

}  // namespace

void Pod::find_usual() {
  constexpr double kLeastHosts = 3;
  struct OfLink {
    std::size_t hosts = 0;
    std::size_t up = 0;
    std::map<std::uint64_t, std::size_t> speeds = {};
  };
  usual_ = {};
  std::map<std::uint64_t, std::size_t> accelerators;
  std::map<std::string, std::size_t> names;
  std::map<std::string, OfLink> links;
  std::map<std::string, std::pair<std::size_t, std::size_t>>
      paths;  // hosts with it, and where it is writable
  for (const HostRow& row : rows_) {
    if (!row.has_figures()) continue;
    ++accelerators[usable_accelerators(row.report)];
    ++names[accelerator_name(row.report)];
    const bool uses_all = row.report.pci_gpus > 0 && usable_accelerators(row.report) >= row.report.pci_gpus;
    usual_.is_bus_used = usual_.is_bus_used || uses_all;
    for (const Mount& mount : row.report.mounts) {
      if (!mount.at) continue;
      ++paths[mount.path].first;
      if (!mount.is_read_only) ++paths[mount.path].second;
    }
    if (!row.report.slow) continue;
    for (const NetworkLink& link : row.report.slow->links) {
      OfLink& of = links[link.name];
      ++of.hosts;
      if (is_up(link)) ++of.up;
      if (link.speed) ++of.speeds[*link.speed];
    }
  }
  const auto most = [&](std::size_t all) {
    return std::max(kLeastHosts, kNearlyAll * static_cast<double>(all));
  };
  usual_.accelerators = commonest(accelerators, most(count(Presence::up)));
  const auto name_of_most = std::ranges::max_element(names, {}, [](const auto& each) { return each.second; });
  if (name_of_most != names.end()) usual_.accelerator = name_of_most->first;
  for (const auto& [name, of] : links) {
    if (static_cast<double>(of.up) >= most(of.hosts))
      usual_.links.emplace(name, commonest(of.speeds, most(of.hosts)));
  }
  for (const auto& [path, of] : paths) {
    if (static_cast<double>(of.second) >= most(of.first)) usual_.writable.insert(path);
  }
}

void Pod::find_peers() {
  std::map<std::string, std::vector<std::size_t>> members;
  for (std::size_t host = 0; host < rows_.size(); ++host) {
    peers_of_[host] = rows_.size();
    if (rows_[host].has_figures())
      members[accelerators_of(rows_[host].report) + '\n' + rows_[host].run].push_back(host);
  }
  peers_.clear();
  for (auto& [key, hosts] : members) {
    for (const std::size_t host : hosts) peers_of_[host] = peers_.size();
    peers_.push_back({.hosts = std::move(hosts)});
  }
}

/// Beyond the floor of the figure and six times what is usual among the others. Where more than a quarter is,
/// there are two kinds of hosts, and none is odd.
void Pod::find_deviations() {
  for (Peers& peers : peers_) {
    for (const FigureKind& kind : figure_kinds()) {
      const auto index = static_cast<std::size_t>(kind.figure);
      std::vector<double> values;
      for (const std::size_t host : peers.hosts) {
        if (const auto& value = rows_[host].figures[index]) values.push_back(*value);
      }
      std::vector<std::size_t> odd;
      if (kind.floor > 0 && values.size() >= kLeastToCompare) {
        std::vector<std::optional<double>> all(values.begin(), values.end());
        const double median = extremes_of(all)->median;
        const double floor = kind.is_floor_of_median ? kind.floor / 100 * median : kind.floor;
        constexpr double kDeviations = 6;
        constexpr double kLeastTraffic = 1e6;  // bytes a second: below, a difference says nothing
        peers.medians[index] = median;
        peers.limits[index] = std::max({floor, kDeviations * scaled_mad(values, median),
                                        kind.unit == Unit::bytes_per_second ? kLeastTraffic : 0});
        for (const std::size_t host : peers.hosts) {
          const auto& value = rows_[host].figures[index];
          if (value && std::abs(*value - median) > peers.limits[index]) odd.push_back(host);
        }
        if (4 * odd.size() > values.size()) odd.clear();
      }
      for (const std::size_t host : peers.hosts) {
        if (!rows_[host].is_new) continue;
        unsigned& bits = rows_[host].deviations[index];
        bits = (bits << 1U | (std::ranges::binary_search(odd, host) ? 1U : 0U)) & ((1U << kFramesKept) - 1);
      }
    }
  }
  for (HostRow& row : rows_) row.is_new = false;
}

void Pod::find_extremes(TimePoint now, std::chrono::milliseconds interval) {
  for (const FigureKind& kind : figure_kinds()) {
    std::vector<std::optional<double>> values(rows_.size());
    for (std::size_t host = 0; host < rows_.size(); ++host) {
      if (rows_[host].has_figures()) values[host] = at(rows_[host].figures, kind.figure);
    }
    extremes_[static_cast<std::size_t>(kind.figure)] = extremes_of(values);
  }
  if (now - history_at_ < interval) return;
  history_at_ = now;
  history_.push_back(extremes_);
  if (history_.size() > kHistory) history_.pop_front();
}

}  // namespace podrun::top
