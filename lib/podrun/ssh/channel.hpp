// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <asio/awaitable.hpp>
#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include "podrun/base/event.hpp"
#include "podrun/link/link.hpp"
#include "podrun/ssh/session.hpp"

namespace podrun {

/// The wire has 32 bits for an exit status, RFC 4254 6.10. What no process can have is a failure, 255.
Exited exited_with(int status_on_the_wire);

/// One command on a session, or one connection that its host forwards. What arrives is kept here up to a
/// limit; then the session reads no further, and what it must read nevertheless libssh keeps, whose window
/// stops the host (at some 1.3 MB a stream).
class Channel : public Stream {
 public:
  explicit Channel(std::shared_ptr<Session> session);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() override;

  /// Opens the channel and starts the command. Throws as Session::exec().
  asio::awaitable<void> start(const std::string& command);
  /// Instead: has the host connect to another one, whose bytes are the output then. Throws HostError.
  asio::awaitable<void> forward(std::string host, std::uint16_t port);

  asio::awaitable<StreamEvent> next() override;
  asio::awaitable<bool> write(Chunk chunk) override;
  void close_write() override;
  void stop(Failure failure) override;

 private:
  friend class Session;

  struct Piece {
    StreamId stream;
    std::string bytes;
  };

  // What libssh calls. They may call nothing of libssh themselves.
  static int on_data(ssh_session, ssh_channel, void* data, std::uint32_t size, int is_stderr, void* self);
  static void on_eof(ssh_session, ssh_channel, void* self);
  static void on_close(ssh_session, ssh_channel, void* self);
  static void on_exit_status(ssh_session, ssh_channel, int status, void* self);
  static void on_exit_signal(ssh_session, ssh_channel, const char* signal, int, const char*, const char*,
                             void* self);

  void create();
  template <typename Request>
  asio::awaitable<void> finish(Request request, std::string stage);
  void keep(StreamId stream, std::string_view rest);
  void take_refused();
  bool can_write() const;
  bool full() const;
  bool waits_for_arrival() const;
  void after_step(bool arrived);
  void detach(const Failure& failure);
  void release();

  std::shared_ptr<Session> session_;
  ssh_channel channel_ = nullptr;  ///< null: closed here
  unsigned number_ = 0;            ///< libssh's, which it tells in errors only
  std::function<int()> open_;      ///< asks libssh for it, once more until it is answered
  bool opened_ = false;            ///< the server knows it, or is taken to
  bool is_forwarded_ = false;      ///< no command: its output is all that there is to know
  ssh_channel_callbacks_struct callbacks_{};
  Event readable_;
  bool reading_ = false;  ///< waits for readable_
  Event writable_;
  bool writing_ = false;         ///< waits for writable_
  bool exchanges_keys_ = false;  ///< which must arrive before it is worth a try
  Event progress_;
  bool starting_ = false;  ///< waits for progress_

  std::deque<Piece> pieces_;
  std::size_t kept_ = 0;                  ///< bytes in pieces_
  std::array<bool, kStreams> refused_{};  ///< libssh has kept some
  std::optional<std::variant<Exited, Signaled>> end_;
  bool end_told_ = false;
  bool closed_ = false;       ///< by the host: nothing more will come
  bool input_ended_ = false;  ///< by us
  std::optional<Failure> failure_;
};

}  // namespace podrun
