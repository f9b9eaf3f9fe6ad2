// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/outcome_groups.hpp"

#include <algorithm>
#include <utility>

namespace podrun::run {
namespace {

/// Whether a reader sees no difference. The number of attempts and a possible retry are none.
bool are_alike(const HostOutcome& a, const HostOutcome& b) {
  const link::Failure* one = failure_of(a);
  const link::Failure* other = failure_of(b);
  if (!one || !other) return a == b;
  link::Failure retried_alike = *one;
  retried_alike.retry = other->retry;
  return a.index() == b.index() && retried_alike == *other;
}

}  // namespace

const link::Failure* failure_of(const HostOutcome& outcome) {
  if (const auto* lost = std::get_if<Lost>(&outcome)) return &lost->failure;
  if (const auto* unreachable = std::get_if<Unreachable>(&outcome)) return &unreachable->failure;
  return nullptr;
}

std::vector<OutcomeGroup> group_outcomes(const std::vector<HostOutcome>& outcomes) {
  std::vector<OutcomeGroup> groups;
  for (std::size_t host = 0; host < outcomes.size(); ++host) {
    const auto* unreachable = std::get_if<Unreachable>(&outcomes[host]);
    const std::size_t attempts = unreachable ? unreachable->attempts : 1;
    auto same = std::find_if(groups.begin(), groups.end(), [&](const OutcomeGroup& candidate) {
      return are_alike(candidate.outcome, outcomes[host]);
    });
    if (same == groups.end()) same = groups.insert(groups.end(), {outcomes[host], {}, attempts, attempts});
    same->hosts.push_back(host);
    same->fewest_attempts = std::min(same->fewest_attempts, attempts);
    same->most_attempts = std::max(same->most_attempts, attempts);
  }
  const auto order = [](const OutcomeGroup& candidate) {
    const auto* exited = std::get_if<link::Exited>(&candidate.outcome);
    return std::pair(exited ? std::size_t{0} : candidate.outcome.index() + 1, exited ? exited->status : 0);
  };
  std::stable_sort(groups.begin(), groups.end(),
                   [&](const OutcomeGroup& a, const OutcomeGroup& b) { return order(a) < order(b); });
  return groups;
}

}  // namespace podrun::run
