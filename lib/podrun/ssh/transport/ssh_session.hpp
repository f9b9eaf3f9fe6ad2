// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>
#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include "podrun/base/expect.hpp"
#include "podrun/link/link.hpp"
#include "podrun/ssh/transport/transport.hpp"

namespace podrun::ssh {

class Channel;

/// Questions to a silent server: the host is lost after `count_max` of them without an answer.
struct KeepAlive {
  std::chrono::seconds interval{15};  ///< 0: never
  unsigned count_max = 3;
};

/// How reading pauses for a host whose output is not taken; see SshSession.
struct ReadingPause {
  std::chrono::milliseconds sign_of_life{3'000};  ///< how often podrun sends a message meanwhile
  /// After this time podrun reads what has arrived anyway. None: never.
  std::optional<std::chrono::milliseconds> longest;
};

/// The limits with this server so that the supervisor does not miss heartbeats; `openssh_version` is the
/// result of ssh_get_openssh_version().
ReadingPause reading_pause_for(int openssh_version, std::chrono::milliseconds orphan_timeout);

/// The server refused another channel on this connection, or its command; the connection continues.
class ChannelRefused : public link::HostError {
 public:
  using HostError::HostError;
};

/// A logged-in connection and its channels. One coroutine, the pump, handles all arrivals; other code only
/// calls libssh and waits for the pump. While a channel is full and none waits for anything, the pump does
/// not read, so that TCP stops the host. Sessions of different io_contexts may be on different threads.
class SshSession : public std::enable_shared_from_this<SshSession> {
 public:
  SshSession(const asio::any_io_executor& executor, std::unique_ptr<Transport> transport,
             KeepAlive keep_alive, ReadingPause reading_pause);
  SshSession(const SshSession&) = delete;
  SshSession& operator=(const SshSession&) = delete;
  ~SshSession();

  void start();
  /// Runs a command in a new channel. Throws HostError; ChannelRefused only if it is not the first.
  asio::awaitable<std::shared_ptr<link::Stream>> exec(std::string command);
  bool has_ended() const { return failure_.has_value(); }
  /// Ends the connection: every channel ends with this failure.
  void stop(const link::Failure& failure);

 private:
  friend class Channel;
  using Clock = std::chrono::steady_clock;

  static asio::awaitable<void> pump(std::shared_ptr<SshSession> self);
  bool handle_arrivals(Clock::time_point now);
  bool pauses_reading() const;
  void wait_for_arrival();
  void show_life();
  void arm_sign_of_life();
  void close(const link::Failure& failure);
  static int on_data_of_closed(ssh_session, ssh_channel, void* data, std::uint32_t size, int is_stderr,
                               void* self);
  /// Limits the bytes of a stream that libssh keeps.
  void limit_refused(std::uint32_t bytes);
  void close_channel(ssh_channel channel);
  void close_when_opened(ssh_channel channel, std::function<int()> open);
  void close_unwanted();
  void ask_if_alive();
  void arm_keep_alive();

  Once pumping_;
  asio::any_io_executor executor_;
  ssh_channel_callbacks_struct closed_callbacks_{};  ///< for channels that podrun has closed
  std::unique_ptr<Transport> transport_;             ///< null: closed
  std::vector<Channel*> channels_;                   ///< each removes itself
  /// A channel that was abandoned before the server answered.
  struct Unwanted {
    ssh_channel channel;
    std::function<int()> open;  ///< SSH_AGAIN: not yet
  };
  std::vector<Unwanted> unwanted_;
  unsigned next_number_ = 43;             ///< libssh numbers channels from 43, in the order of opening
  std::uint64_t seen_ = 0;                ///< packets received and reported to the channels
  bool used_ = false;                     ///< there was a channel already
  std::optional<link::Failure> failure_;  ///< the reason for the end

  KeepAlive keep_alive_;
  asio::steady_timer keep_alive_timer_;
  bool heard_ = true;  ///< a packet arrived in this interval
  unsigned unanswered_ = 0;

  ReadingPause reading_pause_;
  asio::steady_timer life_timer_;
  bool life_timer_runs_ = false;
  bool reading_ = true;                            ///< the pump waits for arrivals
  std::optional<Clock::time_point> unread_since_;  ///< data may wait to be read since then
  bool catching_up_ = false;                       ///< reads all of it despite a pause
};

}  // namespace podrun::ssh
