// SPDX-License-Identifier: Apache-2.0
#include "commands/loss_notices.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <variant>

#include "podrun/report/summary.hpp"

namespace podrun::commands {
namespace {

constexpr std::chrono::seconds kTogether{1};

}  // namespace

LossNotices::LossNotices(const asio::any_io_executor& executor, const run::FanOut& fan_out,
                         output::Output& output)
    : fan_out_(fan_out), output_(output), timer_(executor) {}

void LossNotices::host_ended(std::size_t host) {
  if (!std::holds_alternative<run::Lost>(fan_out_.policy().outcomes()[host])) return;
  lost_.push_back(host);
  if (lost_.size() > 1) return;
  timer_.expires_after(kTogether);
  timer_.async_wait([this](const std::error_code& error) {
    if (error) return;
    say();
    lost_.clear();
  });
}

void LossNotices::say() const {
  const run::RunPolicy& policy = fan_out_.policy();
  bool others_run = false;
  for (std::size_t host = 0; host < fan_out_.hosts().size(); ++host)
    others_run = others_run || policy.state(host) == run::RunPolicy::State::running ||
                 policy.state(host) == run::RunPolicy::State::lingering;
  if (!others_run) return;
  std::vector<run::HostOutcome> outcomes(fan_out_.hosts().size());
  for (const std::size_t host : lost_) outcomes[host] = policy.outcomes()[host];
  for (std::string& line : report::describe_failures(fan_out_.hosts(), outcomes))
    output_.say(std::move(line));
}

}  // namespace podrun::commands
