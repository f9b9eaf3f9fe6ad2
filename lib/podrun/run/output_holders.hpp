// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/base/event.hpp"
#include "podrun/remote/supervised.hpp"

// What becomes of an output that stays open behind the end of its command.
namespace podrun::run {

/// Who holds one open, as its host tells.
class OutputHolders {
 public:
  /// somebody: also where the host runs no program that could tell.
  enum class Answer { none, nobody, somebody };

  explicit OutputHolders(const asio::any_io_executor& executor);

  /// Asks; ends with the answer, or with the command. `supervised` must outlive it.
  static asio::awaitable<void> ask(std::shared_ptr<OutputHolders> self, remote::Supervised& supervised);
  /// For the answer, at most for five seconds.
  static asio::awaitable<void> wait(std::shared_ptr<OutputHolders> self);
  /// From now on at most for one second: what is not known cannot be ended.
  static void hurry(const std::shared_ptr<OutputHolders>& self);

  Answer answer() const { return answer_; }
  const remote::Holders& names() const { return names_; }
  bool is_asked() const { return asked_; }  ///< ask() has not ended

 private:
  static void wait_at_most(const std::shared_ptr<OutputHolders>& self, std::chrono::seconds patience);

  Event woken_;
  asio::steady_timer patience_;
  bool asked_ = true;
  bool started_ = false;  ///< the program that answers
  Answer answer_ = Answer::none;
  remote::Holders names_;
};

/// What comes of an output behind the end of its command. The end may be told while more of the
/// command's own is on its way (RFC 4254 6.10 sets no order). Pure.
class TrailingOutput {
 public:
  /// lingers: processes hold it that can be signalled.
  enum class Fate { lingers, looked_at_again, let_go };

  void add(std::size_t bytes) { all_ += bytes; }

  /// At each look.
  Fate decide(OutputHolders::Answer holders, const remote::Holders& names, bool held_back);

  /// At each look, a few seconds apart: whether the output is to be awaited further, and not let go.
  bool is_awaited(OutputHolders::Answer holders, bool held_back);

 private:
  std::uint64_t all_ = 0;
  std::uint64_t seen_ = 0;
  int quiet_looks_ = 0;
  bool lingered_ = false;
  remote::Holders stuck_;  ///< at the last look, all of them
  int stuck_looks_ = 0;
};

}  // namespace podrun::run
