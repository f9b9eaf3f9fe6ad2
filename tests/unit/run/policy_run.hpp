// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "podrun/base/text.hpp"
#include "podrun/report/outcome_words.hpp"
#include "podrun/report/summary.hpp"
#include "podrun/run/run_policy.hpp"

namespace podrun::test {

/// `connect 3`, `retry 3 (attempt 2)`, `go 0,1`, `abandon 2 (cancelled)`, …
struct ActionText {
  std::string operator()(const run::action::Connect& connect) const {
    return fmt::format("connect {}", connect.host);
  }
  std::string operator()(const run::action::ConnectLater& later) const {
    return fmt::format("retry {} (attempt {})", later.host, later.attempt);
  }
  std::string operator()(const run::action::Go& go) const {
    return fmt::format("go {}", fmt::join(go.hosts, ","));
  }
  std::string operator()(const run::action::Wait&) const { return "wait"; }
  std::string operator()(const run::action::Late& late) const {
    return fmt::format("late {}", fmt::join(late.hosts, ","));
  }
  std::string operator()(const run::action::Signal& signal) const {
    return fmt::format("{} {}", signal.signal == SIGINT ? "int" : "quit", signal.host);
  }
  std::string operator()(const run::action::Stop& end) const { return fmt::format("end {}", end.host); }
  std::string operator()(const run::action::Abandon& abandon) const {
    return fmt::format("abandon {} ({})", abandon.host, report::reason(abandon.failure));
  }
  std::string operator()(const run::action::LetGo& let_go) const {
    return fmt::format("let go {}{}", let_go.host, let_go.hurried ? " at once" : "");
  }
  std::string operator()(const run::action::Leave&) const { return "leave"; }
};

/// A policy with a clock that only the test moves. Answers are texts: actions and outcomes, joined by `, `.
class PolicyRun {
 public:
  explicit PolicyRun(std::size_t hosts, const run::Limits& limits = {}, std::uint64_t seed = 0)
      : hosts_(hosts), policy_(hosts, limits, seed) {}

  std::string on(const run::RunEvent& event) {
    std::vector<std::string> texts;
    for (const run::Action& action : policy_.on(event, now_))
      texts.push_back(std::visit(ActionText{}, action));
    return join(texts, ", ");
  }
  std::string ready(std::size_t host) { return on(run::event::Ready{host}); }
  std::string not_ready(std::size_t host, const std::string& what = "connection refused") {
    return on(run::event::NotReady{host, {link::Stage::connecting, link::Cause::other, what}});
  }
  /// Not ready, and another attempt may help.
  std::string stumbles(std::size_t host, const std::string& what = "connection reset") {
    return on(run::event::NotReady{
        host, {link::Stage::connecting, link::Cause::other, what, link::Retry::may_help}});
  }
  /// Not ready before somebody has answered a question.
  std::string asks(std::size_t host) {
    return on(run::event::NotReady{
        host, {link::Stage::host_key, link::Cause::host_key_unknown, "", link::Retry::after_asking}});
  }
  std::string exits(std::size_t host, int status) {
    return on(run::event::Ended{host, link::Exited{status}});
  }
  std::string dies(std::size_t host, int signal) {
    return on(run::event::Ended{host, link::Signaled{signal}});
  }
  std::string closes(std::size_t host) { return on(run::event::Closed{host}); }
  std::string goes_on(std::size_t host) { return on(run::event::StillArriving{host}); }
  std::string lingers(std::size_t host) { return on(run::event::Lingers{host}); }
  std::string is_lost(std::size_t host) {
    return on(run::event::LostHost{host, {link::Stage::running, link::Cause::other, "gone"}});
  }
  std::string signal(int number) { return on(run::event::Interrupted{number}); }

  /// All hosts are ready: the answer to the last one.
  std::string start() {
    on(run::event::Begin{});
    std::string actions;
    for (std::size_t host = 0; host < hosts_; ++host) actions = ready(host);
    return actions;
  }
  /// The command of this host ends and its output is complete.
  std::string ends(std::size_t host, int status) {
    const std::string actions = exits(host, status);
    const std::string more = closes(host);
    return actions + (actions.empty() || more.empty() ? "" : ", ") + more;
  }

  /// Moves the clock, with a Tick whenever one is due on the way.
  std::string after(run::TimePoint::duration time) {
    std::string actions;
    const run::TimePoint goal = now_ + time;
    for (auto due = policy_.deadline(); due && *due <= goal; due = policy_.deadline()) {
      now_ = std::max(now_, *due);
      const std::string more = on(run::event::Tick{});
      actions += (actions.empty() || more.empty() ? "" : ", ") + more;
    }
    now_ = goal;
    return actions;
  }

  std::string outcomes() const {
    std::vector<std::string> texts;
    for (const run::HostOutcome& outcome : policy_.outcomes()) texts.push_back(report::describe(outcome));
    return join(texts, ", ");
  }
  /// The outcomes once every host has one.
  std::string result() const { return policy_.finished() ? outcomes() : "not finished: " + outcomes(); }

  const run::RunPolicy& policy() const { return policy_; }

 private:
  std::size_t hosts_;
  run::RunPolicy policy_;
  run::TimePoint now_{std::chrono::hours(1)};
};

}  // namespace podrun::test
