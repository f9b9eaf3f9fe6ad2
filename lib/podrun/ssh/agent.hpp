// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

// The user's ssh-agent, and what libssh sees of it. The protocol is that of draft-miller-ssh-agent.
namespace podrun {

/// A key that an agent holds.
struct AgentKey {
  std::string blob;
  std::string comment;
  std::string held_as = {};  ///< what the agent knows it by, for a certificate that it has not; empty: blob

  friend bool operator==(const AgentKey&, const AgentKey&) = default;
};

/// The keys in an agent's answer, a message without its size; nothing when it is no such answer.
std::optional<std::vector<AgentKey>> parse_agent_keys(std::string_view message);
/// The answer that has these keys.
std::string agent_keys_message(const std::vector<AgentKey>& keys);
/// Whether this is an agent's answer that has a signature.
bool is_signature_message(std::string_view message);

/// The user's agent. It is asked for its keys once, for all who want to know. Must outlive their list().
class Agent {
 public:
  Agent(const asio::any_io_executor& executor, std::string socket);
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  ~Agent();

 private:
  friend class AgentProxy;
  class State;
  std::shared_ptr<State> state_;
};

/// The agents of a run, by their sockets.
class Agents {
 public:
  explicit Agents(const asio::any_io_executor& executor) : executor_(executor) {}
  /// Null when the socket is empty: no agent.
  Agent* find(const std::string& socket);

 private:
  asio::any_io_executor executor_;
  std::map<std::string, Agent> agents_;
};

/// One session's agent: libssh finds the keys in it that it is shown, and has the real one sign with them.
/// libssh waits for it, so it calls ssh_userauth_agent() on another thread, with SIGPIPE ignored, and in the
/// meantime all else here runs on the executor.
class AgentProxy {
 public:
  explicit AgentProxy(const Agent& agent);
  AgentProxy(const AgentProxy&) = delete;
  AgentProxy& operator=(const AgentProxy&) = delete;
  /// Like stop().
  ~AgentProxy();

  /// What the real agent holds; nothing, and trouble(), when it cannot be asked or stop() was called.
  asio::awaitable<std::vector<AgentKey>> list();
  /// From now on libssh finds these, in this order.
  void show(std::vector<AgentKey> keys);
  /// libssh's end, for ssh_set_agent_socket(), once: ssh_free() closes it. Throws HostError.
  int release_descriptor();
  /// The blob of the key that libssh last wanted a signature of: the one that was accepted, or see trouble().
  const std::string& last_asked() const;
  /// Why the agent did not answer, last; libssh itself then says "out of memory".
  const std::string& trouble() const;
  /// From now on the agent is asked nothing more after it has left a question unanswered for this long.
  void give_up_after(std::chrono::milliseconds patience);
  bool has_given_up() const;
  /// Whether the real agent has a question that it has not answered.
  bool waits() const;
  /// Ends list(), and what libssh waits for: that fails at once.
  void stop();

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace podrun
