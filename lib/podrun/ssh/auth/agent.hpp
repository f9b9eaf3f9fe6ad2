// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

#include "podrun/base/expect.hpp"
#include "podrun/ssh/auth/agent_messages.hpp"

// The user's ssh-agent, and the part of it that libssh sees.
namespace podrun::ssh {

/// The user's agent. It is asked for its keys once, for all hosts.
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

/// The agents of a run, by socket.
class Agents {
 public:
  explicit Agents(const asio::any_io_executor& executor) : executor_(executor) {}
  /// Null if the socket is empty: no agent.
  Agent* find(const std::string& socket);

 private:
  asio::any_io_executor executor_;
  std::map<std::string, Agent> agents_;
};

/// One session's agent: it offers libssh only the shown keys, and the real agent signs. libssh blocks, so
/// ssh_userauth_agent() runs on another thread, with SIGPIPE ignored; all else runs on the executor.
class AgentProxy {
 public:
  explicit AgentProxy(const Agent& agent);
  AgentProxy(const AgentProxy&) = delete;
  AgentProxy& operator=(const AgentProxy&) = delete;
  /// Like stop().
  ~AgentProxy();

  /// The real agent's keys; none, and trouble() says why, if it cannot be asked or stop() was called.
  asio::awaitable<std::vector<AgentKey>> list();
  /// From now on libssh finds these keys, in this order.
  void show(std::vector<AgentKey> keys);
  /// libssh's end, for ssh_set_agent_socket(); ssh_free() closes it. Throws HostError.
  int release_descriptor();
  /// The blob of the key of libssh's last signature request: the accepted key, unless trouble() says
  /// otherwise.
  const std::string& last_asked() const;
  /// The agent's last error; libssh itself only says "out of memory".
  const std::string& trouble() const;
  /// Stops asking the agent once it has left a question unanswered for this long.
  void give_up_after(std::chrono::milliseconds limit);
  bool has_given_up() const;
  /// Whether the real agent has yet to answer a question.
  bool waits() const;
  /// Ends list(), and makes libssh's pending question fail at once.
  void stop();

 private:
  class State;
  std::shared_ptr<State> state_;
  Once releasing_;
};

}  // namespace podrun::ssh
