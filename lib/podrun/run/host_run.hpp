// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <asio/awaitable.hpp>

#include "podrun/base/expect.hpp"
#include "podrun/link/link.hpp"
#include "podrun/run/output_holders.hpp"
#include "podrun/run/rank_variables.hpp"
#include "podrun/run/run_plan.hpp"
#include "podrun/run/run_policy.hpp"
#include "podrun/run/status.hpp"
#include "podrun/supervisor/supervised.hpp"

namespace podrun::run {

/// Shared by the hosts of a run. `happen` reports an event of a host to the policy; `spawn` runs a coroutine
/// that the run waits for before it ends.
struct RunOfHosts {
  const RunPlan& plan;
  const RunWorld& world;
  const RunPolicy& policy;
  std::function<void(RunEvent)> happen;
  std::function<void(asio::awaitable<void>)> spawn;
};

/// The state of a host after its command has ended. Outside of HostRun because clang 16 cannot
/// default-construct a nested struct inside its class.
struct Trailing {
  TrailingOutput output = {};
  std::shared_ptr<OutputHolders> holders = nullptr;  ///< the latest question
  bool deciding = false;                             ///< whether to let go of the output; also once decided
  bool hurried = false;
  bool lingers = false;          ///< processes have the output open: already reported, or not worth reporting
  bool rest_supervised = false;  ///< a supervisor signals what the command left
};

/// One host's part of a run: connects, starts the command, and follows it to the end of its trailing output.
/// Does what the policy has decided for this host, and reports events.
class HostRun {
 public:
  enum class State { waiting, connecting, ready, running, trailing_output, over };

  /// Keeps a reference to `run`. `host` is an index into the hosts of the plan.
  HostRun(const RunOfHosts& run, std::size_t host) : run_(run), host_(host) {
    expect(host < run.plan.hosts.size(), "a HostRun is of a host of its plan");
  }
  HostRun(const HostRun&) = delete;
  HostRun& operator=(const HostRun&) = delete;
  ~HostRun();

  void connect() { run_.spawn(drive()); }
  /// Drops everything of the previous attempt.
  void prepare_attempt(std::size_t number);
  void start(const supervisor::RankVariables& variables, const Chunk& of_all);
  void signal(int signal);
  void stop();
  void abandon(link::Failure failure);
  void let_go(bool hurried);

  void heartbeat() {
    if (attempt_.supervised && !is_over()) attempt_.supervised->heartbeat();
  }
  void suspend() {
    if (attempt_.supervised && !is_over()) attempt_.supervised->suspend();
  }

  /// What is wanted of a program beside the command.
  struct Wanted {
    std::size_t most = 0;       ///< bytes that are kept
    std::string_view end = {};  ///< its last line, after which it is not waited for; outlives the program
  };
  /// Runs a program of podrun's own, see Supervised::start_program(), and returns its standard output; none
  /// if the host has not answered to the end.
  asio::awaitable<std::optional<std::string>> run_beside(Chunk script, std::vector<std::string> words,
                                                         Wanted wanted);

  /// Null until the host is ready.
  const supervisor::Hello* hello() const { return attempt_.hello ? &*attempt_.hello : nullptr; }
  std::string own_address() const { return attempt_.link ? attempt_.link->own_address() : ""; }
  HostStatus status() const;
  /// Printed bytes, in all attempts.
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Attempt {
    std::size_t number = 1;
    State state = State::waiting;
    link::Stage stage = link::Stage::none;
    std::unique_ptr<link::Link> link = nullptr;
    std::unique_ptr<supervisor::Supervised> supervised = nullptr;
    std::optional<supervisor::Hello> hello = std::nullopt;
    std::weak_ptr<link::Stream> input = {};
    std::optional<link::Failure> abandoned = std::nullopt;
    bool started_early = false;  ///< the supervisor was given the command, see early_go()
    bool spoke = false;
    std::optional<Trailing> trailing = std::nullopt;  ///< since the command ended
    TimePoint active_at = TimePoint::clock::now();    ///< the last output or step
    bool reading_paused = false;                      ///< podrun does not read from the host
    std::optional<TimePoint> kill_at = std::nullopt;  ///< when the host sends KILL, once it was told to stop
  };

  asio::awaitable<void> drive();
  asio::awaitable<void> prepare();
  bool wants_names() const;
  void say_names();
  asio::awaitable<void> follow();
  void report_end(const link::StreamEvent& event);
  void finish();
  /// The source of output: start-up files may print before the supervisor's hello, and never reply to podrun.
  enum class From { start_up, command };
  asio::awaitable<void> pass_on(link::Received received, From from);
  asio::awaitable<void> feed();
  asio::awaitable<void> decide_on_trailing_output();
  void linger();
  void report_output_open(notice::OutputOpen::Fate fate) const;
  supervisor::Supervised& supervisor();
  void at_stage(State state, link::Stage stage) {
    attempt_.state = state;
    attempt_.stage = stage;
    attempt_.active_at = TimePoint::clock::now();
  }

  const hosts::Host& host() const { return run_.plan.hosts[host_]; }
  /// See RunPlan::texts_of_hosts.
  std::string own_text() const {
    return run_.plan.texts_of_hosts.empty() ? std::string() : run_.plan.texts_of_hosts[host_];
  }
  bool is_over() const { return attempt_.state == State::over; }

  const RunOfHosts& run_;
  const std::size_t host_;
  Attempt attempt_;
  TimePoint tried_since_ = TimePoint::clock::now();
  std::size_t attempts_begun_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace podrun::run
