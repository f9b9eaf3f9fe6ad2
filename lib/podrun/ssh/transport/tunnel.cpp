// SPDX-License-Identifier: Apache-2.0
// A socket pair between libssh and a Stream, for ProxyCommand and ProxyJump.
#include "podrun/ssh/transport/tunnel.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <system_error>
#include <utility>

#include <asio/buffer.hpp>
#include <asio/co_spawn.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <fmt/format.h>

#include "podrun/base/descriptor.hpp"
#include "podrun/base/expect.hpp"
#include "podrun/base/text.hpp"

namespace podrun::ssh {
namespace {

using Socket = asio::local::stream_protocol::socket;

constexpr std::size_t kLongestSaying = 300;  // in bytes, of a proxy command's last message

}  // namespace

/// Shared by its Tunnel and its two coroutines.
class Tunnel::State {
 public:
  State(Socket socket, std::shared_ptr<link::Stream> stream, std::string jump_host)
      : socket_(std::move(socket)), stream_(std::move(stream)), jump_host_(std::move(jump_host)) {
    socket_.non_blocking(true);
  }

  /// Copies bytes from the stream to the session.
  static asio::awaitable<void> pass_on_output(std::shared_ptr<State> self) {
    for (;;) {
      const link::StreamEvent event = co_await self->stream_->next();
      if (const auto* received = std::get_if<link::Received>(&event)) {
        if (received->stream == StreamId::err) {
          self->said_ += received->bytes.bytes();
          if (self->said_.size() > kLongestSaying) self->said_.erase(0, self->said_.size() - kLongestSaying);
          continue;
        }
        self->spoke_ = true;
        std::error_code error;
        co_await asio::async_write(self->socket_, asio::buffer(received->bytes.bytes()),
                                   asio::redirect_error(asio::use_awaitable, error));
        if (error) break;  // the session has closed its end
        continue;
      }
      self->note(event);
      if (std::holds_alternative<link::Closed>(event) || std::holds_alternative<link::Failure>(event)) break;
    }
    std::error_code ignored;
    self->socket_.shutdown(Socket::shutdown_send, ignored);
  }

  /// Copies bytes from the session to the stream.
  static asio::awaitable<void> pass_on_input(std::shared_ptr<State> self) {
    for (;;) {
      std::error_code error;
      co_await self->socket_.async_wait(Socket::wait_read, asio::redirect_error(asio::use_awaitable, error));
      if (error) break;
      Chunk chunk = self->read(error);
      if (error == asio::error::would_block) continue;
      if (error) break;
      if (!co_await self->stream_->write(std::move(chunk))) break;
    }
    self->stream_->close_write();
  }

  std::optional<link::Failure> failure() const {
    if (!failure_) return std::nullopt;
    link::Failure failure = *failure_;
    if (const std::string last = said(); !last.empty())
      failure.detail += fmt::format("{}{}", failure.detail.empty() ? "" : ": ", last);
    return failure;
  }
  std::string said() const { return std::string(last_line(said_)); }

  void stop() {
    stream_->stop({.cause = link::Cause::abandoned});
    std::error_code ignored;
    socket_.close(ignored);
  }

 private:
  /// Reads what there is. The buffer is on the stack, so that no host keeps one while its tunnel waits.
  Chunk read(std::error_code& error) {
    std::array<char, Chunk::kMaxSize> buffer;
    const std::size_t count = socket_.read_some(asio::buffer(buffer), error);
    return Chunk(std::string(buffer.data(), count));
  }

  void note(const link::StreamEvent& event) {
    if (const auto* exited = std::get_if<link::Exited>(&event)) {
      if (exited->status != 0 || !spoke_)
        failure_ = {link::Stage::proxy_command, link::Cause::transport_ended,
                    fmt::format("exit {}", exited->status),
                    exited->is_not_startable() ? link::Retry::no : link::Retry::may_help};
    }
    if (const auto* signaled = std::get_if<link::Signaled>(&event))
      failure_ = {link::Stage::proxy_command, link::Cause::transport_ended,
                  fmt::format("killed by signal {}", signaled->signal), link::Retry::may_help};
    if (const auto* failure = std::get_if<link::Failure>(&event)) {
      failure_ = *failure;
      failure_->retry = link::Retry::may_help;
      if (jump_host_.empty()) failure_->stage = link::Stage::proxy_command;
      if (!jump_host_.empty()) failure_->jump_hosts.insert(failure_->jump_hosts.begin(), jump_host_);
    }
  }

  Socket socket_;
  std::shared_ptr<link::Stream> stream_;
  std::string jump_host_;
  std::string said_;    ///< on standard error, the end of it
  bool spoke_ = false;  ///< on standard output
  std::optional<link::Failure> failure_;
};

Tunnel::Tunnel(const asio::any_io_executor& executor, std::shared_ptr<link::Stream> stream,
               std::string jump_host) {
  expect(stream != nullptr, "a Tunnel has a stream");
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
    throw link::HostError(
        {link::Stage::connecting, link::Cause::local_limit, errno_text(), link::Retry::may_help});
  Socket socket(executor);
  if (const std::error_code error = adopt(socket, ends[1], asio::local::stream_protocol())) {
    ::close(ends[0]);
    throw link::HostError(
        {link::Stage::connecting, link::Cause::local_limit, error.message(), link::Retry::may_help});
  }
  descriptor_ = ends[0];
  state_ = std::make_shared<State>(std::move(socket), std::move(stream), std::move(jump_host));
  const auto rethrow = [](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);  // an error in podrun, not of the host
  };
  asio::co_spawn(executor, State::pass_on_output(state_), rethrow);
  asio::co_spawn(executor, State::pass_on_input(state_), rethrow);
}

Tunnel::~Tunnel() {
  if (descriptor_ >= 0) ::close(descriptor_);
  state_->stop();
}

int Tunnel::take_descriptor() {
  expect(descriptor_ >= 0, "Tunnel::take_descriptor() is called once");
  return std::exchange(descriptor_, -1);
}

std::function<std::optional<link::Failure>()> Tunnel::end() const {
  return [state = std::shared_ptr<const State>(state_)] { return state->failure(); };
}

std::string Tunnel::said() const { return state_->said(); }

}  // namespace podrun::ssh
