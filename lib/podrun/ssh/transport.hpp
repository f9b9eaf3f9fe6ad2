// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <libssh/libssh.h>

#include "podrun/base/event.hpp"
#include "podrun/link/link.hpp"

namespace podrun {

/// A libssh session on a connected socket, without the blocking: libssh is called, and when it says "again",
/// the caller waits here. libssh and asio share the one descriptor; this class sees to it that asio never
/// keeps one that libssh has closed (libssh 0.10 closes it at the end of the connection, 0.11 does not).
class Transport {
 public:
  /// Why the way to the host has ended, where that is more than a connection.
  using EndOfWay = std::function<std::optional<Failure>()>;

  /// Takes the descriptor over, and sets what is the same for every session. Throws HostError.
  Transport(const asio::any_io_executor& executor, int descriptor, EndOfWay end_of_way = {});
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  ~Transport();

  ssh_session session() const { return session_.get(); }
  /// Throws HostError when libssh does not take the value.
  void set(ssh_options_e option, const std::string& value);
  void set(ssh_options_e option, unsigned value);
  /// Exchanges banners and keys: everything before the host key is known. Throws HostError.
  asio::awaitable<void> connect();
  /// Handles what has arrived, at most one read; false when there was nothing.
  bool step();

  /// Calls libssh once. All calls that may read, write or close go through here.
  template <typename Call>
  int call(Call libssh) {
    const int result = libssh();
    look_after_call();
    return result;
  }
  /// Calls libssh until it says something else than `again`. Throws HostError when the connection is dead or
  /// stop() was called.
  template <typename Call>
  asio::awaitable<int> finish(Call libssh, int again) {
    for (;;) {
      const int result = call(libssh);
      if (result != again) co_return result;
      check();
      co_await wait();
    }
  }

  /// Whether what arrives is waited for.
  enum class Reading { yes, no };
  /// Waits until the socket is readable, or writable while libssh has something to write, or for wake().
  asio::awaitable<void> wait(Reading reading = Reading::yes);
  void wake() { waits_->event.notify(); }
  /// Acknowledge at once: sshd sends some answers in two pieces and waits for ours (Nagle).
  void acknowledge_at_once() const;

  bool dead() const;
  std::uint64_t bytes_received() const { return socket_counter_.in_bytes; }
  /// What libssh keeps while keys are exchanged does not count yet.
  std::uint64_t packets_sent() const { return packet_counter_.out_packets; }
  bool write_pending() const;
  /// What libssh says is wrong, for people, as a Failure at the present stage.
  Failure failure() const;

  /// What is being done, for failures.
  void at_stage(std::string stage) { stage_ = std::move(stage); }
  const std::string& stage() const { return stage_; }
  /// wait() and check() throw this from now on.
  void stop(Failure failure);
  /// Throws HostError when the connection is dead, the server reads nothing of much, or stop() was called.
  void check() const;

  /// Between these two asio does not know the descriptor: another thread calls libssh meanwhile. The second
  /// throws HostError.
  void lend();
  void take_back();

 private:
  /// Outlives this object in the handlers of waits that are pending.
  struct Waits {
    explicit Waits(const asio::any_io_executor& executor) : descriptor(executor), event(executor) {}
    asio::posix::stream_descriptor descriptor;
    Event event;
    bool readable = false;  ///< a wait for it is pending
    bool writable = false;
  };
  struct FreeSession {
    void operator()(ssh_session session) const { ssh_free(session); }
  };
  struct FreeEvent {
    void operator()(ssh_event event) const { ssh_event_free(event); }
  };

  int begin();
  void look_after_call();

  std::shared_ptr<Waits> waits_;
  std::unique_ptr<ssh_session_struct, FreeSession> session_;
  std::unique_ptr<ssh_event_struct, FreeEvent> event_;  ///< one a session: libssh polls all that is in it
  bool given_ = false;                                  ///< libssh has the descriptor
  ssh_counter_struct socket_counter_{};
  ssh_counter_struct packet_counter_{};
  std::uint64_t packets_flushed_ = 0;  ///< of those sent: the socket had taken them when last looked at
  EndOfWay end_of_way_;
  std::string stage_ = "SSH banner";
  std::optional<Failure> stopped_;
};

}  // namespace podrun
