// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/auth/login_memory.hpp"

#include <chrono>
#include <string_view>
#include <system_error>
#include <utility>

#include "podrun/base/text.hpp"

namespace podrun::ssh {
namespace {

constexpr std::chrono::seconds kInterval{1};

// A server may send texts without end, each another one.
constexpr std::size_t kMostTexts = 2'000;  // of all hosts: each may have an address of its own
constexpr std::size_t kMostLines = 20;     // of one text
constexpr std::size_t kLongestLine = 500;
constexpr std::size_t kLongestMessage = 300;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty() && lines.size() < kMostLines) {
    const std::string_view line = trim_space(take_part(text, '\n'));
    if (!line.empty()) lines.push_back(line.substr(0, kLongestLine));
  }
  return lines;
}

}  // namespace

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

void ServerTexts::tell(const std::string& host, const std::string& text) {
  if (!tell_ || told_.size() >= kMostTexts || !told_.insert(in_one_line(text)).second) return;
  for (const std::string_view line : lines_of(text)) tell_(host, std::string(line));
}

std::string in_one_line(const std::string& text) {
  std::string one;
  for (const std::string_view line : lines_of(text)) {
    if (!one.empty()) one += ' ';
    one += line;
  }
  return one.substr(0, kLongestMessage);
}

ServerTextWatch::ServerTextWatch(const asio::any_io_executor& executor, std::function<void()> tell)
    : tell_(std::move(tell)), timer_(executor) {
  arm();
}

void ServerTextWatch::arm() {
  timer_.expires_after(kInterval);
  timer_.async_wait([this, lives = std::weak_ptr(lives_)](const std::error_code& cancelled) {
    if (cancelled || !lives.lock()) return;
    tell_();
    arm();
  });
}

}  // namespace podrun::ssh
