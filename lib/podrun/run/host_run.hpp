// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <asio/awaitable.hpp>

#include "podrun/link/link.hpp"
#include "podrun/remote/supervised.hpp"
#include "podrun/run/notice.hpp"
#include "podrun/run/output_holders.hpp"
#include "podrun/run/rank_variables.hpp"
#include "podrun/run/run_plan.hpp"
#include "podrun/run/run_policy.hpp"
#include "podrun/run/status.hpp"

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

/// The state of a host after its command has ended. Outside of HostRun, since clang 16 does not see inside of
/// a class that a nested struct can be default-constructed.
struct Trailing {
  TrailingOutput output = {};
  std::shared_ptr<OutputHolders> holders = nullptr;  ///< the latest question
  bool deciding = false;                             ///< whether to let the output go; or that was decided
  bool hurried = false;
  bool lingers = false;          ///< processes have the output open; that was told, or need not be
  bool rest_supervised = false;  ///< a supervisor signals what the command left
};

/// One host's part of a run: connects, starts the command, follows it, and sees its trailing output to the
/// end. It does what the policy has decided for this host, and reports what happens.
class HostRun {
 public:
  enum class State { waiting, connecting, ready, running, trailing_output, over };

  /// Keeps a reference to `run`. `host` is an index into the hosts of the plan.
  HostRun(const RunOfHosts& run, std::size_t host) : run_(run), host_(host) {}
  HostRun(const HostRun&) = delete;
  HostRun& operator=(const HostRun&) = delete;
  ~HostRun();

  void connect();
  /// Drops everything of the attempt before.
  void prepare_attempt(std::size_t number);
  void start(const remote::RankVariables& variables, const Chunk& of_all);
  void signal(int signal);
  void stop();
  void abandon(link::Failure failure);
  void let_go(bool hurried);

  void heartbeat();
  void suspend();

  /// Null until the host is ready.
  const remote::Hello* hello() const { return attempt_.hello ? &*attempt_.hello : nullptr; }
  std::string own_address() const { return attempt_.link ? attempt_.link->own_address() : ""; }
  HostStatus status() const;
  std::uint64_t bytes() const { return bytes_; }  ///< printed, in all attempts

 private:
  struct Attempt {
    std::size_t number = 1;
    State state = State::waiting;
    link::Stage stage = link::Stage::none;
    std::unique_ptr<link::Link> link = nullptr;
    std::unique_ptr<remote::Supervised> supervised = nullptr;
    std::optional<remote::Hello> hello = std::nullopt;
    std::weak_ptr<link::Stream> input = {};
    std::optional<link::Failure> abandoned = std::nullopt;
    bool started_early = false;  ///< the supervisor was given the command, see early_go()
    bool spoke = false;
    std::optional<Trailing> trailing = std::nullopt;  ///< since the command ended
    TimePoint active_at = {};                         ///< when it last printed something, or took a step
    bool reading_paused = false;                      ///< podrun does not read from it
    std::optional<TimePoint> kill_at = std::nullopt;  ///< when the host sends KILL, once it was told to stop
  };

  asio::awaitable<void> drive();
  asio::awaitable<void> prepare();
  asio::awaitable<void> follow();
  void tell_end(const link::StreamEvent& event);
  void finish();
  /// Whose output it is: what start-up files print before the supervisor's hello is never a reply to podrun.
  enum class From { start_up, command };
  asio::awaitable<void> deliver(link::Received received, From from);
  asio::awaitable<void> feed();
  asio::awaitable<void> decide_on_trailing_output();
  void linger();
  void tell_output_open(notice::OutputOpen::Fate fate) const;
  remote::Supervised& supervisor();
  void at_stage(State state, link::Stage stage);

  const hosts::Host& host() const { return run_.plan.hosts[host_]; }
  std::string own_text() const;  ///< see RunPlan::texts_of_hosts
  bool is_over() const { return attempt_.state == State::over; }

  const RunOfHosts& run_;
  const std::size_t host_;
  Attempt attempt_;
  TimePoint tried_since_ = {};
  std::uint64_t bytes_ = 0;
};

}  // namespace podrun::run
