// SPDX-License-Identifier: Apache-2.0
#include "podrun/report/failure_notices.hpp"

#include <chrono>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "podrun/report/summary.hpp"

namespace podrun::report {
namespace {

constexpr std::chrono::seconds kTogether{1};

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
  for (std::string& line : describe_losses(hosts_, policy_, std::exchange(lost_, {})))
    output_.say(std::move(line));
  if (!first_) return;
  auto line = describe_first_failure(hosts_, policy_, *first_);
  if (line && !policy_.interrupted_by()) output_.say(std::move(*line));
  first_.reset();
}

}  // namespace podrun::report
