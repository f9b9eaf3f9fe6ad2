// SPDX-License-Identifier: Apache-2.0
// The part of RunPolicy that ends a run early, after a signal or a stall.
#include <algorithm>
#include <csignal>

#include "podrun/run/run_policy.hpp"

namespace podrun::run {
namespace {

/// The least grace period of commands that have stalled.
constexpr std::chrono::seconds kGraceOfStalled{60};

}  // namespace

/// Gives the commands a longer grace period, since a stalled one may write a core.
void RunPolicy::handle(const event::Stalled& event) {
  limits_.grace = std::max(limits_.grace, kGraceOfStalled);
  std::vector<std::size_t> stopped;
  for (const std::size_t host : event.hosts) {
    if (hosts_[host].state != State::running) continue;
    outcomes_[host] = Stalled{event.silent};
    stop(host);
    stopped.push_back(host);
  }
  for (const std::size_t host : stopped) fail(host);
}

void RunPolicy::handle(const event::Interrupted& event) {
  if (event.signal == SIGINT && give_up_late()) return;
  const bool pressed = event.signal == SIGINT || event.signal == SIGQUIT;
  // Commands may handle QUIT and continue; then the run continues too. Those that are being stopped got TERM.
  if (event.signal == SIGQUIT && count(State::running) + count(State::stopping) > 0) {
    signal_running(SIGQUIT);
    return;
  }
  if (!interrupted_by_) interrupted_by_ = event.signal;
  const bool only_stopping =
      count(State::running) + count(State::lingering) == 0 && count(State::stopping) > 0;
  if (only_stopping || (event.signal == SIGINT && limits_.patience))
    presses_ = std::max(presses_, 1);                         // nothing is left for a first press
  presses_ = pressed ? presses_ + 1 : std::max(presses_, 2);  // the others act as the second press
  cancel_unstarted();
  if (pressed && presses_ >= 3) {
    actions_.emplace_back(action::Leave{});
  } else if (pressed && presses_ == 1) {
    signal_running(SIGINT);
    let_go_of_closing();
  } else {
    stop_running();
  }
}

/// Processes that a command left are interrupted too. QUIT is for the command alone.
void RunPolicy::signal_running(int signal) {
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    const State state = hosts_[host].state;
    if (state == State::running || (state == State::lingering && signal == SIGINT))
      actions_.emplace_back(action::Signal{host, signal});
  }
}

/// Lets go of outputs that are still open, but not of output that waits for podrun's reader, nor of the
/// culprit's last lines unless the user interrupted the run.
void RunPolicy::let_go_of_closing() {
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    if (hosts_[host].state != State::closing || countdowns_.is_reading_paused(host)) continue;
    if (host != culprit_ || interrupted_by_) actions_.emplace_back(action::LetGo{host, presses_ >= 2});
  }
}

void RunPolicy::stop_running() {
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    const State state = hosts_[host].state;
    if (state == State::running) outcomes_[host] = Stopped{};
    if (state == State::running || state == State::lingering) stop(host);
  }
  let_go_of_closing();
}

}  // namespace podrun::run
