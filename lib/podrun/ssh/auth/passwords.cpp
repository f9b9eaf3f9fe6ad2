// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/auth/passwords.hpp"

#include <utility>

namespace podrun::ssh {

const Passwords::Entry* Passwords::entry(const Account& account) const {
  const auto found = entries_.find(account);
  return found == entries_.end() ? nullptr : &found->second;
}

std::vector<Passwords::Question> Passwords::take_questions() {
  std::vector<Question> questions;
  for (auto& [account, entry] : entries_) {
    if (!entry.wanted_by.empty())
      questions.push_back({account, std::exchange(entry.wanted_by, {}), entry.wrong > 0});
  }
  return questions;
}

void Passwords::answer(const Account& account, Secret password) {
  Entry& entry = entries_[account];
  entry.password = std::move(password);
  entry.state = State::untried;
}

const Secret* Passwords::find(const Account& account) const {
  const Entry* known = entry(account);
  return known && known->password ? &*known->password : nullptr;
}

std::size_t Passwords::wrong_answers(const Account& account) const {
  const Entry* known = entry(account);
  return known ? known->wrong : 0;
}

bool Passwords::is_accepted(const Account& account) const {
  const Entry* known = entry(account);
  return known && known->state == State::accepted;
}

bool Passwords::is_on_trial(const Account& account, const std::shared_ptr<Event>& event) {
  const auto found = entries_.find(account);
  if (found == entries_.end() || found->second.state != State::on_trial) return false;
  found->second.waiting.push_back(event);
  return true;
}

Passwords::Trial::Trial(Passwords& passwords, const Account& account)
    : passwords_(passwords),
      account_(account),
      is_first_(passwords.entries_.at(account).state == State::untried) {
  if (is_first_) passwords.entries_.at(account).state = State::on_trial;
}

/// Without end() the whole run is being torn down, so no other login is woken.
Passwords::Trial::~Trial() {
  if (is_first_) passwords_.entries_.at(account_).state = State::untried;
}

void Passwords::Trial::end(Result result) {
  if (!std::exchange(is_first_, false)) return;
  Entry& entry = passwords_.entries_.at(account_);
  entry.state = result == Result::accepted ? State::accepted : State::untried;
  if (result == Result::refused) {
    entry.password.reset();
    ++entry.wrong;
  }
  for (const std::weak_ptr<Event>& waiting : std::exchange(entry.waiting, {})) {
    if (const auto event = waiting.lock()) event->notify();
  }
}

}  // namespace podrun::ssh
