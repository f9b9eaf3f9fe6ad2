// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <asio/awaitable.hpp>

#include "podrun/link/link.hpp"
#include "podrun/ssh/connector.hpp"

namespace podrun {

class JumpHost;

/// The jump hosts of a run (ProxyJump of ssh_config(5)): one connection to each, which all hosts behind it
/// share. Must outlive its Jumps.
class JumpHosts {
 public:
  explicit JumpHosts(const SshWorld& world);
  JumpHosts(const JumpHosts&) = delete;
  JumpHosts& operator=(const JumpHosts&) = delete;
  ~JumpHosts();

 private:
  friend class Jump;
  friend class JumpHost;
  std::shared_ptr<JumpHost> at(const std::string& route);

  const SshWorld& world_;
  std::map<std::string, std::shared_ptr<JumpHost>> by_route_;
};

/// One host's wait for its way through jump hosts.
class Jump {
 public:
  /// `route`: the value of ProxyJump.
  Jump(JumpHosts& jump_hosts, const std::string& route);
  Jump(const Jump&) = delete;
  Jump& operator=(const Jump&) = delete;
  ~Jump();

  /// A connection from the last jump host to this host. The first that asks connects to the jump host, the
  /// others wait for it. Throws HostError. To be called once.
  asio::awaitable<std::shared_ptr<Stream>> forward(std::string host, std::uint16_t port);
  /// forward() ends with this failure, at once.
  void stop(Failure failure);
  /// What it is doing, for people.
  std::string stage() const;
  /// `jump host NAME`.
  const std::string& name() const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace podrun
