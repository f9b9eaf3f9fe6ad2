// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/base/event.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/link/link.hpp"
#include "podrun/output/output.hpp"
#include "podrun/remote/supervised.hpp"
#include "podrun/run/input.hpp"
#include "podrun/run/lingering_notices.hpp"
#include "podrun/run/output_holders.hpp"
#include "podrun/run/run_policy.hpp"
#include "podrun/run/status.hpp"

namespace podrun {

/// One command for all hosts.
struct RunPlan {
  std::string run_id;
  std::vector<Host> hosts;
  RemoteCommand command;
  Supervision supervision;  ///< its mark is made for each host
  Limits limits;
  int verbosity = 0;
};

/// The one loop of every podrun command: does what RunPolicy decides. All members are for the one main
/// thread.
class FanOut {
 public:
  /// What it needs of the world outside.
  struct World {
    asio::any_io_executor executor;
    std::function<Connector&(const Host&)> connector_for;
    Output& output;
    Input* input = nullptr;                                        ///< for StandardInput::fed
    std::function<void()> leave;                                   ///< ends the process at once
    std::function<void(std::size_t host)> host_started = nullptr;  ///< it is being told to go
    std::function<void(std::size_t host)> host_ended = nullptr;    ///< its outcome is known, its output given
  };

  FanOut(RunPlan plan, World world);

  /// Runs to the end: every host has an outcome and nothing of this run is pending.
  asio::awaitable<void> run();

  /// SIGINT, SIGQUIT, SIGTERM, SIGHUP, or SIGPIPE for a closed reader.
  void interrupt(int signal);
  /// Before podrun stops (Ctrl-Z): tells the hosts not to miss us, and gives that a moment.
  asio::awaitable<void> suspend();
  void resume();

  const RunPolicy& policy() const { return policy_; }
  const std::vector<Host>& hosts() const { return plan_.hosts; }
  /// What every host is doing at this moment.
  Status status() const;

 private:
  struct Job {
    std::size_t attempt = 1;
    std::string stage;
    std::unique_ptr<Link> link;
    std::unique_ptr<Supervised> supervised;
    std::optional<Hello> hello;
    std::weak_ptr<Stream> input;
    std::optional<Failure> abandoned;
    bool started_early = false;  ///< the supervisor was given the command, see early_go()
    bool told_to_go = false;
    bool spoke = false;
    LateOutput late;                                   ///< behind the end of its command
    std::shared_ptr<OutputHolders> holders = nullptr;  ///< of its output, as was last asked
    bool let_go = false;                               ///< or that is being decided
    bool hurried = false;
    bool command_ended = false;
    bool lingers = false;       ///< and this was said, or need not be
    bool rest_ordered = false;  ///< a supervisor for what the command left
    bool ended = false;
    TimePoint active_at;  ///< it printed something, or took the next step
    bool held = false;
    std::optional<TimePoint> kill_at;  ///< it was told to end, and its host will wait so long
  };

  void happen(RunEvent event);
  void obey(const action::Connect& connect);
  void obey(const action::ConnectLater& later);
  void obey(const action::Go& go);
  void obey(const action::Signal& signal);
  void obey(const action::End& end);
  void obey(const action::Abandon& abandon);
  void obey(const action::LetGo& let_go);
  void obey(const action::Leave& leave);

  asio::awaitable<void> drive(std::size_t host);
  asio::awaitable<void> prepare(std::size_t host);
  asio::awaitable<void> follow(std::size_t host);
  void tell_end(std::size_t host, const StreamEvent& event);
  asio::awaitable<void> deliver(std::size_t host, Received received);
  asio::awaitable<void> feed(std::size_t host);
  asio::awaitable<void> let_go(std::size_t host);
  void linger(std::size_t host);
  Supervised& supervisor(std::size_t host);

  void spawn(asio::awaitable<void> coroutine);
  void arm_deadline();
  void arm_heartbeat();
  void beat();
  void start(std::size_t host, const RankVariables& variables, const Chunk& of_all);
  void at_stage(std::size_t host, const char* stage);
  void trace(int verbosity, std::size_t host, const std::string& text);

  RunPlan plan_;
  World world_;
  RunPolicy policy_;
  std::vector<Job> jobs_;
  std::deque<RunEvent> events_;
  bool deciding_ = false;
  std::size_t coroutines_ = 0;
  std::uint64_t bytes_ = 0;  ///< printed by all hosts
  LingeringNotices lingering_;
  Event changed_;
  asio::steady_timer deadline_;
  asio::steady_timer heartbeat_;
};

}  // namespace podrun
