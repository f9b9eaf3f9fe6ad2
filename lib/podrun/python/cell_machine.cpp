// SPDX-License-Identifier: Apache-2.0
// The state of each host's interpreter, and the times after which the user is told something about the cell
// that runs.
#include "podrun/python/cell_machine.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "podrun/base/expect.hpp"

namespace podrun::python {

std::vector<CellAction> CellMachine::on(const CellEvent& event, TimePoint now) {
  now_ = now;
  std::visit([this](const auto& what) { handle(what); }, event);
  return std::exchange(actions_, {});
}

std::optional<CellMachine::TimePoint> CellMachine::next_tick() const {
  std::optional<TimePoint> next;
  for (const Due& due :
       {cell_.show_errors, cell_.tell_running, cell_.ask_hanging, cell_.is_deaf, cell_.places_due}) {
    if (due) next = std::min(next.value_or(*due), *due);
  }
  return next;
}

void CellMachine::handle(const event::Waits& event) { hosts_[event.host].state = State::idle; }

void CellMachine::handle(const event::Entered& event) {
  expect(!is_running(), "a cell is entered when all have ended the one before");
  CellHosts hosts;
  for (Host& host : hosts_) host = {.state = host.state};
  for (const std::size_t host : event.hosts) {
    if (hosts_[host].state == State::idle) hosts.push_back(host);
  }
  for (const std::size_t host : hosts) hosts_[host].state = State::running;
  if (hosts.empty())
    actions_.emplace_back(action::AskForCell{});
  else
    actions_.emplace_back(action::SendCell{std::move(hosts)});
}

void CellMachine::handle(const event::Replied& event) {
  Host& host = hosts_[event.host];
  expect(host.state == State::running, "a host replies to a cell");
  host.state = State::idle;
  host.reply = event.reply;
  ended_on(event.host,
           event.reply.kind == CellReply::Kind::done || event.reply.kind == CellReply::Kind::value);
}

void CellMachine::handle(const event::InterpreterGone& event) {
  const bool was_running = std::exchange(hosts_[event.host].state, State::gone) == State::running;
  if (was_running) ended_on(event.host, false);
}

void CellMachine::handle(const event::Place& event) {
  hosts_[event.host].place = event.place;
  const CellHosts running = of(State::running);
  if (cell_.places_due &&
      std::ranges::none_of(running, [this](std::size_t host) { return place(host).empty(); }))
    tell_places();
}

/// A host that has ended ignores INT, so only the others are interrupted.
void CellMachine::handle(const event::Interrupt& /*event*/) {
  if (is_ending_) {
    actions_.emplace_back(action::LeaveAtOnce{});
  } else if (cell_.told_deaf && now_ - *cell_.told_deaf >= times_.read) {
    is_ending_ = true;
    cell_.is_deaf = cell_.ask_hanging = cell_.places_due = std::nullopt;
    actions_.emplace_back(action::EndAll{});
  } else if (is_running()) {
    if (!cell_.told_deaf) cell_.is_deaf = now_ + times_.deaf;
    actions_.emplace_back(action::InterruptCell{of(State::running)});
  }
}

void CellMachine::handle(const event::Quit& /*event*/) {
  if (is_running()) ask_places(Answer::places);
}

void CellMachine::handle(const event::CellTick& /*event*/) {
  if (take_due(cell_.show_errors)) show(false);
  if (take_due(cell_.tell_running)) actions_.emplace_back(action::TellRunning{of(State::running)});
  if (take_due(cell_.ask_hanging)) ask_places(Answer::places);
  if (take_due(cell_.is_deaf)) ask_places(Answer::deaf);
  if (take_due(cell_.places_due)) tell_places();
}

CellHosts CellMachine::of(State state) const {
  CellHosts found;
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    if (hosts_[host].state == state) found.push_back(host);
  }
  return found;
}

bool CellMachine::take_due(Due& due) const {
  if (!due || now_ < *due) return false;
  due.reset();
  return true;
}

void CellMachine::ended_on(std::size_t host, bool is_well) {
  if (!is_running()) {
    show(true);
    cell_ = {};
    actions_.emplace_back(action::AskForCell{});
    return;
  }
  cell_.tell_running = now_ + times_.running;
  if (is_well) return;
  if (hosts_[host].reply && !cell_.show_errors) cell_.show_errors = now_ + times_.window;
  if (!cell_.has_asked) cell_.ask_hanging = now_ + times_.hang;
  cell_.has_asked = true;
}

/// Shows each reply once: values when all hosts have ended the cell, errors before, since a host that waits
/// for one that has failed may run forever.
void CellMachine::show(bool also_values) {
  CellHosts hosts;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    Host& host = hosts_[i];
    const bool is_error = host.reply && host.reply->kind >= CellReply::Kind::error;
    if (!host.reply || host.is_shown || !(is_error || also_values)) continue;
    host.is_shown = true;
    hosts.push_back(i);
  }
  if (!hosts.empty()) actions_.emplace_back(action::ShowReplies{std::move(hosts)});
}

void CellMachine::ask_places(Answer answer) {
  cell_.answer = std::max(cell_.answer, answer);
  for (const std::size_t host : of(State::running)) hosts_[host].place.clear();
  cell_.places_due = now_ + times_.answer;
  actions_.emplace_back(action::AskPlaces{of(State::running)});
}

void CellMachine::tell_places() {
  cell_.places_due.reset();
  CellHosts known = of(State::running);
  std::erase_if(known, [this](std::size_t host) { return place(host).empty(); });
  if (!known.empty()) actions_.emplace_back(action::TellPlaces{std::move(known)});
  if (std::exchange(cell_.answer, Answer::none) != Answer::deaf) return;
  cell_.told_deaf = now_;
  actions_.emplace_back(action::TellDeaf{of(State::running)});
}

}  // namespace podrun::python
