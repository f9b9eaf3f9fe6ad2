// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <csignal>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "podrun/restarts/restart_policy.hpp"

namespace podrun::test {

/// An event, its answer, and what the policy says of itself after it.
struct Moment {
  run::TimePoint at;
  restarts::RestartEvent event;
  restarts::RestartStep step;
  std::size_t restarts;
  std::size_t left;
  restarts::RestartCause cause;
};

inline constexpr run::TimePoint kBegin{std::chrono::hours(1)};

/// The tries of a command on random hosts, with people that interrupt them.
class Life {
 public:
  explicit Life(unsigned seed)
      : random_(seed), limits_(random_limits()), hosts_(1 + pick(4), {State::ready}) {}

  std::vector<Moment> live() {
    restarts::RestartPolicy policy(limits_, kBegin);
    restarts::RestartStep step = restarts::step::StartTry{};
    constexpr std::size_t kWild = 200;  // moments; then the life takes one turn
    constexpr std::size_t kMost = 3000;
    while (!std::holds_alternative<restarts::step::Over>(step) && moments_.size() < kMost) {
      if (moments_.size() == kWild) turn_ = 1 + pick(limits_.wait_hosts ? 8 : 5);
      time_left_ = policy.time_left(now_);
      const restarts::RestartEvent event =
          std::visit([this](const auto& what) { return perform(what); }, step);
      step = policy.on(event, now_);
      moments_.push_back({now_, event, step, policy.restarts(), policy.left(), policy.cause()});
    }
    return std::move(moments_);
  }
  const restarts::RestartLimits& limits() const { return limits_; }

 private:
  using State = restarts::HostAfterTry::State;
  /// The turns of a life that goes on for long. The last three need a limit for waiting.
  enum Turn : std::size_t {
    kNone,
    kFailsAtOnce,
    kFails,
    kLosesHosts,
    kIsNotPrepared,
    kIsInterrupted,
    kMisses,
    kCannotStart,
    kIsPreparedLater
  };

  std::size_t pick(std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_);
  }
  bool chance(std::size_t percent) { return pick(100) < percent; }
  std::chrono::seconds up_to(std::chrono::seconds most) {
    return std::chrono::seconds(pick(static_cast<std::size_t>(most.count()) + 1));
  }

  restarts::RestartLimits random_limits() {
    restarts::RestartLimits limits;
    limits.restarts = pick(6);
    if (chance(30)) limits.reset = std::chrono::minutes(1) + up_to(std::chrono::hours(2));
    if (chance(30)) limits.short_try = std::chrono::seconds(1) + up_to(std::chrono::minutes(5));
    if (chance(30)) limits.wait_hosts = std::chrono::seconds(1) + up_to(std::chrono::hours(2));
    if (chance(20)) limits.wait_hosts.reset();
    if (chance(30)) limits.final_statuses = {1 + static_cast<int>(pick(255))};
    if (chance(20)) limits.timeout = std::chrono::seconds(1) + up_to(std::chrono::hours(24));
    return limits;
  }

  restarts::RestartEvent perform(const restarts::step::StartTry&) {
    now_ += up_to(std::chrono::seconds(20));
    if (turn_ == kCannotStart || (turn_ == kNone && chance(moments_.empty() ? 2 : 20)))
      return restarts::event::TryEnded{.outcomes = {run::Unreachable{}}, .status = 255};
    run::TimePoint::duration ran = chance(30) ? up_to(limits_.short_try) : up_to(std::chrono::hours(2));
    if (turn_ == kFailsAtOnce || turn_ == kLosesHosts) ran = std::chrono::seconds(0);
    if (turn_ == kFails) ran = limits_.reset - std::chrono::seconds(1);
    restarts::event::TryEnded ended{.outcomes = random_outcomes(), .ran = ran, .has_stalled = chance(3)};
    if (turn_ == kNone && chance(1)) ended.interrupted_by = SIGTERM;
    if (time_left_ && ran >= *time_left_) {
      ended.ran = *time_left_;
      ended.outcomes.front() = run::TimedOut{*time_left_};
    }
    now_ += *ended.ran;
    ended.status = run::exit_status(ended.outcomes, ended.interrupted_by);
    for (restarts::HostAfterTry& host : hosts_) {
      if (turn_ != kNone || !chance(20)) continue;
      host.state = static_cast<State>(pick(3));
      host.was_rebooted = host.state != State::busy && chance(20);
      host.was_replaced = host.was_rebooted && chance(20);
      host.ran_out_of_memory = chance(10);
    }
    return ended;
  }
  std::vector<run::HostOutcome> random_outcomes() {
    std::vector<run::HostOutcome> outcomes(hosts_.size(), run::Stopped{});
    if (turn_ == kLosesHosts) outcomes.back() = run::Lost{};
    if (turn_ == kNone && chance(30)) outcomes.back() = run::Lost{};
    if (turn_ == kNone && chance(1)) outcomes.assign(hosts_.size(), link::Exited{0});
    if (turn_ == kNone && chance(2)) outcomes.back() = link::Exited{0};
    if (turn_ == kNone && chance(10)) outcomes.back() = link::Signaled{SIGKILL};
    if (chance(90)) outcomes.front() = link::Exited{chance(80) ? 1 : 1 + static_cast<int>(pick(255))};
    return outcomes;
  }

  restarts::RestartEvent perform(const restarts::step::Survey& look) {
    if (is_interrupted(look.at)) return restarts::event::RestartInterrupted{SIGINT};
    if (chance(30)) now_ += up_to(std::chrono::seconds(70));  // a look takes its time
    for (restarts::HostAfterTry& host : hosts_) {
      if (host.state != State::ready && (chance(30) || turn_ != kNone)) host.state = State::ready;
      if (host.state == State::ready && chance(2)) host.state = State::missing;
    }
    if (turn_ == kMisses) hosts_.back().state = State::missing;
    restarts::event::Surveyed looked{hosts_};
    if (is_all_ready(looked)) std::fill(hosts_.begin(), hosts_.end(), restarts::HostAfterTry{State::ready});
    return looked;
  }
  restarts::RestartEvent perform(const restarts::step::Prepare& prepare) {
    if (is_interrupted(prepare.at)) return restarts::event::RestartInterrupted{SIGINT};
    now_ += up_to(std::chrono::seconds(5));
    if (turn_ == kIsNotPrepared) return restarts::event::Prepared{2};
    if (turn_ == kIsPreparedLater || (turn_ == kNone && chance(10))) return restarts::event::Prepared{75};
    return restarts::event::Prepared{chance(1) ? 1 : 0};
  }
  restarts::RestartEvent perform(const restarts::step::Over&) {
    return restarts::event::Prepared{};
  }  // live() ends with it
  bool is_interrupted(run::TimePoint until) {
    EXPECT_GE(until, now_);
    const bool is_now = turn_ == kIsInterrupted || (turn_ == kNone && chance(1));
    now_ = is_now ? now_ + (until - now_) / 2 : until;
    return is_now;
  }
  static bool is_all_ready(const restarts::event::Surveyed& looked) {
    return std::all_of(looked.hosts.begin(), looked.hosts.end(),
                       [](const restarts::HostAfterTry& host) { return host.state == State::ready; });
  }

  std::mt19937 random_;
  restarts::RestartLimits limits_;
  std::vector<restarts::HostAfterTry> hosts_;
  std::vector<Moment> moments_;
  std::optional<std::chrono::milliseconds> time_left_;
  std::size_t turn_ = kNone;
  run::TimePoint now_ = kBegin;
};

}  // namespace podrun::test
