// SPDX-License-Identifier: Apache-2.0
// Exit statuses of hosts and of the run, and hosts grouped by outcome.
#include "podrun/run/outcome.hpp"

#include <algorithm>
#include <utility>

namespace podrun::run {
namespace {

struct Number {
  std::optional<int> operator()(const NotStarted&) const { return std::nullopt; }
  std::optional<int> operator()(const Stopped&) const { return std::nullopt; }
  std::optional<int> operator()(const link::Exited& exited) const { return exited.status; }
  std::optional<int> operator()(const link::Signaled& signaled) const { return 128 + signaled.signal; }
  std::optional<int> operator()(const TimedOut&) const { return 124; }
  std::optional<int> operator()(const Stalled&) const { return 124; }
  std::optional<int> operator()(const Lost&) const { return 255; }
  std::optional<int> operator()(const Unreachable&) const { return 255; }
};

/// Whether a reader sees no difference: the number of attempts and a possible retry do not count.
bool are_alike(const HostOutcome& a, const HostOutcome& b) {
  const link::Failure* one = failure_of(a);
  const link::Failure* other = failure_of(b);
  if (!one || !other) return a == b;
  link::Failure retried_alike = *one;
  retried_alike.retry = other->retry;
  return a.index() == b.index() && retried_alike == *other;
}

}  // namespace

std::optional<int> host_number(const HostOutcome& outcome) { return std::visit(Number{}, outcome); }

bool is_failure(const HostOutcome& outcome) { return host_number(outcome).value_or(0) != 0; }

bool has_succeeded(const HostOutcome& outcome) { return outcome == HostOutcome(link::Exited{0}); }

bool may_have_run(const HostOutcome& outcome) {
  return !std::holds_alternative<NotStarted>(outcome) && !std::holds_alternative<Unreachable>(outcome);
}

int exit_status(const std::vector<HostOutcome>& outcomes, std::optional<int> interrupted_by) {
  if (interrupted_by) return 128 + *interrupted_by;
  int status = 0;
  for (const HostOutcome& outcome : outcomes) status = std::max(status, host_number(outcome).value_or(0));
  return status;
}

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
