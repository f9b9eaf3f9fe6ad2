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
#include "podrun/base/expect.hpp"
#include "podrun/link/link.hpp"
#include "podrun/ssh/transport/ssh_session.hpp"

namespace podrun::ssh {

/// One command on a session, or one connection that its host forwards. Keeps arrived output up to a limit;
/// then the session pauses reading. If it must read, libssh keeps the output, and its window stops the host
/// at about 1.3 MB per stream.
class Channel : public link::Stream {
 public:
  explicit Channel(std::shared_ptr<SshSession> session);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() override;

  /// Opens the channel and starts the command. Throws like SshSession::exec().
  asio::awaitable<void> start(const std::string& command);
  /// Instead of start(): lets the host connect to another one, whose bytes are the output. Throws HostError.
  asio::awaitable<void> forward(std::string host, std::uint16_t port);

  asio::awaitable<link::StreamEvent> next() override;
  asio::awaitable<bool> write(Chunk chunk) override;
  void close_write() override;
  void stop(link::Failure failure) override;

 private:
  friend class SshSession;

  struct Piece {
    StreamId stream;
    std::string bytes;
  };

  // libssh's callbacks. They must not call libssh themselves.
  static int on_data(ssh_session, ssh_channel, void* data, std::uint32_t size, int is_stderr, void* self);
  static void on_eof(ssh_session, ssh_channel, void* self);
  static void on_close(ssh_session, ssh_channel, void* self);
  static void on_exit_status(ssh_session, ssh_channel, int status, void* self);
  static void on_exit_signal(ssh_session, ssh_channel, const char* signal, int, const char*, const char*,
                             void* self);

  void create();
  template <typename Request>
  asio::awaitable<void> finish(Request request, link::Stage stage);
  void keep(StreamId stream, std::string_view rest);
  void take_refused();
  bool can_write() const;
  bool full() const;
  bool waits_for_arrival() const;
  void after_step(bool arrived);
  void detach(const link::Failure& failure);
  void release();

  Once creating_;
  std::shared_ptr<SshSession> session_;
  ssh_channel channel_ = nullptr;  ///< null: closed here
  unsigned number_ = 0;            ///< libssh's number, which it shows only in errors
  std::function<int()> open_;      ///< asks libssh to open it; called again until answered
  bool opened_ = false;            ///< the server knows it, or is assumed to
  bool is_forwarded_ = false;      ///< no command: there is only output
  ssh_channel_callbacks_struct callbacks_{};
  Event readable_;
  bool reading_ = false;  ///< waits for readable_
  Event writable_;
  bool writing_ = false;         ///< waits for writable_
  bool exchanges_keys_ = false;  ///< keys must arrive before another try makes sense
  Event progress_;
  bool starting_ = false;  ///< waits for progress_

  std::deque<Piece> pieces_;
  std::size_t kept_ = 0;                  ///< bytes in pieces_
  std::array<bool, kStreams> refused_{};  ///< libssh keeps some of it
  std::optional<std::variant<link::Exited, link::Signaled>> end_;
  bool end_told_ = false;
  bool closed_ = false;       ///< by the host: no more output will come
  bool input_ended_ = false;  ///< by podrun
  std::optional<link::Failure> failure_;
};

}  // namespace podrun::ssh
