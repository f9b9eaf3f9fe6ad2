// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/steady_timer.hpp>

namespace podrun::ssh {

using AgentSocket = asio::local::stream_protocol::socket;

/// Why communication with an agent failed, for people.
class AgentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads the next message, without its size: 1 byte to 256 KiB. Throws AgentError.
asio::awaitable<std::string> read_agent_message(AgentSocket& socket);
/// Throws AgentError.
asio::awaitable<void> write_agent_message(AgentSocket& socket, const std::string& message);

/// One question to an agent, on its own connection. Must stay alive while ask() runs.
class AgentQuestion {
 public:
  explicit AgentQuestion(const asio::any_io_executor& executor) : socket_(executor), timer_(executor) {}

  /// Returns the answer to a message. Throws AgentError. Call once.
  asio::awaitable<std::string> ask(const std::string& path, const std::string& message);
  /// Makes ask() throw at once.
  void close();

 private:
  asio::awaitable<void> connect(const std::string& path);
  asio::awaitable<void> pause();

  AgentSocket socket_;
  asio::steady_timer timer_;
  bool closed_ = false;
};

}  // namespace podrun::ssh
