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
#include "podrun/base/expect.hpp"
#include "podrun/link/link.hpp"
#include "podrun/ssh/transport/opening.hpp"

namespace podrun::ssh {

/// The versions of libssh and OpenSSL that are in use, for reports of faults.
std::string library_versions();

/// A libssh session on a connected socket, without blocking: when libssh returns "again", the caller waits
/// here. libssh and asio share the descriptor, and asio never keeps one that libssh has closed (libssh 0.10
/// closes it at the end of the connection, 0.11 does not).
class Transport {
 public:
  /// Why the transport to the host has ended, if it is more than a connection.
  using TunnelEnd = std::function<std::optional<link::Failure>()>;

  /// Takes ownership of the descriptor, and sets the options common to all sessions. Throws HostError.
  Transport(const asio::any_io_executor& executor, int descriptor, TunnelEnd tunnel_end = {});
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  ~Transport();

  ssh_session session() const { return session_.get(); }
  /// Throws HostError if libssh refuses the value.
  void set(ssh_options_e option, const std::string& value);
  void set(ssh_options_e option, unsigned value);
  /// Exchanges banners and keys, until the host key is known. Throws HostError.
  asio::awaitable<void> connect();
  /// Handles arrived data, at most one read; false if there was none.
  bool step();

  /// Calls libssh once. All calls that may read, write or close must use this.
  template <typename Call>
  int call(Call libssh) {
    thread_.check("libssh's session is for one thread");
    expect(!is_lent_, "no call of libssh while another thread has the session");
    const int result = libssh();
    look_after_call();
    return result;
  }
  /// Calls libssh until its result is not `again`. Throws HostError if the connection is dead or stop() was
  /// called.
  template <typename Call>
  asio::awaitable<int> finish(Call libssh, int again) {
    for (;;) {
      const int result = call(libssh);
      if (result != again) co_return result;
      check();
      co_await wait();
    }
  }

  /// Whether to wait for arrivals.
  enum class Reading { yes, no };
  /// Waits until the socket is readable, or writable while libssh has something to write, or for wake().
  asio::awaitable<void> wait(Reading reading = Reading::yes);
  void wake() { waits_->event.notify(); }
  /// Sends the messages that TCP has collected (TCP_CORK), because libssh writes each one separately. wait()
  /// does this too.
  void push();
  /// Acknowledges at once: sshd sends some answers in two pieces and waits for the acknowledgement (Nagle).
  void acknowledge_at_once() const;

  bool dead() const;
  std::uint64_t bytes_received() const { return socket_counter_.in_bytes; }
  /// Complete packets only: part of one says nothing, its length may have arrived changed.
  std::uint64_t packets_received() const { return packet_counter_.in_packets; }
  /// Packets that libssh keeps during a key exchange do not count yet.
  std::uint64_t packets_sent() const { return packet_counter_.out_packets; }
  bool write_pending() const;
  /// The error that libssh reports, as a Failure at the present stage.
  link::Failure failure() const;
  /// The first line that the server has sent, while its version is awaited. Untrusted.
  std::string said_before_version() const;

  /// Sets the stage that failures name.
  void at_stage(link::Stage stage) { stage_ = stage; }
  link::Stage stage() const { return stage_; }
  /// wait() and check() throw this from now on.
  void stop(link::Failure failure);
  /// Throws HostError if the connection is dead, the server leaves too much unread, or stop() was called.
  void check() const;

  /// Between these two calls asio does not know the descriptor, so another thread may call libssh.
  /// take_back() throws HostError.
  void lend();
  void take_back();
  bool is_lent() const { return is_lent_; }

 private:
  /// Outlives this object in the handlers of pending waits.
  struct Waits {
    explicit Waits(const asio::any_io_executor& executor) : descriptor(executor), event(executor) {}
    asio::posix::stream_descriptor descriptor;
    Event event;
    bool readable = false;  ///< a wait for this is pending
    bool writable = false;
  };
  struct FreeSession {
    void operator()(ssh_session session) const { ssh_free(session); }
  };
  struct FreeEvent {
    void operator()(ssh_event event) const { ssh_event_free(event); }
  };

  void give_descriptor();
  void begin_polling();
  void set_tcp_option(int option, int value) const;
  void look_after_call();

  const OneThread thread_;
  std::shared_ptr<Waits> waits_;
  std::unique_ptr<ssh_session_struct, FreeSession> session_;
  std::unique_ptr<ssh_event_struct, FreeEvent> event_;  ///< one per session: libssh polls everything in it
  bool given_ = false;                                  ///< libssh has the descriptor
  bool is_lent_ = false;
  ssh_counter_struct socket_counter_{};
  ssh_counter_struct packet_counter_{};
  std::uint64_t bytes_pushed_ = 0;     ///< bytes that libssh had written at the last push()
  std::uint64_t packets_flushed_ = 0;  ///< packets sent when the socket had last taken everything
  Opening opening_;                    ///< until the keys are exchanged
  TunnelEnd tunnel_end_;
  link::Stage stage_ = link::Stage::ssh_banner;
  std::optional<link::Failure> stopped_;
};

}  // namespace podrun::ssh
