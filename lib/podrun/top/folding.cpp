// SPDX-License-Identifier: Apache-2.0
// Puts equal hosts together, and says in words what they have in common and what is odd.
#include "podrun/top/folding.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "podrun/devices/watchers.hpp"

namespace podrun::top {
namespace {

using Hosts = std::vector<std::size_t>;

/// Splits where sorted values have a gap, so that no fixed border divides hosts that are alike. Unknown
/// values are a group of their own.
std::vector<Hosts> split_at_gaps(const Pod& pod, Hosts hosts, const FigureKind& kind) {
  const auto value = [&](std::size_t host) { return at(pod.rows()[host].figures, kind.figure); };
  std::ranges::stable_sort(hosts, [&](std::size_t a, std::size_t b) { return value(a) < value(b); });
  std::vector<Hosts> parts;
  std::optional<double> last;
  for (const std::size_t host : hosts) {
    const std::optional<double> own = value(host);
    const bool is_apart = own && last && *own - *last > std::max(kind.gap.points, kind.gap.part * *own);
    if (parts.empty() || own.has_value() != last.has_value() || is_apart) parts.emplace_back();
    parts.back().push_back(host);
    last = own;
  }
  return parts;
}

}  // namespace

std::vector<std::vector<std::size_t>> fold_alike(const Pod& pod) {
  std::vector<Hosts> groups;
  for (const Peers& peers : pod.peers()) {
    groups.push_back(peers.hosts);
    std::erase_if(groups.back(), [&](std::size_t host) {
      return !pod.rows()[host].has_figures() || !pod.rows()[host].odd.empty();
    });
  }
  for (const FigureKind& kind : figure_kinds()) {
    if (kind.gap.points == 0) continue;
    std::vector<Hosts> parts;
    for (Hosts& group : groups) {
      for (Hosts& part : split_at_gaps(pod, std::move(group), kind)) parts.push_back(std::move(part));
    }
    groups = std::move(parts);
  }
  for (Hosts& group : groups) std::ranges::sort(group);
  std::ranges::sort(groups, [](const Hosts& a, const Hosts& b) {
    return a.size() != b.size() ? a.size() > b.size() : a.front() < b.front();
  });
  return groups;
}

std::vector<std::size_t> odd_in_order(const Pod& pod) {
  Hosts odd;
  for (std::size_t host = 0; host < pod.rows().size(); ++host) {
    if (!pod.rows()[host].odd.empty()) odd.push_back(host);
  }
  std::ranges::stable_sort(odd, [&](std::size_t a, std::size_t b) {
    const Severity of_a = pod.rows()[a].severity();
    const Severity of_b = pod.rows()[b].severity();
    return of_a != of_b ? of_a > of_b : pod.rows()[a].odd_since() < pod.rows()[b].odd_since();
  });
  return odd;
}

Figures medians_of(const Pod& pod, const Hosts& hosts) {
  Figures medians;
  for (const FigureKind& kind : figure_kinds()) {
    std::vector<std::optional<double>> values;
    for (const std::size_t host : hosts) values.push_back(at(pod.rows()[host].figures, kind.figure));
    if (const auto extremes = extremes_of(values)) at(medians, kind.figure) = extremes->median;
  }
  return medians;
}

std::string describe_alike(const Pod& pod, const Hosts& hosts) {
  const Figures medians = medians_of(pod, hosts);
  std::string text;
  for (const FigureKind& kind : figure_kinds()) {
    const std::optional<double>& median = at(medians, kind.figure);
    if (!kind.shown.alike || !median) continue;
    const std::string_view word = kind.figure == Figure::busy ? busy_name(pod) : kind.word;
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", word, word.empty() ? "" : " ",
                        long_value(kind, *median));
  }
  return text;
}

std::string describe_odd(const HostRow& row, std::string_view separator) {
  std::string text;
  for (const Odd& odd : row.odd) text += fmt::format("{}{}", text.empty() ? "" : separator, odd.text);
  return text;
}

ChipCounts count_chips(const Pod& pod) {
  constexpr double kBusy = 1;  // percent
  ChipCounts counts;
  for (const HostRow& row : pod.rows()) {
    const std::size_t here = chip_count(row.report);
    counts.all += here > 0 ? here : pod.usual().accelerators.value_or(0) * (row.has_figures() ? 0 : 1);
    if (!row.has_figures()) continue;
    std::size_t known = 0;
    for (const Chip& chip : fresh_chips(row.report)) {
      if (!chip.busy || known == here) continue;
      ++known;
      ++(*chip.busy >= kBusy ? counts.busy : counts.idle);
    }
    if (known > 0 || row.report.tpus == 0 || !row.report.holders) continue;
    std::set<std::string> open;
    for (const devices::DeviceHolder& holder : row.report.holders->holders) {
      if (devices::is_watcher(holder.name)) continue;
      open.insert(holder.devices.begin(), holder.devices.end());
    }
    const std::size_t held = std::min(open.size(), here);
    counts.busy += held;
    if (held > 0 || row.report.holders->sees_all) counts.idle += here - held;
  }
  return counts;
}

std::string describe_accelerators(const Pod& pod) {
  std::map<std::string, std::size_t> names;
  for (const HostRow& row : pod.rows()) {
    if (const std::string name = accelerator_name(row.report); !name.empty())
      names[name] += chip_count(row.report);
  }
  // A host that has never answered counts like most others.
  if (names.size() == 1) names.begin()->second = count_chips(pod).all;
  std::string text;
  for (const auto& [name, count] : names)
    text += fmt::format("{}{} × {}", text.empty() ? "" : ", ", count, name);
  return text;
}

std::string_view busy_name(const Pod& pod) {
  const bool has_tpus =
      std::ranges::any_of(pod.rows(), [](const HostRow& row) { return row.report.tpus > 0; });
  return has_tpus ? "duty" : "GPU";
}

std::string name_of(const Pod& pod, Figure figure) {
  return figure == Figure::busy ? fmt::format("{} %", busy_name(pod)) : std::string(kind_of(figure).name);
}

}  // namespace podrun::top
