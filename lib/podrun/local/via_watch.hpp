// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/link/link.hpp"
#include "podrun/local/silence.hpp"

namespace podrun {

/// When a host that prints nothing is asked whether it is alive, as ssh_config(5) has it.
struct AliveQuestions {
  std::chrono::milliseconds interval{15'000};  ///< ServerAliveInterval; 0: never
  unsigned count_max = 3;                      ///< ServerAliveCountMax
};

/// Watches one program on a host that is reached through a way in. After some silence the way in is started
/// once more, with a shell that answers; this leaves the streams of the program alone. Without an answer the
/// program's stream ends with the Failure `no answer for …`.
class ViaWatch : public std::enable_shared_from_this<ViaWatch> {
 public:
  /// Starts a program on the host, and is given the stream before the text is sent. Throws HostError.
  using OnStart = std::function<void(const std::shared_ptr<Stream>&)>;
  using Start = std::function<asio::awaitable<std::shared_ptr<Stream>>(Program, OnStart)>;

  /// State that all hosts of a connector share.
  struct Shared {
    AliveQuestions questions;
    bool answered = false;  ///< a host has answered: the way in can be started beside a running program
    bool on_trial = false;  ///< a host is being asked to learn that
    std::chrono::steady_clock::time_point next_start{};
  };

  ViaWatch(const asio::any_io_executor& executor, std::shared_ptr<Shared> shared, Start start);
  ViaWatch(const ViaWatch&) = delete;
  ViaWatch& operator=(const ViaWatch&) = delete;

  /// The stream of the program, watched from its first output to its end.
  std::shared_ptr<Stream> watch(std::shared_ptr<Stream> stream);
  void stop();

 private:
  class Watched;
  using Clock = std::chrono::steady_clock;

  void hear();
  void arm(Clock::duration time);
  void look(bool in_time);
  void ask();
  void drop_question();
  static asio::awaitable<void> question(std::shared_ptr<ViaWatch> self, bool is_trial);
  asio::awaitable<void> hear_answer();

  asio::any_io_executor executor_;
  std::shared_ptr<Shared> shared_;
  Start start_;
  Silence silence_;
  asio::steady_timer timer_;
  std::weak_ptr<Stream> program_;
  std::weak_ptr<Stream> question_;
  bool begun_ = false;
  bool stopped_ = false;
  bool listening_ = false;  // the program's output is awaited
  bool asking_ = false;
  bool tried_ = false;
};

}  // namespace podrun
