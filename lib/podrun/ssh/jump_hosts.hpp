// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <asio/awaitable.hpp>

#include "podrun/base/expect.hpp"
#include "podrun/link/link.hpp"
#include "podrun/ssh/ssh_world.hpp"

namespace podrun::ssh {

class JumpHost;

/// The jump hosts of a run (ProxyJump of ssh_config(5)): one connection to each, shared by all hosts after
/// it.
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

  const Lender lender_{"JumpHosts outlive their Jumps"};
  const SshWorld& world_;
  std::map<std::string, std::shared_ptr<JumpHost>> by_route_;
};

/// One host's route through jump hosts, while it is being opened.
class Jump {
 public:
  /// `route`: the value of ProxyJump.
  Jump(JumpHosts& jump_hosts, const std::string& route);
  Jump(const Jump&) = delete;
  Jump& operator=(const Jump&) = delete;
  ~Jump();

  /// Opens a connection from the last jump host to this host. The first caller connects to the jump host,
  /// others wait for it. Throws HostError.
  asio::awaitable<std::shared_ptr<link::Stream>> forward(std::string host, std::uint16_t port);
  /// Ends forward() with this failure at once.
  void stop(link::Failure failure);
  /// Says in this failure what it is doing.
  void place(link::Failure& failure) const;
  /// The name of the last jump host.
  const std::string& name() const;

 private:
  class State;
  std::shared_ptr<State> state_;
  const Borrowed jump_hosts_;
  Once forwarding_;
};

}  // namespace podrun::ssh
