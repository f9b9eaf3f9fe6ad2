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

#include "podrun/link/link.hpp"
#include "podrun/ssh/transport.hpp"

namespace podrun {

class Channel;

/// Questions to a silent server: after `count_max` of them without an answer the host is lost.
struct KeepAlive {
  std::chrono::seconds interval{15};  ///< 0: never
  unsigned count_max = 3;
};

/// How a host is held back whose output nobody takes, see Session.
struct HoldBack {
  std::chrono::milliseconds sign_of_life{3'000};  ///< how often the server hears from us meanwhile
  /// Then what is under way is read after all. None: never.
  std::optional<std::chrono::milliseconds> longest;
};

/// What this server needs for the supervisor not to miss our heartbeats; `openssh_version` as
/// ssh_get_openssh_version() has it.
HoldBack hold_back_for(int openssh_version, std::chrono::milliseconds orphan_timeout);

/// The server takes no further channel on this connection, or no command in it; the connection goes on.
class ChannelRefused : public HostError {
 public:
  using HostError::HostError;
};

/// A connection that is logged in, and its channels. One coroutine, the pump, handles what arrives for as
/// long as the session runs; all else only calls libssh and waits for what the pump notices. While a channel
/// is full and none waits for anything, the pump does not read, so that TCP stops the host.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(const asio::any_io_executor& executor, std::unique_ptr<Transport> transport, KeepAlive keep_alive,
          HoldBack hold_back);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  void start();
  /// Runs a command in a channel of its own. Throws HostError: ChannelRefused only when it is not the first.
  asio::awaitable<std::shared_ptr<Stream>> exec(std::string command);
  bool has_ended() const { return failure_.has_value(); }
  /// Ends the connection: every channel ends with this failure.
  void stop(const Failure& failure);

 private:
  friend class Channel;
  using Clock = std::chrono::steady_clock;

  static asio::awaitable<void> pump(std::shared_ptr<Session> self);
  bool handle_arrivals(Clock::time_point now);
  bool holds_back() const;
  void wait_for_arrival();
  void show_life();
  void arm_sign_of_life();
  void close(const Failure& failure);
  static int on_data_of_closed(ssh_session, ssh_channel, void* data, std::uint32_t size, int is_stderr,
                               void* self);
  /// Of the bytes of a stream that libssh has to keep.
  void limit_refused(std::uint32_t bytes);
  void close_channel(ssh_channel channel);
  void close_when_opened(ssh_channel channel, std::function<int()> open);
  void close_unwanted();
  void ask_if_alive();
  void arm_keep_alive();

  asio::any_io_executor executor_;
  ssh_channel_callbacks_struct closed_callbacks_{};  ///< of channels that were closed here
  std::unique_ptr<Transport> transport_;             ///< null: closed
  std::vector<Channel*> channels_;                   ///< each takes itself out
  /// Of channels that were given up while the server had not answered.
  struct Unwanted {
    ssh_channel channel;
    std::function<int()> open;  ///< SSH_AGAIN: not yet
  };
  std::vector<Unwanted> unwanted_;
  unsigned next_number_ = 43;       ///< libssh counts channels from there, in the order of opening
  std::uint64_t seen_ = 0;          ///< bytes received that the channels have been told of
  bool used_ = false;               ///< there has been a channel
  std::optional<Failure> failure_;  ///< why it is closed

  KeepAlive keep_alive_;
  asio::steady_timer keep_alive_timer_;
  bool heard_ = true;  ///< something has arrived in this interval
  unsigned unanswered_ = 0;

  HoldBack hold_back_;
  asio::steady_timer life_timer_;
  bool life_timer_runs_ = false;
  bool reading_ = true;                            ///< the pump waits for what arrives
  std::optional<Clock::time_point> behind_since_;  ///< there may be something to read since then
  bool catching_up_ = false;                       ///< reads all of it, though it be held back
};

}  // namespace podrun
