// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "podrun/base/event.hpp"
#include "podrun/base/secret.hpp"

namespace podrun::ssh {

/// The account that a password is of.
struct Account {
  std::string user;
  std::string jump_host =
      {};  ///< its name; empty: the account is one of the hosts of the run, on all of them

  friend auto operator<=>(const Account&, const Account&) = default;
};

/// The passwords of a run. Each is asked for once, and tried on one host alone at first: a wrong one that 64
/// hosts report could lock the account.
class Passwords {
 public:
  struct Question {
    Account account;
    std::vector<std::string> hosts;  ///< names of those that would take a password
    bool was_wrong;                  ///< the last answer
  };

  /// A host takes a password, and there is none.
  void want(const Account& account, const std::string& host) { entries_[account].wanted_by.push_back(host); }
  /// What want() has asked for since the last call.
  std::vector<Question> take_questions();
  void answer(const Account& account, Secret password);

  /// Null: there is none, or it was wrong.
  const Secret* find(const Account& account) const;
  /// How often an answer was wrong.
  std::size_t wrong_answers(const Account& account) const;
  /// Whether it was right on some host.
  bool is_accepted(const Account& account) const;

  /// Whether another login is trying it for the first time; if so, `event` is notified when that is over.
  bool is_on_trial(const Account& account, const std::shared_ptr<Event>& event);

  enum class Result { accepted, refused, none };  ///< none: the connection failed
  /// The use of a password by a login; the first one is the trial.
  class Trial {
   public:
    Trial(Passwords& passwords, const Account& account);
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;
    ~Trial();
    /// Wakes the logins that wait for the result. A password that is refused at its trial is forgotten.
    void end(Result result);

   private:
    Passwords& passwords_;
    Account account_;
    bool is_first_;
  };

 private:
  enum class State { untried, on_trial, accepted };
  struct Entry {
    std::optional<Secret> password = std::nullopt;
    State state = State::untried;
    std::vector<std::string> wanted_by = {};
    std::size_t wrong = 0;
    std::vector<std::weak_ptr<Event>> waiting = {};
  };
  const Entry* entry(const Account& account) const;

  std::map<Account, Entry> entries_;
};

}  // namespace podrun::ssh
