// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/link/link.hpp"

namespace podrun::local {

/// Counts the intervals without output from a host; the caller looks once per interval. As over SSH, a host
/// is lost after `count_max` + 1 of them if a question has been unanswered since the first.
class SilenceCount {
 public:
  enum class Verdict { heard, quiet, ask, lost };

  explicit SilenceCount(unsigned count_max) : count_max_(std::max(count_max, 1U)) {}

  /// The host has printed something.
  void hear() { heard_ = true; }
  /// The host has answered a question. While it prints nothing, the next question comes after 2, then 4
  /// intervals.
  void answer() {
    unanswered_ = 0;
    rest_ = pause_ = std::min(2 * pause_ + 1, kLongestPause);
  }

  /// `listening`: whether podrun reads the host's output, so that silence is the host's.
  Verdict end_interval(bool listening) {
    if (std::exchange(heard_, false) || !listening) {
      unanswered_ = rest_ = pause_ = 0;
      return Verdict::heard;
    }
    if (rest_ > 0) {
      --rest_;
      return Verdict::quiet;
    }
    if (unanswered_ == count_max_) return Verdict::lost;
    ++unanswered_;
    return Verdict::ask;
  }

 private:
  static constexpr unsigned kLongestPause = 3;

  unsigned count_max_;
  unsigned unanswered_ = 0;
  unsigned rest_ = 0;   // intervals until the next question
  unsigned pause_ = 0;  // the last rest
  bool heard_ = true;
};

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
  void tick(bool in_time);
  void ask();
  void drop_question();
  static asio::awaitable<void> question(std::shared_ptr<ViaWatch> self, bool is_trial);
  asio::awaitable<void> hear_answer();

  asio::any_io_executor executor_;
  std::shared_ptr<Shared> shared_;
  Start start_;
  SilenceCount silence_;
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
