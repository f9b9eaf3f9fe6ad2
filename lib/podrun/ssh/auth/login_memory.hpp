// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/steady_timer.hpp>

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

/// The texts of servers that keep a login waiting, such as an address to open or a push to confirm.
class ServerTexts {
 public:
  /// Calls this for each line, which may contain anything but a line end.
  void on_line(std::function<void(const std::string& host, const std::string& line)> tell) {
    tell_ = std::move(tell);
  }
  /// Tells each text once, however many hosts send it, and only so many.
  void tell(const std::string& host, const std::string& text);

 private:
  std::function<void(const std::string& host, const std::string& line)> tell_;
  std::set<std::string> told_;
};

/// Its lines in one, cut to a length that fits into a message.
std::string in_one_line(const std::string& text);

/// While it lives: tells the present text of a server every second, so a login that does not wait shows none.
class ServerTextWatch {
 public:
  ServerTextWatch(const asio::any_io_executor& executor, std::function<void()> tell);
  ServerTextWatch(const ServerTextWatch&) = delete;
  ServerTextWatch& operator=(const ServerTextWatch&) = delete;
  ~ServerTextWatch() = default;

 private:
  void arm();

  const std::function<void()> tell_;
  asio::steady_timer timer_;
  const std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);  ///< a handler may come after the end
};

/// Knowledge from earlier logins.
struct LoginMemory {
  std::string last_accepted = {};  ///< the blob of the last accepted key: offered first to the next host
  std::vector<std::string> locked_files = {};  ///< a host would accept them: ask their passphrases
  Passwords passwords = {};
  ServerTexts server_texts = {};  ///< shown once in all logins
};

}  // namespace podrun::ssh
