// SPDX-License-Identifier: Apache-2.0
// Ctrl-C, Ctrl-\, Ctrl-Z and the signals that end podrun: relayed to the hosts during a run, and heeded by
// hand while a question is asked.
#include "podrun/session/run_signals.hpp"

#include <unistd.h>

#include <array>
#include <utility>

#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

namespace podrun::session {
namespace {

constexpr std::array kSignals = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP};

constexpr std::array kEnding = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t g_signal_while_asking = 0;

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// A run that is told to end and does not, since nobody reads its output, is left after the grace and this;
/// after a moment when every command has ended, in which a reader who does read has the rest.
constexpr std::chrono::seconds kLastResort{10};
constexpr std::chrono::milliseconds kAMoment{200};

/// Suspends podrun unless its process group is orphaned: then no shell could continue it.
void stop_here(asio::signal_set& signals) {
  signals.remove(SIGTSTP);
  ::raise(SIGTSTP);
  signals.add(SIGTSTP);
}

}  // namespace

void run_what_is_due(asio::io_context& io) {
  constexpr std::size_t kMost = 100'000;
  for (std::size_t handlers = 0; handlers < kMost && io.poll_one() > 0; ++handlers) {
  }
}

void take_signals(asio::signal_set& signals) {
  for (const int signal : kSignals) {
    if (!is_ignored(signal)) signals.add(signal);
  }
}

void ignore_from_now_on(asio::signal_set& signals) {
  signals.clear();
  for (const int signal : kSignals) std::signal(signal, SIG_IGN);
}

std::optional<int> wait_for_signal(asio::io_context& io, asio::signal_set& signals, run::TimePoint until,
                                   const std::function<std::optional<int>(bool)>& look) {
  constexpr std::chrono::milliseconds kBetween{500};
  std::optional<int> received;
  bool is_over = false;
  asio::steady_timer end(io, until);
  asio::steady_timer next_look(io);
  end.async_wait([&](const std::error_code&) { is_over = true; });
  const std::function<void()> listen = [&] {
    signals.async_wait([&](const std::error_code& error, int signal) {
      if (error) return;
      if (signal == SIGTSTP) {
        look(false);
        stop_here(signals);
        return listen();
      }
      received = signal;
      is_over = true;
    });
  };
  const std::function<void()> look_again = [&] {
    received = look(true);
    is_over = is_over || received;
    next_look.expires_after(kBetween);
    next_look.async_wait([&](const std::error_code& error) {
      if (!error && !is_over) look_again();
    });
  };
  listen();
  look_again();
  io.restart();
  while (!is_over) io.run_one();
  look(false);
  end.cancel();
  next_look.cancel();
  signals.cancel();
  run_what_is_due(io);
  return received;
}

void stop_foreground(asio::signal_set& signals) {
  if (is_ignored(SIGTSTP)) return;
  signals.remove(SIGTSTP);
  std::signal(SIGTSTP, SIG_IGN);
  ::kill(0, SIGTSTP);
  std::signal(SIGTSTP, SIG_DFL);
  stop_here(signals);  // apart, since it must have stopped when this returns
}

SignalRelay::SignalRelay(asio::signal_set& signals, run::FanOut& fan_out, StatusDisplay& status,
                         const run::Limits& limits, Calls calls)
    : signals_(signals),
      fan_out_(fan_out),
      fan_out_lives_(fan_out.lender()),
      status_(status),
      limits_(limits),
      calls_(std::move(calls)),
      last_resort_(signals.get_executor(), asio::steady_timer::time_point::max()) {}

asio::awaitable<void> SignalRelay::run() {
  while (!is_over_) {
    std::error_code ended;
    const int signal = co_await signals_.async_wait(asio::redirect_error(asio::use_awaitable, ended));
    if (ended) continue;
    if (is_over_) {
      ::raise(signal);
    } else if (calls_.takes(signal)) {
      continue;
    } else if (signal == SIGTSTP) {
      co_await suspend();
    } else {
      interrupt(signal);
    }
  }
}

void SignalRelay::end() {
  expect(!is_over_, "a run ends once");
  is_over_ = true;
  signals_.cancel();
  last_resort_.cancel();
}

asio::awaitable<void> SignalRelay::suspend() {
  status_.hide();
  co_await fan_out_.suspend();
  co_await calls_.hide();
  if (is_over_) {
    ::raise(SIGTSTP);
    co_return;
  }
  stop_here(signals_);
  calls_.show();  // comes first: in the background it suspends podrun again
  fan_out_.resume();
  status_.show();
}

void SignalRelay::interrupt(int signal) {
  // Read before the policy changes: a run cancelled here still has output to print.
  const bool only_output = run::only_output_is_left(fan_out_.status());
  const bool pressed = signal == SIGINT || signal == SIGQUIT;
  fan_out_.interrupt(signal);
  if (signal == SIGINT && !fan_out_.policy().interrupted_by()) return;  // it goes on without late hosts
  if (pressed && !only_output && !limits_.patience) return;
  const auto patience = only_output ? kAMoment : limits_.patience.value_or(limits_.grace + kLastResort);
  const run::TimePoint due = std::chrono::steady_clock::now() + patience;
  if (due >= last_resort_.expiry()) return;
  last_resort_.expires_at(due);
  last_resort_.async_wait([this](const std::error_code& error) {
    if (!error && !is_over_) calls_.leave();
  });
}

SignalsWhileAsking::SignalsWhileAsking(asio::signal_set& signals) : signals_(signals) {
  g_signal_while_asking = 0;
  for (const int signal : kEnding) {
    if (is_ignored(signal)) continue;
    signals_.remove(signal);
    std::signal(signal, [](int number) { g_signal_while_asking = number; });
  }
}

SignalsWhileAsking::~SignalsWhileAsking() {
  for (const int signal : kEnding) {
    if (!is_ignored(signal)) signals_.add(signal);
  }
}

int SignalsWhileAsking::received() { return g_signal_while_asking; }

}  // namespace podrun::session
