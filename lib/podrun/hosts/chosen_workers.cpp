// SPDX-License-Identifier: Apache-2.0
// Narrows a list of hosts: without those of `-x`, and to those of `--workers`, by worker number or by name.
#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/base/worker_numbers.hpp"
#include "podrun/hosts/discovery.hpp"
#include "podrun/hosts/this_machine.hpp"

namespace podrun::hosts {
namespace {

/// An entry of `-x` without a user or port matches any.
bool matches(const Host& entry, const Host& host) {
  return (entry.user.empty() || entry.user == host.user) && (entry.port == 0 || entry.port == port_of(host));
}

std::set<std::size_t> all_workers(const std::vector<Host>& hosts) {
  std::set<std::size_t> numbers;
  for (const Host& host : hosts) numbers.insert(host.worker);
  return numbers;
}

/// The worker numbers in an entry of `-x` that is not a host's name: `3`, `3-7`.
std::vector<std::size_t> as_workers(const Host& entry, const std::set<std::size_t>& known) {
  if (entry.name.find_first_not_of("0123456789-") != std::string::npos) return {};
  std::vector<std::size_t> numbers = parse_workers(entry.name);
  const bool all_known =
      std::all_of(numbers.begin(), numbers.end(), [&](std::size_t number) { return known.contains(number); });
  return all_known ? numbers : std::vector<std::size_t>();
}

std::set<std::size_t> excluded_workers(const std::vector<Host>& hosts, const std::vector<Host>& exclude) {
  const std::set<std::size_t> known = all_workers(hosts);
  std::multimap<std::string, const Host*> by_name;
  for (const Host& host : hosts) {
    by_name.emplace(canonical_name(host.name), &host);
    if (!host.address.empty()) by_name.emplace(canonical_name(host.address), &host);
  }
  std::set<std::size_t> numbers;
  for (const Host& entry : exclude) {
    bool found = false;
    const auto [begin, end] = by_name.equal_range(canonical_name(entry.name));
    for (auto candidate = begin; candidate != end; ++candidate) {
      if (!matches(entry, *candidate->second)) continue;
      numbers.insert(candidate->second->worker);
      found = true;
    }
    if (found) continue;
    const std::vector<std::size_t> by_number = as_workers(entry, known);
    if (by_number.empty()) {
      throw UsageError(
          fmt::format("{}: \"{}\" matches no host (--dry-run shows them)", entry.source, entry.name));
    }
    numbers.insert(by_number.begin(), by_number.end());
  }
  return numbers;
}

std::vector<std::size_t> parse_workers_option(const std::string& text) try {
  return parse_workers(text);
} catch (const UsageError& error) {
  throw UsageError(fmt::format("--workers: {}", error.what()));
}

std::set<std::size_t> selected_workers(const std::vector<Host>& hosts,
                                       const std::optional<std::string>& workers) {
  const std::set<std::size_t> numbers = all_workers(hosts);
  if (!workers || *workers == "all") return numbers;
  std::set<std::size_t> selected;
  for (const std::size_t worker : parse_workers_option(*workers)) {
    if (!numbers.contains(worker)) {
      throw UsageError(fmt::format("--workers: no host has worker number \"{}\" (there are {})", worker,
                                   fold_workers({numbers.begin(), numbers.end()})));
    }
    selected.insert(worker);
  }
  return selected;
}

}  // namespace

void narrow(std::vector<Host>& hosts, const std::vector<Host>& exclude,
            const std::optional<std::string>& workers) {
  const std::set<std::size_t> excluded = excluded_workers(hosts, exclude);
  const std::set<std::size_t> selected = selected_workers(hosts, workers);
  std::erase_if(hosts, [&](const Host& host) {
    return excluded.contains(host.worker) || !selected.contains(host.worker);
  });
  if (hosts.empty()) throw UsageError("no host is left (-x and --workers exclude all of them)");
}

std::size_t find_host(const std::vector<Host>& hosts, const std::string& wanted, const std::string& where) {
  const auto index = [&](auto found) { return static_cast<std::size_t>(found - hosts.begin()); };
  const auto by_worker = std::find_if(hosts.begin(), hosts.end(), [&wanted](const Host& host) {
    return std::to_string(host.worker) == wanted;
  });
  if (by_worker != hosts.end()) return index(by_worker);
  const auto is_wanted = [&wanted](const Host& host) { return host.name == wanted; };
  const auto by_name = std::find_if(hosts.begin(), hosts.end(), is_wanted);
  if (by_name == hosts.end()) {
    const std::set<std::size_t> numbers = all_workers(hosts);
    throw UsageError(fmt::format(
        "{}: no host has this worker number or name: \"{}\" (there are {}; podrun hosts lists them)", where,
        wanted, fold_workers({numbers.begin(), numbers.end()})));
  }
  if (std::count_if(hosts.begin(), hosts.end(), is_wanted) > 1) {
    throw UsageError(
        fmt::format("{}: \"{}\" is the name of several hosts (give a worker number; podrun hosts lists them)",
                    where, wanted));
  }
  return index(by_name);
}

void include_host(Discovery& discovery, const std::string& wanted, const std::string& where) {
  std::vector<Host>& hosts = discovery.hosts;
  const Host& host = discovery.all[find_host(discovery.all, wanted, where)];
  const auto place = std::ranges::lower_bound(hosts, host.worker, {}, &Host::worker);
  if (place == hosts.end() || place->worker != host.worker) hosts.insert(place, host);
}

}  // namespace podrun::hosts
