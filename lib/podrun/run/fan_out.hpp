// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/base/event.hpp"
#include "podrun/base/expect.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/run/host_run.hpp"
#include "podrun/run/run_plan.hpp"
#include "podrun/run/run_policy.hpp"
#include "podrun/run/status.hpp"

namespace podrun::run {

/// The loop of every run: passes events of the hosts to RunPolicy, and its actions to the HostRun of each
/// host. All members are for the main thread.
class FanOut {
 public:
  FanOut(RunPlan plan, RunWorld world);
  FanOut(const FanOut&) = delete;
  FanOut& operator=(const FanOut&) = delete;
  ~FanOut();

  /// Returns when every host has an outcome and nothing of this run is pending.
  asio::awaitable<void> run();

  /// SIGINT, SIGQUIT, SIGTERM, SIGHUP, or SIGPIPE for a closed reader.
  void interrupt(int signal);
  /// Starts the commands of a held run (Limits::held): each host's own text, then `text`.
  void release(std::string text, std::vector<std::string> texts_of_hosts);
  /// Ends a held run before anything has started.
  void cancel() { happen(event::Cancelled{}); }
  /// See event::Stalled.
  void stop_stalled(std::vector<std::size_t> hosts, std::chrono::seconds silent) {
    happen(event::Stalled{std::move(hosts), silent});
  }
  /// See HostRun::run_beside(); `done` gets its result, at once or before run() returns.
  void run_beside(std::size_t host, Chunk script, std::vector<std::string> words, HostRun::Wanted wanted,
                  std::function<void(std::optional<std::string>)> done);
  /// Call before podrun is suspended (Ctrl-Z): tells the hosts to expect no heartbeats, and waits a moment
  /// until they know.
  asio::awaitable<void> suspend();
  void resume() {
    beat();
    happen(event::Resumed{});
  }

  /// For those that refer to it.
  const Lender& lender() const { return lender_; }
  const RunPolicy& policy() const { return policy_; }
  const std::vector<hosts::Host>& hosts() const { return plan_.hosts; }
  /// Returns the activity of every host at this moment.
  Status status() const;

 private:
  void happen(RunEvent event);
  void perform(const action::Connect& connect) { host_runs_[connect.host].connect(); }
  void perform(const action::ConnectLater& later);
  void perform(const action::Go& go);
  void perform(const action::Wait&) { world_.tell(notice::Waiting{}); }
  void perform(const action::Late& late) { spawn(tell_late(late.hosts)); }
  void perform(const action::Signal& signal) { host_runs_[signal.host].signal(signal.signal); }
  void perform(const action::Stop& stop) { host_runs_[stop.host].stop(); }
  void perform(const action::Abandon& abandon) { host_runs_[abandon.host].abandon(abandon.failure); }
  void perform(const action::LetGo& let_go) { host_runs_[let_go.host].let_go(let_go.hurried); }
  void perform(const action::Leave&) {
    left_ = true;
    world_.leave();
  }

  asio::awaitable<void> run_beside(HostRun& host, Chunk script, std::vector<std::string> words,
                                   HostRun::Wanted wanted,
                                   std::function<void(std::optional<std::string>)> done);
  asio::awaitable<void> tell_late(std::vector<std::size_t> hosts);
  void spawn(asio::awaitable<void> coroutine);
  void arm_deadline();
  void arm_heartbeat();
  void beat() {
    for (HostRun& host : host_runs_) host.heartbeat();
  }

  const Lender lender_{"a FanOut outlives the status line and the signals of its run"};
  const OneThread main_;
  Once running_;
  RunPlan plan_;
  RunWorld world_;
  RunPolicy policy_;
  RunOfHosts run_of_hosts_;
  std::deque<HostRun> host_runs_;
  std::deque<RunEvent> events_;
  bool deciding_ = false;
  bool left_ = false;  ///< the process is about to exit
  std::size_t coroutines_ = 0;
  Event changed_;
  asio::steady_timer deadline_;
  asio::steady_timer heartbeat_;
};

}  // namespace podrun::run
