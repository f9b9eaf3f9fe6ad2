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

namespace podrun::local {

/// When to ask a host that prints nothing whether it is alive; see ssh_config(5).
struct AliveQuestions {
  std::chrono::milliseconds interval{15'000};  ///< ServerAliveInterval; 0: never
  unsigned count_max = 3;                      ///< ServerAliveCountMax
};

/// Watches one program that runs through a transport command. After some silence the command is started
/// again, with a shell that answers, beside the program. Without an answer the program's stream fails with
/// `no answer for …`.
class ViaWatch : public std::enable_shared_from_this<ViaWatch> {
 public:
  /// Starts a program on the host; calls OnStart with the stream before the text is sent. Throws HostError.
  using OnStart = std::function<void(const std::shared_ptr<link::Stream>&)>;
  using Start = std::function<asio::awaitable<std::shared_ptr<link::Stream>>(link::Program, OnStart)>;

  /// State shared by all hosts of a connector.
  struct Shared {
    AliveQuestions questions;
    bool answered = false;  ///< a host has answered, so the command can run beside a program
    bool on_trial = false;  ///< a host is being asked to find that out
    std::chrono::steady_clock::time_point next_start{};
  };

  ViaWatch(const asio::any_io_executor& executor, std::shared_ptr<Shared> shared, Start start);
  ViaWatch(const ViaWatch&) = delete;
  ViaWatch& operator=(const ViaWatch&) = delete;

  /// The program's stream, watched from its first output to its end.
  std::shared_ptr<link::Stream> watch(std::shared_ptr<link::Stream> stream);
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
  std::weak_ptr<link::Stream> program_;
  std::weak_ptr<link::Stream> question_;
  bool begun_ = false;
  bool stopped_ = false;
  bool listening_ = false;  // podrun waits for the program's output
  bool asking_ = false;
  bool tried_ = false;
};

}  // namespace podrun::local
