// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>

#include <asio/awaitable.hpp>
#include <asio/signal_set.hpp>

#include "podrun/run/fan_out.hpp"

#include "commands/status_display.hpp"

// Handles signals while a command runs on the hosts.
namespace podrun::commands {

/// Takes the signals that a run heeds; what nohup(1) or a shell without job control made podrun ignore stays
/// ignored.
void take_signals(asio::signal_set& signals);

/// The run is over, and its status is no other one because of what comes now.
void ignore_from_now_on(asio::signal_set& signals);

/// Does what the terminal does at Ctrl-Z: it leaves the key to podrun while that asks. All of the
/// foreground's process group stops, since the shell may wait for another one, as timeout(1).
void stop_foreground(asio::signal_set& signals);

/// Tells the run of each signal. `own_patience`: see Mode. `leave`: gives the run up, and the process.
asio::awaitable<void> relay_signals(asio::signal_set& signals, run::FanOut& fan_out, StatusDisplay& status,
                                    std::chrono::seconds grace,
                                    std::optional<std::chrono::milliseconds> own_patience,
                                    std::function<void()> leave);

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

}  // namespace podrun::commands
