// SPDX-License-Identifier: Apache-2.0
#include "podrun/report/loss_notices.hpp"

#include <chrono>
#include <utility>
#include <variant>

#include "podrun/report/summary.hpp"

namespace podrun::report {
namespace {

constexpr std::chrono::seconds kTogether{1};

}  // namespace

std::vector<std::string> describe_losses(const std::vector<hosts::Host>& hosts, const run::RunPolicy& policy,
                                         const std::vector<std::size_t>& lost) {
  bool others_run = false;
  for (std::size_t host = 0; host < hosts.size(); ++host)
    others_run = others_run || policy.state(host) == run::RunPolicy::State::running ||
                 policy.state(host) == run::RunPolicy::State::lingering;
  if (!others_run) return {};
  std::vector<run::HostOutcome> outcomes(hosts.size());
  for (const std::size_t host : lost) outcomes[host] = policy.outcomes()[host];
  return describe_failures(hosts, outcomes);
}

void LossNotices::host_ended(std::size_t host) {
  if (!std::holds_alternative<run::Lost>(policy_.outcomes()[host])) return;
  unsaid_.push_back(host);
  if (unsaid_.size() > 1) return;
  timer_.expires_after(kTogether);
  timer_.async_wait([this](const std::error_code& error) {
    if (error) return;
    for (std::string& line : describe_losses(hosts_, policy_, unsaid_)) output_.say(std::move(line));
    unsaid_.clear();
  });
}

}  // namespace podrun::report
