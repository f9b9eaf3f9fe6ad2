// SPDX-License-Identifier: Apache-2.0
// Selects hosts by `-x` and `--workers`.
#include "podrun/hosts/narrowing.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/rank_set.hpp"
#include "podrun/hosts/this_machine.hpp"

namespace podrun::hosts {
namespace {

/// An entry of `-x` without a user or port matches any.
bool matches(const Host& entry, const Host& host) {
  return (entry.user.empty() || entry.user == host.user) && (entry.port == 0 || entry.port == port_of(host));
}

std::set<std::size_t> all_labels(const std::vector<Host>& hosts) {
  std::set<std::size_t> labels;
  for (const Host& host : hosts) labels.insert(host.label);
  return labels;
}

/// The worker numbers in an entry of `-x` that is no host's name: `3`, `3-7`.
std::vector<std::size_t> as_labels(const Host& entry, const std::set<std::size_t>& known) {
  if (entry.name.find_first_not_of("0123456789-") != std::string::npos) return {};
  std::vector<std::size_t> labels = parse_ranks(entry.name);
  const bool all_known =
      std::all_of(labels.begin(), labels.end(), [&](std::size_t label) { return known.contains(label); });
  return all_known ? labels : std::vector<std::size_t>();
}

std::set<std::size_t> excluded_labels(const std::vector<Host>& hosts, const std::vector<Host>& exclude) {
  const std::set<std::size_t> known = all_labels(hosts);
  std::multimap<std::string, const Host*> by_name;
  for (const Host& host : hosts) by_name.emplace(canonical_name(host.name), &host);
  std::set<std::size_t> labels;
  for (const Host& entry : exclude) {
    bool found = false;
    const auto [begin, end] = by_name.equal_range(canonical_name(entry.name));
    for (auto candidate = begin; candidate != end; ++candidate) {
      if (!matches(entry, *candidate->second)) continue;
      labels.insert(candidate->second->label);
      found = true;
    }
    if (found) continue;
    const std::vector<std::size_t> by_number = as_labels(entry, known);
    if (by_number.empty()) {
      throw UsageError(
          fmt::format("{}: \"{}\" matches no host (--dry-run shows them)", entry.source, entry.name));
    }
    labels.insert(by_number.begin(), by_number.end());
  }
  return labels;
}

std::vector<std::size_t> parse_ranks_option(const std::string& text) try {
  return parse_ranks(text);
} catch (const UsageError& error) {
  throw UsageError(fmt::format("--workers: {}", error.what()));
}

std::set<std::size_t> selected_labels(const std::vector<Host>& hosts,
                                      const std::optional<std::string>& ranks) {
  const std::set<std::size_t> labels = all_labels(hosts);
  if (!ranks || *ranks == "all") return labels;
  std::set<std::size_t> selected;
  for (const std::size_t rank : parse_ranks_option(*ranks)) {
    if (!labels.contains(rank)) {
      throw UsageError(fmt::format("--workers: no host has worker number \"{}\" (there are {})", rank,
                                   fold_ranks({labels.begin(), labels.end()})));
    }
    selected.insert(rank);
  }
  return selected;
}

}  // namespace

void narrow(std::vector<Host>& hosts, const std::vector<Host>& exclude,
            const std::optional<std::string>& ranks) {
  const std::set<std::size_t> excluded = excluded_labels(hosts, exclude);
  const std::set<std::size_t> selected = selected_labels(hosts, ranks);
  std::erase_if(hosts, [&](const Host& host) {
    return excluded.contains(host.label) || !selected.contains(host.label);
  });
  if (hosts.empty()) throw UsageError("no host is left (-x and --workers exclude all of them)");
}

}  // namespace podrun::hosts
