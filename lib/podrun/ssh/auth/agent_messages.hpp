// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/base/expect.hpp"

// The messages of the ssh-agent protocol (draft-miller-ssh-agent), without their size, and their exchange.
namespace podrun::ssh {

/// A key that an agent holds.
struct AgentKey {
  std::string blob;
  std::string comment;
  std::string held_as = {};  ///< the agent's blob for a certificate that it lacks; empty: blob

  friend bool operator==(const AgentKey&, const AgentKey&) = default;
};

std::string agent_failure_message();
std::string agent_list_request();
bool is_agent_list_request(std::string_view message);

/// The keys in an agent's answer; none for any other message.
std::optional<std::vector<AgentKey>> parse_agent_keys(std::string_view message);
/// The answer with these keys.
std::string agent_keys_message(const std::vector<AgentKey>& keys);

struct AgentSignRequest {
  std::string blob;  ///< of the key
  std::string data;
  std::uint32_t flags = 0;
};
/// None for any other message.
std::optional<AgentSignRequest> parse_agent_sign_request(std::string_view message);
std::string agent_sign_request_message(const AgentSignRequest& request);
/// Whether this is an agent's answer with a signature.
bool is_signature_message(std::string_view message);

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

/// One question to an agent, on its own connection.
class AgentQuestion {
 public:
  explicit AgentQuestion(const asio::any_io_executor& executor) : socket_(executor), timer_(executor) {}

  /// Returns the answer to a message. Throws AgentError.
  asio::awaitable<std::string> ask(const std::string& path, const std::string& message);
  /// Makes ask() throw at once.
  void close();

 private:
  asio::awaitable<void> connect(const std::string& path);
  asio::awaitable<void> pause();

  const Lender lender_{"an AgentQuestion outlives its ask()"};
  Once asking_;
  AgentSocket socket_;
  asio::steady_timer timer_;
  bool closed_ = false;
};

}  // namespace podrun::ssh
