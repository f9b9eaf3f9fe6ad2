// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/restarts/restart_policy.hpp"
#include "podrun/restarts/restart_report.hpp"

namespace podrun::test {

inline const restarts::HostAfterTry kReady{.state = restarts::HostAfterTry::State::ready};
inline const restarts::HostAfterTry kBusy{.state = restarts::HostAfterTry::State::busy};
inline const restarts::HostAfterTry kMissing{};
inline const restarts::HostAfterTry kRebooted{.state = restarts::HostAfterTry::State::ready,
                                              .was_rebooted = true};
inline const restarts::HostAfterTry kReplaced{
    .state = restarts::HostAfterTry::State::ready, .was_rebooted = true, .was_replaced = true};
inline const restarts::HostAfterTry kOutOfMemory{.state = restarts::HostAfterTry::State::ready,
                                                 .ran_out_of_memory = true};

inline run::HostOutcome exited(int status) { return link::Exited{status}; }
inline run::HostOutcome lost() { return run::Lost{{link::Stage::connection, link::Cause::no_answer}}; }
inline run::HostOutcome unreachable() {
  return run::Unreachable{{link::Stage::connecting, link::Cause::timed_out}};
}

/// The tries of a command on two hosts, with a clock that only the test moves. Answers are texts: `look in
/// 5 s`, `prepare in 10 s`, `start`, `over: crash_loop 1`.
class Tries {
 public:
  explicit Tries(const restarts::RestartLimits& limits) : policy_(limits, run::TimePoint()) {}

  std::string on(const restarts::RestartEvent& event) {
    const restarts::RestartStep step = policy_.on(event, now_);
    return std::visit([this](const auto& what) { return describe(what); }, step);
  }
  /// Lets the try run, then end.
  std::string ends(std::vector<run::HostOutcome> outcomes, std::chrono::seconds ran,
                   std::optional<int> interrupted_by = std::nullopt) {
    pass(ran);
    return on(restarts::event::TryEnded{.outcomes = outcomes,
                                        .status = run::exit_status(outcomes, interrupted_by),
                                        .interrupted_by = interrupted_by,
                                        .ran = ran});
  }
  /// A host cannot be reached when the next try is to start.
  std::string cannot_start() {
    return on(restarts::event::TryEnded{.outcomes = {run::NotStarted{}, unreachable()}, .status = 255});
  }
  std::string looks(std::vector<restarts::HostAfterTry> hosts) {
    return on(restarts::event::Surveyed{std::move(hosts)});
  }
  std::string all_ready() { return looks({kReady, kReady}); }
  std::string prepared(int status) { return on(restarts::event::Prepared{status}); }
  std::string receives(int signal) { return on(restarts::event::RestartInterrupted{signal}); }

  /// A try ends, and all hosts are ready at once: the decision.
  std::string fails(std::chrono::seconds ran, int status = 1) {
    const std::string end = ends({exited(status), run::Stopped{}}, ran);
    return end == "look in 0 s" ? all_ready() : end;
  }
  std::string loses_a_host(std::chrono::seconds ran) {
    const std::string end = ends({run::Stopped{}, lost()}, ran);
    return end == "look in 0 s" ? all_ready() : end;
  }
  /// After a decision to start again.
  std::string starts() {
    wait();
    return prepared(0);
  }
  std::string fails_and_starts(std::chrono::seconds ran) {
    const std::string decision = fails(ran);
    return decision.starts_with("prepare") ? starts() : decision;
  }
  std::string loses_a_host_and_starts(std::chrono::seconds ran) {
    const std::string decision = loses_a_host(ran);
    return decision.starts_with("prepare") ? starts() : decision;
  }

  /// Until the time of the last answer.
  void wait() { now_ = at_; }
  void pass(std::chrono::seconds time) { now_ += time; }
  run::TimePoint now() const { return now_; }
  const restarts::RestartPolicy& policy() const { return policy_; }
  std::string cause() const { return std::string(restarts::identifier(policy_.cause())); }

 private:
  std::string in(run::TimePoint at) {
    at_ = at;
    return format_duration(std::chrono::duration_cast<std::chrono::seconds>(at - now_));
  }
  std::string describe(const restarts::step::Survey& look) {
    return "look in " + in(look.at) + (look.stops_nothing ? ", only" : "");
  }
  std::string describe(const restarts::step::Prepare& prepare) { return "prepare in " + in(prepare.at); }
  std::string describe(const restarts::step::StartTry&) { return "start"; }
  std::string describe(const restarts::step::Over& over) {
    return fmt::format("over: {} {}", restarts::identifier(over.reason), over.status);
  }

  restarts::RestartPolicy policy_;
  run::TimePoint now_{};
  run::TimePoint at_{};
};

}  // namespace podrun::test
