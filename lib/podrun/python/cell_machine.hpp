// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "podrun/run/run_policy.hpp"

// The decisions of `podrun python` from cell to cell, without their effects. `host` is an index into the
// hosts of the run.
namespace podrun::python {

/// The reply of an interpreter to a cell (driver.py).
struct CellReply {
  enum class Kind : std::uint8_t { done, value, error, exit };
  Kind kind = Kind::done;
  std::chrono::microseconds took{};
  std::string text = {};  ///< the value, or the traceback
};

namespace event {
/// The interpreter waits for its first cell.
using Waits = run::OfHost<struct WaitsOfHost>;
/// The user has entered a cell for these hosts.
struct Entered {
  std::vector<std::size_t> hosts;
};
/// The cell has ended, and all of its output has come.
struct Replied {
  std::size_t host;
  CellReply reply;
};
/// The answer to AskPlaces: `<cell 6>, line 5, in train`.
struct Place {
  std::size_t host;
  std::string place;
};
/// The interpreter has ended, or the connection has.
using InterpreterGone = run::OfHost<struct InterpreterGoneOfHost>;
/// Ctrl-C, and Ctrl-\.
struct Interrupt {};
struct Quit {};
/// The time of next_tick() has come.
struct CellTick {};
}  // namespace event
using CellEvent = std::variant<event::Waits, event::Entered, event::Replied, event::Place,
                               event::InterpreterGone, event::Interrupt, event::Quit, event::CellTick>;

/// The hosts of an action, the lowest index first.
using CellHosts = std::vector<std::size_t>;

namespace action {
struct SendCell {
  CellHosts hosts;
};
/// Show what these have replied: the errors of a moment together, and values when all have ended.
struct ShowReplies {
  CellHosts hosts;
};
/// Say that these still run the cell.
struct TellRunning {
  CellHosts hosts;
};
/// Signal 61 of driver.py; Place answers, from those that can.
struct AskPlaces {
  CellHosts hosts;
};
/// Say where these are, see CellMachine::place().
struct TellPlaces {
  CellHosts hosts;
};
/// INT for their interpreters.
struct InterruptCell {
  CellHosts hosts;
};
/// Say that these do not react, and what the next Ctrl-C does.
struct TellDeaf {
  CellHosts hosts;
};
/// Stop all interpreters.
struct EndAll {};
/// Exit: the user does not want to wait for the end of the interpreters.
struct LeaveAtOnce {};
/// No host runs a cell: the next one can be entered.
struct AskForCell {};
}  // namespace action
using CellAction = std::variant<action::SendCell, action::ShowReplies, action::TellRunning, action::AskPlaces,
                                action::TellPlaces, action::InterruptCell, action::TellDeaf, action::EndAll,
                                action::LeaveAtOnce, action::AskForCell>;

struct CellTimes {
  std::chrono::milliseconds window{500};    ///< errors in this time are shown together
  std::chrono::milliseconds running{3000};  ///< after the end on a host: who still runs
  std::chrono::milliseconds hang{10000};    ///< after an error or a loss: where the others are
  std::chrono::milliseconds deaf{2000};     ///< after Ctrl-C: who does not react
  std::chrono::milliseconds answer{1000};   ///< for Place
  std::chrono::milliseconds read{
      1000};  ///< a Ctrl-C sooner after TellDeaf cannot have been meant by its words
};

/// Decides which host gets a cell, what is shown when, and what Ctrl-C does. Pure. No host gets a cell before
/// it has ended the one before.
class CellMachine {
 public:
  using TimePoint = run::TimePoint;

  explicit CellMachine(std::size_t hosts, const CellTimes& times = {}) : hosts_(hosts), times_(times) {}

  /// Returns the actions that the event asks for, in their order.
  std::vector<CellAction> on(const CellEvent& event, TimePoint now);
  /// When it wants a CellTick; none: at no time.
  std::optional<TimePoint> next_tick() const;

  /// The hosts that wait for a cell.
  CellHosts idle() const { return of(State::idle); }
  /// The reply to the last cell; none: the host has not ended it, or not got it.
  const std::optional<CellReply>& reply(std::size_t host) const { return hosts_[host].reply; }
  /// Empty: it has not said where it is.
  const std::string& place(std::size_t host) const { return hosts_[host].place; }

 private:
  enum class State : std::uint8_t { starting, idle, running, gone };
  struct Host {
    State state = State::starting;
    std::optional<CellReply> reply = std::nullopt;
    bool is_shown = false;
    std::string place = {};
  };
  using Due = std::optional<TimePoint>;
  enum class Answer : std::uint8_t { none, places, deaf };  ///< what is said when the places have come

  void handle(const event::Waits& event);
  void handle(const event::Entered& event);
  void handle(const event::Replied& event);
  void handle(const event::Place& event);
  void handle(const event::InterpreterGone& event);
  void handle(const event::Interrupt& event);
  void handle(const event::Quit& event);
  void handle(const event::CellTick& event);

  CellHosts of(State state) const;
  bool is_running() const { return !of(State::running).empty(); }
  bool take_due(Due& due) const;
  void ended_on(std::size_t host, bool is_well);
  void show(bool also_values);
  void ask_places(Answer answer);
  void tell_places();

  std::vector<Host> hosts_;
  const CellTimes times_;
  std::vector<CellAction> actions_;
  TimePoint now_;
  struct Cell {
    Due show_errors = std::nullopt;
    Due tell_running = std::nullopt;
    Due ask_hanging = std::nullopt;
    Due is_deaf = std::nullopt;
    Due places_due = std::nullopt;
    Answer answer = Answer::none;
    std::optional<TimePoint> told_deaf = std::nullopt;
    bool has_asked = false;
  };
  Cell cell_;  ///< the one that runs; nothing of it stays when it has ended
  bool is_ending_ = false;
};

}  // namespace podrun::python
