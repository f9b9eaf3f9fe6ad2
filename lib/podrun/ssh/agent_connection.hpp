// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/steady_timer.hpp>

namespace podrun {

using AgentSocket = asio::local::stream_protocol::socket;

/// Why an agent cannot be talked to, for people.
class AgentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The next message, without its size: 1 byte to 256 KiB. Throws AgentError.
asio::awaitable<std::string> read_agent_message(AgentSocket& socket);
/// Throws AgentError.
asio::awaitable<void> write_agent_message(AgentSocket& socket, const std::string& message);

/// One question to an agent, over a connection of its own. To be held while ask() runs.
class AgentQuestion {
 public:
  explicit AgentQuestion(const asio::any_io_executor& executor) : socket_(executor), timer_(executor) {}

  /// The answer to a message. Throws AgentError. To be called once.
  asio::awaitable<std::string> ask(const std::string& path, const std::string& message);
  /// ask() throws, at once.
  void close();

 private:
  asio::awaitable<void> connect(const std::string& path);
  asio::awaitable<void> pause();

  AgentSocket socket_;
  asio::steady_timer timer_;
  bool closed_ = false;
};

}  // namespace podrun
