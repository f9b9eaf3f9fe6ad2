// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/base/expect.hpp"
#include "podrun/run/fan_out.hpp"
#include "podrun/session/status_display.hpp"

// Handles signals while a command runs on the hosts.
namespace podrun::session {

/// Handles the signals that affect runs. Signals that nohup(1), or a shell without job control, made podrun
/// ignore stay ignored.
void take_signals(asio::signal_set& signals);

/// Ignores these signals after the last run, when there is nothing left to stop.
void ignore_from_now_on(asio::signal_set& signals);

/// Runs the handlers that are due, while what they use is there. Stops after very many of them, since a
/// server that floods a kept connection makes new handlers without end.
void run_what_is_due(asio::io_context& io);

/// Waits until then, or for a signal that ends podrun, which it returns. Ctrl-Z suspends podrun meanwhile.
/// `look` is called at once and now and then, and may return a signal too; false: what it has painted is to
/// go.
std::optional<int> wait_for_signal(asio::io_context& io, asio::signal_set& signals, run::TimePoint until,
                                   const std::function<std::optional<int>(bool)>& look);

/// Does what the terminal does at Ctrl-Z, since podrun gets the key itself while it asks a question. Suspends
/// the whole foreground process group: the shell may wait for another process in it, such as timeout(1).
void stop_foreground(asio::signal_set& signals);

/// Tells a run of each signal.
class SignalRelay {
 public:
  struct Calls {
    std::function<void()> leave;                  ///< gives the run up, and the process
    std::function<bool(int signal)> takes;        ///< true: the signal is not the run's
    std::function<asio::awaitable<void>()> hide;  ///< gives the terminal back before podrun is suspended
    std::function<void()> show;                   ///< podrun goes on
  };

  /// All must outlive it.
  SignalRelay(asio::signal_set& signals, run::FanOut& fan_out, StatusDisplay& status,
              const run::Limits& limits, Calls calls);

  /// Until end().
  asio::awaitable<void> run();
  /// The run is over: a signal that comes now is left to those after it.
  void end();

 private:
  asio::awaitable<void> suspend();
  void interrupt(int signal);

  asio::signal_set& signals_;
  run::FanOut& fan_out_;
  const Borrowed fan_out_lives_;
  StatusDisplay& status_;
  const run::Limits& limits_;
  const Calls calls_;
  asio::steady_timer last_resort_;
  bool is_over_ = false;
};

/// While the user is asked, nothing runs that would take signals from the io_context. So these only tell the
/// question to end.
class SignalsWhileAsking {
 public:
  explicit SignalsWhileAsking(asio::signal_set& signals);
  SignalsWhileAsking(const SignalsWhileAsking&) = delete;
  SignalsWhileAsking& operator=(const SignalsWhileAsking&) = delete;
  ~SignalsWhileAsking();

  /// 0: none.
  static int received();

 private:
  asio::signal_set& signals_;
};

}  // namespace podrun::session
