// SPDX-License-Identifier: Apache-2.0
#include "podrun/report/failure_notices.hpp"

#include <chrono>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "podrun/output/label.hpp"
#include "podrun/report/failure_words.hpp"
#include "podrun/report/summary.hpp"
#include "podrun/run/outcome.hpp"

namespace podrun::report {
namespace {

constexpr std::chrono::seconds kTogether{1};
/// Failed attempts, so that what a second attempt mends is not told.
constexpr std::chrono::seconds kRetriesTogether{2};

/// Hosts whose commands, or what these left, still run.
std::size_t count_running(const run::RunPolicy& policy, std::size_t hosts) {
  std::size_t running = 0;
  for (std::size_t host = 0; host < hosts; ++host) {
    const run::RunPolicy::State state = policy.state(host);
    if (state == run::RunPolicy::State::running || state == run::RunPolicy::State::lingering) ++running;
  }
  return running;
}

}  // namespace

std::vector<std::string> describe_losses(const std::vector<hosts::Host>& hosts, const run::RunPolicy& policy,
                                         const std::vector<std::size_t>& lost) {
  if (count_running(policy, hosts.size()) == 0) return {};
  std::vector<run::HostOutcome> outcomes(hosts.size());
  for (const std::size_t host : lost) outcomes[host] = policy.outcomes()[host];
  return describe_failures(hosts, outcomes);
}

std::optional<std::string> describe_first_failure(const std::vector<hosts::Host>& hosts,
                                                  const run::RunPolicy& policy, std::size_t failed) {
  const std::size_t running = count_running(policy, hosts.size());
  if (running == 0) return std::nullopt;
  return fmt::format("podrun: [{}] {}; {} still running (-k stops the others at the first failure)",
                     hosts[failed].worker, describe(policy.outcomes()[failed]), running);
}

std::vector<std::string> describe_retries(const std::vector<hosts::Host>& hosts, const run::RunPolicy& policy,
                                          const std::map<std::size_t, link::Failure>& failures,
                                          std::size_t attempts) {
  using State = run::RunPolicy::State;
  std::vector<run::HostOutcome> outcomes(hosts.size());
  for (const auto& [host, failure] : failures) {
    const State state = policy.state(host);
    if (state == State::waiting || state == State::connecting) outcomes[host] = run::Unreachable{failure};
  }
  const std::string of = attempts == 0 ? "" : fmt::format(" of {}", attempts);
  std::vector<std::string> lines;
  for (const run::OutcomeGroup& group : run::group_outcomes(outcomes)) {
    if (const link::Failure* failure = run::failure_of(group.outcome))
      lines.push_back(fmt::format("podrun: {}: attempt 1{}: {}", output::name_hosts(hosts, group.hosts), of,
                                  describe(*failure)));
  }
  return lines;
}

void FailureNotices::attempt_failed(const run::notice::AttemptLater& later) {
  if (!tells_retries_ || later.attempt != 2) return;
  failed_attempts_.emplace(later.host, later.failure);
  if (failed_attempts_.size() > 1) return;  // they wait for the end of the time
  retry_timer_.expires_after(kRetriesTogether);
  retry_timer_.async_wait([this](const std::error_code& error) {
    if (!error) tell_retries();
  });
}

void FailureNotices::tell_retries() {
  const std::size_t attempts = plan_.limits.wait ? 0 : plan_.limits.retries + 1;
  for (std::string& line :
       describe_retries(plan_.hosts, policy_, std::exchange(failed_attempts_, {}), attempts))
    output_.say(std::move(line));
}

void FailureNotices::host_ended(std::size_t host) {
  const run::HostOutcome& outcome = policy_.outcomes()[host];
  const bool is_lost = std::holds_alternative<run::Lost>(outcome);
  const bool is_ended =
      std::holds_alternative<link::Exited>(outcome) || std::holds_alternative<link::Signaled>(outcome);
  if (is_lost) lost_.push_back(host);
  if (tells_first_ && is_ended && run::is_failure(outcome) && !policy_.culprit() &&
      !policy_.interrupted_by()) {
    tells_first_ = false;
    first_ = host;
  } else if (!is_lost) {
    return;
  }
  if (std::exchange(waits_, true)) return;
  timer_.expires_after(kTogether);
  timer_.async_wait([this](const std::error_code& error) {
    if (!error) tell();
  });
}

void FailureNotices::tell() {
  waits_ = false;
  for (std::string& line : describe_losses(plan_.hosts, policy_, std::exchange(lost_, {})))
    output_.say(std::move(line));
  if (!first_) return;
  auto line = describe_first_failure(plan_.hosts, policy_, *first_);
  if (line && !policy_.interrupted_by()) output_.say(std::move(*line));
  first_.reset();
}

}  // namespace podrun::report
