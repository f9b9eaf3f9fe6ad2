// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/base/expect.hpp"
#include "podrun/link/kept_links.hpp"
#include "podrun/local/descriptors.hpp"
#include "podrun/local/process.hpp"
#include "podrun/output/output.hpp"
#include "podrun/output/question.hpp"
#include "podrun/reach/run_connectors.hpp"
#include "podrun/report/run_notices.hpp"
#include "podrun/run/fan_out.hpp"
#include "podrun/run/input.hpp"
#include "podrun/session/run_signals.hpp"
#include "podrun/session/session.hpp"
#include "podrun/session/silence_watch.hpp"
#include "podrun/session/status_display.hpp"

namespace podrun::session {

/// The transport commands, which outlive the io_context.
struct Transports {
  Transports() = default;
  Transports(const Transports&) = delete;
  Transports& operator=(const Transports&) = delete;
  ~Transports();

  local::TransportCommands commands = {};
};

/// The state that all runs of a session share. A member may use those that are declared before it.
struct Session::Shared {
  Shared(const SessionSpec& session, const hosts::Probe& of_machine, Connections between_runs);

  /// For questions while SignalsWhileAsking is there.
  output::Asker asker();
  link::Connector& connector_for(const hosts::Host& host);
  void make_connectors();
  void move_to(const std::vector<hosts::Host>& hosts);

  SessionSpec spec;
  const hosts::Probe& probe;
  const local::HostCount counts;
  const local::DescriptorLimit descriptors;
  Transports transports = {};
  std::shared_ptr<asio::io_context> io = std::make_shared<asio::io_context>(1);
  reach::SshState ssh;
  std::optional<reach::Connectors> connectors;       ///< unless there is
  const std::unique_ptr<link::Connector> connector;  ///< the only one
  const Connections connections;
  std::map<link::Connector*, link::KeptLinks> kept = {};
  asio::signal_set signals;
};

/// One pass of a run, with all that it needs: a run starts again when the user has answered a question.
/// The members stand in the order in which each needs those before it, and are destroyed the other way round.
class Session::Pass {
 public:
  /// All must outlive it.
  Pass(Shared& shared, const RunSpec& spec, const run::RunPlan& plan, Mode& mode);

  /// How it ended.
  struct End {
    bool again = false;   ///< the user was asked, and the run is to be tried again
    bool can_ask = true;  ///< with `again`: false: without what an answer would have brought
    RunResult result = {};
  };
  End play();

 private:
  enum class Next { leave, connect_again, go_without_answer };

  run::Input& start_reading();
  run::RunWorld world();
  StatusStyle status_style() const;
  void cannot_write(const output::WriteError& error);
  void watch_reader();
  void cannot_read(const std::string& name, std::error_code error);
  void tell(const run::Notice& notice);
  void hold();
  void leave();
  asio::awaitable<void> hide();
  void show();
  Next ask();
  asio::awaitable<void> watch_run(RunWatch& watch);
  asio::awaitable<Next> to_the_end();
  int status() const;
  int exit_status() const;
  void tell_new_host_keys();

  Once playing_;
  Shared& shared_;
  const RunSpec& spec_;
  const run::RunPlan& plan_;
  Mode& mode_;
  bool io_failed_ = false;
  asio::any_io_executor executor_ = shared_.io->get_executor();
  asio::steady_timer watch_timer_{executor_};
  asio::steady_timer reader_timer_{executor_};
  bool run_over_ = false;
  bool reader_has_gone_ = false;          ///< and the run was told
  std::optional<output::Output> output_;  ///< until the end of play(), which waits for its thread
  std::optional<run::Input> input_;
  run::FanOut fan_out_;
  report::RunNotices notices_;
  StatusDisplay status_;
  SilenceWatch silence_;
  SignalRelay relay_;
};

}  // namespace podrun::session
